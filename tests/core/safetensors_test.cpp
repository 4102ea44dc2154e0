#include <bit>
#include <filesystem>
#include <limits>

#include <microtape/core/error.hpp>
#include <microtape/core/io/safetensors.hpp>

#include "catch.hpp"
#include "core/file_testing.hpp"

#if __has_include(<sys/resource.h>)
#include <sys/resource.h>

#include <csignal>
#endif

using namespace microtape;
using namespace microtape::testing;
namespace fs = std::filesystem;

TEST_CASE("what is written is read back to the bit") {
  const Folder folder;
  Tensor strange = Tensor::zeros({6}, float64);
  const auto numbers = strange.mutable_data<double>();
  numbers[0] =
      std::bit_cast<double>(std::uint64_t{0x7FF8DEADBEEF1234});  // a quiet nan with payload
  numbers[1] = std::bit_cast<double>(std::uint64_t{0xFFF0000000000001});  // a signalling one
  numbers[2] = -0.0;
  numbers[3] = std::numeric_limits<double>::infinity();
  numbers[4] = std::numeric_limits<double>::denorm_min();
  numbers[5] = 0.1;
  Tensor strange32 = Tensor::zeros({2});
  const std::uint32_t payload = 0x7FA0BEEF;
  std::memcpy(strange32.mutable_data<float>().data(), &payload, sizeof payload);
  const TensorMap tensors{{"strange", strange}, {"strange32", strange32},
      {"scalar", Tensor::of(2.5)}, {"empty", Tensor::zeros({3, 0, 2}, float64)},
      {"no ints", Tensor::zeros({0}, int64)}, {"labels", Tensor::of({-1, 0, 1LL << 40}, int64)},
      {"odd", Tensor::of({1, 2, 3})},
      {"view", Tensor::arange(0, 24).reshape({2, 3, 4}).permute({2, 0, 1}).slice(0, 1, 3)},
      {"wide", Tensor::of({1, 2}).broadcast_to({3, 2})},
      {"eight", Tensor::arange(0, 256).reshape({2, 2, 2, 2, 2, 2, 2, 2})}};
  const Metadata metadata{
      {"format", "pt"}, {"empty", ""}, {"quote\"\n", "line 1\nline 2 \xC3\xA4"}};
  write_safetensors(folder / "x.safetensors", tensors, metadata);
  const Safetensors file = read_safetensors(folder / "x.safetensors");
  CHECK(file.metadata == metadata);
  REQUIRE(file.tensors.size() == tensors.size());
  for (const auto& [name, tensor] : tensors) {
    INFO(name);
    REQUIRE(file.tensors.contains(name));
    CHECK(same_bits(file.tensors.at(name), tensor));
  }
  CHECK(folder.count() == 1);
}

TEST_CASE("a file is, byte by byte, what the format says") {
  const Folder folder;
  write_safetensors(folder / "x",
      {{"w", Tensor::of({{1, -2}})}, {"a", Tensor::of(1.5)}, {"i", Tensor::of({258}, int64)}},
      {{"k", "v"}});
  // Numbers of 8 bytes stand first, then each name in its order; spaces up to a multiple of 8.
  std::string header =
      R"({"__metadata__":{"k":"v"},"i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[],"data_offsets":[8,12]},)"
      R"("w":{"dtype":"F32","shape":[1,2],"data_offsets":[12,20]}})";
  while (header.size() % 8 != 0) header += ' ';
  const std::string data(
      "\x02\x01\0\0\0\0\0\0"
      "\0\0\xC0\x3F"
      "\0\0\x80\x3F"
      "\0\0\0\xC0",
      20);
  CHECK(bytes_of(folder / "x") == length_of(header.size()) + header + data);

  write_safetensors(folder / "nothing", {});
  CHECK(bytes_of(folder / "nothing") == length_of(8) + "{}      ");
  CHECK(read_safetensors(folder / "nothing").tensors.empty());
}

TEST_CASE("names may hold anything that is UTF-8, and paths too") {
  const Folder folder;
  const TensorMap tensors{{"", Tensor::of(1)}, {"say \"hi\"\\\n\t", Tensor::of(2)},
      {"a\xC4\x9F\xC4\xB1rl\xC4\xB1k \xE6\xA8\xA1\xE5\x9E\x8B", Tensor::of(3)},
      {std::string("zero\0byte", 9), Tensor::of(4)}, {std::string(5000, 'n'), Tensor::of(5)}};
  const fs::path path = folder.path / fs::path(u8"a b") / fs::path(u8"mödel_模型 1.safetensors");
  fs::create_directories(path.parent_path());
  write_safetensors(path, tensors);
  const TensorMap read = read_safetensors(path).tensors;
  REQUIRE(read.size() == tensors.size());
  for (const auto& [name, tensor] : tensors) CHECK(same_bits(read.at(name), tensor));
}

TEST_CASE("names that are not UTF-8, or reserved, are refused before a file is made") {
  const Folder folder;
  CHECK_THROWS_AS(write_safetensors(folder / "x", {{"\xFF", Tensor::of(1)}}), ValueError);
  CHECK_THROWS_AS(write_safetensors(folder / "x", {}, {{"k", "\xC3"}}), ValueError);
  CHECK_THROWS_MATCHES(write_safetensors(folder / "x", {{"__metadata__", Tensor::of(1)}}),
      ValueError,
      says("write_safetensors: reserved name: a tensor is named __metadata__; rename it, or pass "
           "text as metadata"));
  CHECK_THROWS_AS(write_safetensors(folder / "x", {{"none", Tensor()}}), ValueError);
  CHECK(folder.count() == 0);
}

TEST_CASE("a target that cannot be written is an error that leaves what was there") {
  const Folder folder;
  const TensorMap tensors{{"a", Tensor::zeros({100'000})}};
  CHECK_THROWS_MATCHES(write_safetensors(folder / "missing/x", tensors), FileError,
      says(cat("write_safetensors: cannot write: file \"", (folder / "missing/x").string(),
          "\": No such file or directory")));
  fs::create_directories(folder / "full/of");
  CHECK_THROWS_AS(write_safetensors(folder / "full", tensors), FileError);
  put(folder / "file", "old");
  CHECK_THROWS_AS(write_safetensors(folder / "file/x", tensors), FileError);
  CHECK(bytes_of(folder / "file") == "old");
  CHECK(folder.count() == 2);
}

#if __has_include(<sys/resource.h>)
TEST_CASE("a disk that runs full leaves the old file and no other") {
  // A limit on the size of files stands in for the disk.
  const Folder folder;
  write_safetensors(folder / "x", {{"a", Tensor::of(1)}});
  const std::string before = bytes_of(folder / "x");
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t most : {rlim_t{10}, rlim_t{1000}, rlim_t{300'000}}) {
    const rlimit small{most, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    // Large enough to fail while writing; small enough to fail only when the buffer is flushed.
    for (const Index n : {Index{100'000}, Index{300}}) {
      if (static_cast<rlim_t>(n) * 4 < most) continue;
      INFO("at most " << most << " bytes, " << n << " numbers");
      CHECK_THROWS_AS(write_safetensors(folder / "x", {{"a", Tensor::zeros({n})}}), FileError);
    }
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::signal(SIGXFSZ, handler);
  CHECK(bytes_of(folder / "x") == before);
  CHECK(folder.count() == 1);
}
#endif

TEST_CASE("writing replaces an old file as a whole") {
  const Folder folder;
  write_safetensors(folder / "x", {{"a", Tensor::zeros({1000})}});
  write_safetensors(folder / "x", {{"b", Tensor::of(1)}});
  const TensorMap tensors = read_safetensors(folder / "x").tensors;
  CHECK(tensors.size() == 1);
  CHECK(tensors.contains("b"));
  CHECK(folder.count() == 1);
}

TEST_CASE("what is no regular file is refused") {
  const Folder folder;
  CHECK_THROWS_MATCHES(read_safetensors(folder / "x"), FileError,
      says(cat("read_safetensors: cannot open: file \"", (folder / "x").string(),
          "\": it does not exist")));
  CHECK_THROWS_MATCHES(read_safetensors(folder.path), FileError,
      says(cat("read_safetensors: cannot open: file \"", folder.path.string(),
          "\": it is a directory")));
  if (fs::exists("/dev/zero")) CHECK_THROWS_AS(read_safetensors("/dev/zero"), FileError);
  CHECK_THROWS_AS(read_safetensors(""), FileError);
}

TEST_CASE("files that PyTorch's side wrote can be read") {
  const fs::path folder = fs::path(MICROTAPE_TESTS_DIR) / "reference";
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".safetensors") continue;
    ++count;
    INFO(entry.path().string());
    const Safetensors file = read_safetensors(entry.path());
    CHECK_FALSE(file.tensors.empty());
    // Written once more, and read: the same.
    const Folder copy;
    write_safetensors(copy / "x", file.tensors, file.metadata);
    const Safetensors again = read_safetensors(copy / "x");
    CHECK(again.metadata == file.metadata);
    REQUIRE(again.tensors.size() == file.tensors.size());
    for (const auto& [name, tensor] : file.tensors)
      CHECK(same_bits(again.tensors.at(name), tensor));
  }
  CHECK(count >= 10);
  const Safetensors chain = read_safetensors(folder / "chain.safetensors");
  // Expected: the first bytes, unpacked by Python's struct module.
  CHECK(chain.metadata.at("scale") == "0.408248290463863");
  CHECK(chain.tensors.at("Q").shape() == Shape{2, 4, 6});
  CHECK(chain.tensors.at("Q").dtype() == float64);
  CHECK(chain.tensors.at("Q").at({0, 0, 0}) == 0.10487341153078793);
  CHECK(chain.tensors.at("Q").at({0, 0, 3}) == -0.4475953795319666);
}
