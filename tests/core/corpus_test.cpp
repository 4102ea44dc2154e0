#include "catch.hpp"
#include "fuzz/invariant.hpp"

// What the fuzzers begin with, and what they have found, is replayed also without them.

using namespace microtape::testing;
namespace fs = std::filesystem;

namespace {

/// How many files of a folder are read, and how many refused.
struct Outcome {
  int read = 0, refused = 0;
};

template <class F>
Outcome replay(const char* folder, F check) {
  const Folder scratch;
  Outcome outcome;
  for (const auto& entry : fs::directory_iterator(fs::path(MICROTAPE_TESTS_DIR) / folder)) {
    INFO(entry.path());
    bool is_read = false;
    CHECK_NOTHROW(is_read = check(entry.path(), scratch / "copy"));
    ++(is_read ? outcome.read : outcome.refused);
  }
  return outcome;
}

}  // namespace

TEST_CASE("each npy file of the corpus is refused by name, or read, written and read the same") {
  const Outcome seeds = replay("fuzz/corpus/npy", check_npy);
  CHECK(seeds.read == 19);
  CHECK(seeds.refused == 21);
  const Outcome numpy = replay("reference/npy", check_npy);
  CHECK(numpy.read == 34);
  CHECK(numpy.refused == 7);  // values.json is one of them
}

TEST_CASE(
    "each safetensors file of the corpus is refused by name, or read, written and read the same") {
  const Outcome seeds = replay("fuzz/corpus/safetensors", check_safetensors);
  CHECK(seeds.read == 6);
  CHECK(seeds.refused == 20);
}
