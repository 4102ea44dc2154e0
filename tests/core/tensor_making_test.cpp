#include <limits>
#include <vector>

#include <microtape/core/error.hpp>
#include <microtape/core/pool_detail.hpp>
#include <microtape/core/random.hpp>
#include <microtape/core/tensor.hpp>

#include "catch.hpp"

using namespace microtape;
using microtape::testing::says;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
std::vector<T> numbers_of(const Tensor& x) {
  const std::span<const T> data = x.data<T>();
  return {data.begin(), data.end()};
}

}  // namespace

TEST_CASE("zeros, full and of make what they say, float32 unless told otherwise") {
  CHECK(numbers_of<float>(Tensor::zeros({2, 2})) == std::vector<float>{0, 0, 0, 0});
  CHECK(numbers_of<double>(Tensor::full({3}, 0.1, float64)) == std::vector<double>{0.1, 0.1, 0.1});
  CHECK(
      numbers_of<std::int64_t>(Tensor::full({2}, -7, int64)) == std::vector<std::int64_t>{-7, -7});
  CHECK(Tensor::full({}, 5).shape() == Shape{});
  CHECK(Tensor::full({}, 5).item() == 5);
  CHECK(Tensor::zeros({2, 0}).size() == 0);
  CHECK(Tensor::zeros({2, 0}).data<float>().empty());

  const Tensor matrix = Tensor::of({{1, 2, 3}, {4, 5, 6}});
  CHECK(matrix.shape() == Shape{2, 3});
  CHECK(matrix.dtype() == float32);
  CHECK(numbers_of<float>(matrix) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(Tensor::of({{{1}, {2}}, {{3}, {4}}}).shape() == Shape{2, 2, 1});
  CHECK(Tensor::of(2.5).shape() == Shape{});
  CHECK(Tensor::of({7}).shape() == Shape{1});
  CHECK(Tensor::of({{}, {}}).shape() == Shape{2, 0});
  CHECK(Tensor::of({2, 3}, {1, 2, 3, 4, 5, 6}).at({1, 0}) == 4);
  CHECK(Tensor::of({1, 0, 1}, int64).dtype() == int64);
}

TEST_CASE("of refuses ragged lists and wrong counts") {
  CHECK_THROWS_MATCHES(Tensor::of({{1, 2}, {3}}), ShapeError,
      says("of: rows differ in length: the first give [2, 2]; every row must be as long"));
  CHECK_THROWS_AS(Tensor::of({{1, 2}, 3}), ShapeError);
  CHECK_THROWS_MATCHES(Tensor::of({1, {2, 3}}), ShapeError,
      says("of: rows differ in depth: the first give [2]; every row must be as deep"));
  CHECK_THROWS_MATCHES(Tensor::of({2, 2}, {1, 2, 3}), ShapeError,
      says("of: the numbers do not fill the shape: [2, 2] needs 4, got 3"));
}

TEST_CASE("a number that has no int64 is refused") {
  CHECK_THROWS_MATCHES(Tensor::full({2}, 0.5, int64), ValueError,
      says("full: 0.5 is not an int64; give a whole number, or a float dtype"));
  CHECK_THROWS_AS(Tensor::full({2}, kNan, int64), ValueError);
  CHECK_THROWS_AS(Tensor::full({2}, kInf, int64), ValueError);
  CHECK_THROWS_AS(Tensor::full({2}, 0x1p63, int64), ValueError);
  CHECK(Tensor::full({1}, -0x1p63, int64).data<std::int64_t>()[0] ==
        std::numeric_limits<std::int64_t>::min());
  // of and arange once cast such numbers without a look: 0 for 0.5, anything at all for nan.
  CHECK_THROWS_MATCHES(Tensor::of({1, 0.5}, int64), ValueError,
      says("of: 0.5 is not an int64; give a whole number, or a float dtype"));
  CHECK_THROWS_AS(Tensor::of({kNan}, int64), ValueError);
  CHECK_THROWS_MATCHES(Tensor::arange(0, 2, 0.5, int64), ValueError,
      says("arange: 0.5 is not an int64; give a whole number, or a float dtype"));
  CHECK_THROWS_AS(Tensor::arange(0, 1e30, 1e29, int64), ValueError);
}

TEST_CASE("arange counts from start to below stop") {
  CHECK(numbers_of<float>(Tensor::arange(0, 4)) == std::vector<float>{0, 1, 2, 3});
  CHECK(numbers_of<float>(Tensor::arange(1, 2, 0.25)) == std::vector<float>{1, 1.25f, 1.5f, 1.75f});
  CHECK(numbers_of<float>(Tensor::arange(3, 0, -1)) == std::vector<float>{3, 2, 1});
  CHECK(numbers_of<std::int64_t>(Tensor::arange(-1, 2, 1, int64)) ==
        std::vector<std::int64_t>{-1, 0, 1});
  CHECK(Tensor::arange(0, 2.5).size() == 3);
  CHECK(Tensor::arange(2, 2).size() == 0);
  CHECK(Tensor::arange(2, 0).size() == 0);
  CHECK_THROWS_MATCHES(Tensor::arange(0, 1, 0), ValueError,
      says("arange: no such range: start 0, stop 1, step 0; all must be finite, and step not 0"));
  CHECK_THROWS_AS(Tensor::arange(0, kInf), ValueError);
  CHECK_THROWS_AS(Tensor::arange(kNan, 1), ValueError);
  CHECK_THROWS_AS(Tensor::arange(0, 1e300), ValueError);
  CHECK_THROWS_AS(Tensor::arange(-1e308, 1e308, 1e308), ValueError);
}

TEST_CASE("randn and uniform are functions of seed and position alone") {
  const Tensor x = Tensor::randn({3, 4}, 5, float64);
  CHECK(x.at({2, 1}) == random_normal(5, 9));
  CHECK(Tensor::randn({12}, 5, float64).at({9}) == random_normal(5, 9));
  CHECK(Tensor::randn({12}, 5).at({9}) == static_cast<float>(random_normal(5, 9)));
  CHECK(Tensor::uniform({4}, -1, 3, 5, float64).at({2}) == -1 + 4 * random_uniform(5, 2));
  CHECK_THROWS_MATCHES(Tensor::randn({2}, 0, int64), DTypeError,
      says("randn: makes fractions: dtype int64; needs float32 or float64"));
  CHECK_THROWS_AS(Tensor::uniform({2}, 0, 1, 0, int64), DTypeError);
}

TEST_CASE("uniform numbers stay below the upper bound when they are rounded") {
  // From 1e8 on the floats lie 8 apart, so half of all numbers would round up to the bound; in
  // [0, 1) one in 2^25 would.
  const Tensor x = Tensor::uniform({100}, 1e8, 1e8 + 8, 3);
  for (const float number : x.data<float>()) REQUIRE(number == 1e8f);
  const Tensor y = Tensor::uniform({100}, 0x1p53, 0x1p53 + 2, 3, float64);
  for (const double number : y.data<double>()) REQUIRE(number == 0x1p53);
  CHECK(Tensor::uniform({2}, 3, 3, 0).at({1}) == 3);
  CHECK_THROWS_MATCHES(Tensor::uniform({2}, 1, 0, 0), ValueError,
      says("uniform: no such range: low 1, high 0; both must be finite, and low not above high"));
  // Bug: high - low was infinite, and every number was the one below high.
  CHECK_THROWS_MATCHES(Tensor::uniform({2}, -1e308, 1e308, 1, float64), ValueError,
      says("uniform: range too wide: low -1e+308, high 1e+308; both, and high - low, must be "
           "numbers of float64"));
  CHECK_THROWS_MATCHES(Tensor::uniform({2}, 0, 1e39, 1), ValueError,
      says("uniform: range too wide: low 0, high 1e+39; both, and high - low, must be numbers of "
           "float32"));
  CHECK_THROWS_AS(Tensor::uniform({2}, 0, kInf, 0), ValueError);
}

TEST_CASE("more bytes than there can be are an error, not a small block") {
  CHECK_THROWS_MATCHES(Tensor::zeros({Index{1} << 61}), ShapeError,
      says("Tensor: too many bytes: [2305843009213693952] of float32; they must fit in 62 bits"));
  CHECK_THROWS_AS(Tensor::zeros({Index{1} << 62}, float64), ShapeError);
  // Sanitizers end the program instead.
  if (!pool::kPassThrough)
    CHECK_THROWS_AS(Tensor::zeros({Index{1} << 58}, float64), std::bad_alloc);
}

TEST_CASE("to converts, and gives the same Tensor if there is nothing to do") {
  const Tensor x = Tensor::of({1.75, -2.75});
  CHECK(x.to(float32).shares_memory_with(x));
  CHECK(numbers_of<double>(x.to(float64)) == std::vector<double>{1.75, -2.75});
  CHECK(numbers_of<std::int64_t>(x.to(int64)) == std::vector<std::int64_t>{1, -2});
  CHECK_THROWS_AS(Tensor::of({kNan}).to(int64), ValueError);
}

TEST_CASE("numbers of large Tensors start at multiples of 64 bytes") {
  for (const Index n : {256, 257, 1000, 100'000})
    for (int rank = 1; rank <= 8; ++rank) {
      Indices extents{n};
      while (extents.size() < static_cast<std::size_t>(rank)) extents.push_back(1);
      const Tensor x = Tensor::zeros(Shape(extents));
      REQUIRE(reinterpret_cast<std::uintptr_t>(x.raw()) % 64 == 0);
    }
}
