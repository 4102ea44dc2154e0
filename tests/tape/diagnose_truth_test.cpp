#include <microtape/tape/diagnose_mistakes.hpp>
#include <microtape/tape/diagnose_sample.hpp>

#include "diagnose_testing.hpp"

using namespace microtape;
using namespace microtape::testing;
using namespace microtape::diagnosis;

// A named cause must be true: it must give the same numbers on inputs that diagnose() has not seen.

namespace {

/// Softmax on some x, with its own rule.
Evidence evidence_of(const Shape& shape, std::uint64_t seed) {
  const auto f = [](Vars in) { return softmax(in[0]); };
  return Sample(f, f, {Tensor::randn(shape, seed, float64)}, {}, seed).evidence(0);
}

/// What a formula says that is wrong in two places: the second mistake is one of the first's
/// result.
std::optional<Formula> mistaken_twice(const Evidence& e, std::size_t first, std::size_t second) {
  Evidence once = e;
  const Mistakes mistakes = known_mistakes(e, "x");
  once.formula = mistakes[first % mistakes.size()].formula;
  const Mistakes more = known_mistakes(once, "x");
  if (more.empty()) return std::nullopt;
  return more[second % more.size()].formula;
}

/// The samples as they look to somebody whose rule says that; nothing if it has no value there.
std::optional<std::vector<Evidence>> found_by(
    std::vector<Evidence> samples, std::size_t first, std::size_t second) {
  try {
    for (Evidence& e : samples) {
      const auto wrong = mistaken_twice(e, first, second);
      if (!wrong) return std::nullopt;
      e.found = evaluate(*wrong, e.operands.values, e.right.shape);
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return samples;
}

/// The extents of the samples differ, and one may be told.
std::string without_digits(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

}  // namespace

TEST_CASE("the cause that is named for two mistakes at once holds on other inputs too") {
  const std::vector<Evidence> seen{evidence_of({3, 4}, 1), evidence_of({2, 5}, 2)};
  const std::vector<Evidence> unseen{evidence_of({4, 3}, 3), evidence_of({5, 2}, 4)};
  std::size_t tried = 0, named = 0;
  for (std::size_t first = 0; first < 160; first += 3)
    for (std::size_t second = first % 7; second < 160; second += 17) {
      const auto samples = found_by(seen, first, second), others = found_by(unseen, first, second);
      if (!samples || !others || std::ranges::all_of(*samples, is_right)) continue;
      ++tried;
      const auto cause = cause_of(*samples, "x");
      if (!cause) continue;
      ++named;
      const auto again = cause_of(*others, "x");
      CAPTURE(first, second, cause->cause);
      REQUIRE(again);
      CHECK(without_digits(again->cause) == without_digits(cause->cause));
    }
  CAPTURE(tried, named);
  CHECK(tried > 200);
  CHECK(named > 20);
  CHECK(named < tried / 2);
}

TEST_CASE("what is right has no cause") {
  Evidence e = evidence_of({3, 4}, 1);
  e.found = e.right;
  CHECK_FALSE(cause_of({e}, "x"));
  e.found[0] += 1;
  e.found.shape = Shape{4, 3};
  CHECK_FALSE(cause_of({e}, "x"));
}
