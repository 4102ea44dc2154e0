#include <bit>
#include <filesystem>
#include <limits>

#include <microtape/core/error.hpp>
#include <microtape/core/io/npy.hpp>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "core/file_testing.hpp"

// The files in reference/npy are NumPy's; values.json has what NumPy says is in them.

using namespace microtape;
using namespace microtape::testing;
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::json;

const fs::path kFolder = fs::path(MICROTAPE_TESTS_DIR) / "reference" / "npy";

Json values() { return Json::parse(std::ifstream(kFolder / "values.json")); }

/// Whether x holds the numbers, to the sign of a 0; nan is nan.
bool holds(const Tensor& x, const Json& numbers) {
  if (static_cast<std::size_t>(x.size()) != numbers.size()) return false;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (x.dtype() == int64) {
      if (x.data<std::int64_t>()[i] != numbers[i].get<std::int64_t>()) return false;
      continue;
    }
    const double expected =
        numbers[i].is_string() ? std::stod(numbers[i].get<std::string>()) : double(numbers[i]);
    const double found = x.to(float64).data<double>()[i];
    if (std::isnan(expected) && std::isnan(found)) continue;
    if (found != expected || std::signbit(found) != std::signbit(expected)) return false;
  }
  return true;
}

/// A file of version 1.0, its header not padded.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  const std::string header =
      cat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", shape, "}\n");
  return std::string("\x93NUMPY\1\0", 8) + length_of(header.size()).substr(0, 2) + header + data;
}

Tensor read(const std::string& bytes) {
  const Folder folder;
  put(folder / "x", bytes);
  return read_npy(folder / "x");
}

}  // namespace

TEST_CASE("what NumPy wrote is read with NumPy's values, whatever dtype, byte order and version") {
  const Json all = values();
  CHECK(all.size() == 34);
  for (const auto& [file, expected] : all.items()) {
    INFO(file);
    const Tensor x = read_npy(kFolder / (file + ".npy"));
    CHECK(name(x.dtype()) == expected.at("dtype").get<std::string>());
    const Shape shape = x.shape();
    CHECK(std::vector<Index>(shape.begin(), shape.end()) ==
          expected.at("shape").get<std::vector<Index>>());
    CHECK(x.is_contiguous());
    CHECK(holds(x, expected.at("data")));
  }
}

TEST_CASE("an array in row-major order is written byte by byte as NumPy does") {
  const Json all = values();
  int count = 0;
  for (const auto& [file, expected] : all.items()) {
    if (!expected.at("same_again")) continue;
    INFO(file);
    ++count;
    const fs::path path = kFolder / (file + ".npy");
    const Folder folder;
    write_npy(folder / "x", read_npy(path));
    CHECK(bytes_of(folder / "x") == bytes_of(path));
    CHECK(folder.count() == 1);
  }
  CHECK(count == 13);
}

TEST_CASE("what is written to an npy file is read back to the bit") {
  Tensor strange = Tensor::zeros({5}, float64);
  const auto numbers = strange.mutable_data<double>();
  numbers[0] = std::bit_cast<double>(std::uint64_t{0x7FF8DEADBEEF1234});  // a nan with payload
  numbers[1] = std::bit_cast<double>(std::uint64_t{0xFFF0000000000001});  // a signalling one
  numbers[2] = -0.0;
  numbers[3] = std::numeric_limits<double>::infinity();
  numbers[4] = std::numeric_limits<double>::denorm_min();
  Tensor strange32 = Tensor::zeros({2});
  const std::uint32_t payload = 0x7FA0BEEF;
  std::memcpy(strange32.mutable_data<float>().data(), &payload, sizeof payload);
  const Folder folder;
  for (const Tensor& x : {strange, strange32, Tensor::of(2.5), Tensor::zeros({3, 0, 2}, float64),
           Tensor::of({-1, 0, 1LL << 40}, int64),
           Tensor::arange(0, 24).reshape({2, 3, 4}).permute({2, 0, 1}).slice(0, 1, 3),
           Tensor::of({1, 2}).broadcast_to({3, 2}),
           Tensor::arange(0, 256).reshape({2, 2, 2, 2, 2, 2, 2, 2})}) {
    INFO(x.shape().str() << " " << name(x.dtype()));
    write_npy(folder / "x", x);
    CHECK(same_bits(read_npy(folder / "x"), x));
  }
  CHECK(folder.count() == 1);
}

TEST_CASE("numbers that are not the Tensor's byte by byte keep their value") {
  // 0x0102 = 258 and 0xfffe = -2 in either order.
  CHECK(holds(read(npy("<i2", "(2,)", "\x02\x01\xfe\xff")), {258, -2}));
  CHECK(holds(read(npy(">i2", "(2,)", "\x01\x02\xff\xfe")), {258, -2}));
  CHECK(holds(read(npy("=i2", "(2,)", "\x02\x01\xfe\xff")), {258, -2}));
  CHECK(holds(read(npy("<u2", "(2,)", "\x02\x01\xfe\xff")), {258, 65534}));
  for (const char* order : {"|", "<", ">", "="}) {
    CHECK(holds(read(npy(order + std::string("i1"), "(1,)", "\x80")), {-128}));
    CHECK(holds(read(npy(order + std::string("u1"), "(1,)", "\x80")), {128}));
    CHECK(
        holds(read(npy(order + std::string("b1"), "(3,)", std::string("\0\1\x80", 3))), {0, 1, 1}));
  }
  CHECK(holds(read(npy(">i4", "()", "\xff\xfe\xfd\xfc")), {-66052}));
  CHECK(holds(read(npy(">i8", "()", std::string("\0\0\0\1\0\0\0\2", 8))), {4294967298}));
}

TEST_CASE("a number whose bytes are swapped keeps every bit, also of a signalling nan") {
  const Tensor x = read(npy(">f4", "()", "\x7f\xa0\xbe\xef"));
  std::uint32_t bits = 0;
  std::memcpy(&bits, x.raw(), sizeof bits);
  CHECK(bits == 0x7fa0beef);
}

TEST_CASE("each of the 65,536 halves becomes the float32 of the same value") {
  std::string data;
  for (int half = 0; half < 1 << 16; ++half)
    data += {static_cast<char>(half & 0xff), static_cast<char>(half >> 8)};
  const Tensor x = read(npy("<f2", "(65536,)", data));
  REQUIRE(x.dtype() == float32);
  for (int half = 0; half < 1 << 16; ++half) {
    // IEEE 754-2008, 3.4: (-1)^sign 2^(exponent - 15) (1 + fraction / 1024), and subnormals.
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const float found = x.data<float>()[static_cast<std::size_t>(half)];
    float expected = std::ldexp(
        static_cast<float>(fraction + (exponent ? 1024 : 0)), std::max(exponent, 1) - 25);
    if (exponent == 31) expected = std::numeric_limits<float>::infinity();
    INFO("half " << half << " is " << found);
    REQUIRE(std::signbit(found) == (half >> 15 == 1));
    if (exponent == 31 && fraction > 0)
      REQUIRE(std::isnan(found));
    else
      REQUIRE(std::abs(found) == expected);
  }
}

TEST_CASE("a target of write_npy that cannot be written is an error that leaves what was there") {
  const Folder folder;
  const Tensor x = Tensor::zeros({100'000});
  CHECK_THROWS_MATCHES(write_npy(folder / "missing/x", x), FileError,
      says(cat("write_npy: cannot write: file \"", (folder / "missing/x").string(),
          "\": No such file or directory")));
  fs::create_directories(folder / "full/of");
  CHECK_THROWS_AS(write_npy(folder / "full", x), FileError);
  put(folder / "file", "old");
  CHECK_THROWS_AS(write_npy(folder / "file/x", x), FileError);
  CHECK_THROWS_AS(write_npy(folder / "file", Tensor()), ValueError);
  CHECK(bytes_of(folder / "file") == "old");
  CHECK(folder.count() == 2);
  write_npy(folder / "file", Tensor::of(1));
  CHECK(read_npy(folder / "file").item() == 1);
}

TEST_CASE("read_npy refuses what is no regular file") {
  const Folder folder;
  CHECK_THROWS_MATCHES(read_npy(folder / "x"), FileError,
      says(
          cat("read_npy: cannot open: file \"", (folder / "x").string(), "\": it does not exist")));
  CHECK_THROWS_MATCHES(read_npy(folder.path), FileError,
      says(cat("read_npy: cannot open: file \"", folder.path.string(), "\": it is a directory")));
}
