#include <algorithm>
#include <limits>
#include <vector>

#include <microtape/core/error.hpp>
#include <microtape/core/random.hpp>
#include <microtape/core/shape.hpp>

#include "catch.hpp"

using namespace microtape;
using microtape::testing::says;

namespace {

constexpr Index kMost = std::numeric_limits<Index>::max();

}  // namespace

TEST_CASE("dtypes have names and sizes") {
  CHECK(name(float32) == "float32");
  CHECK(name(float64) == "float64");
  CHECK(name(int64) == "int64");
  CHECK(size_of(float32) == 4);
  CHECK(size_of(float64) == 8);
  CHECK(size_of(int64) == 8);
  CHECK(is_floating(float32));
  CHECK(is_floating(float64));
  CHECK_FALSE(is_floating(int64));
  CHECK(kDTypeOf<float> == float32);
  CHECK(kDTypeOf<double> == float64);
  CHECK(kDTypeOf<std::int64_t> == int64);
}

TEST_CASE("a shape knows its rank, size, extents and strides") {
  const Shape shape{2, 3, 4};
  CHECK(shape.rank() == 3);
  CHECK(shape.size() == 24);
  CHECK(shape[0] == 2);
  CHECK(shape[-1] == 4);
  CHECK(shape[-3] == 2);
  CHECK(shape.strides() == Indices{12, 4, 1});
  CHECK(shape.str() == "[2, 3, 4]");
  CHECK(shape == Shape{2, 3, 4});
  CHECK_FALSE(shape == Shape{2, 3});
  CHECK_FALSE(shape == Shape{2, 4, 3});
  CHECK(shape.with(1, 7) == Shape{2, 7, 4});
  CHECK(shape.with(-1, 0).size() == 0);
}

TEST_CASE("a scalar has rank 0 and one element") {
  CHECK(Shape{}.rank() == 0);
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{}.str() == "[]");
  CHECK(Shape{}.strides() == Indices{});
}

TEST_CASE("an extent of 0 makes a shape without elements") {
  CHECK(Shape{0}.size() == 0);
  CHECK(Shape{3, 0, 2}.size() == 0);
  CHECK(Shape{3, 0, 2} != Shape{0, 3, 2});
}

TEST_CASE("eight axes fit, nine do not") {
  const Shape eight{2, 2, 2, 2, 2, 2, 2, 2};
  CHECK(eight.size() == 256);
  CHECK(eight.strides() == Indices{128, 64, 32, 16, 8, 4, 2, 1});
  CHECK_THROWS_MATCHES((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), ShapeError,
      says("Shape: too many axes: 9; at most 8 are allowed"));
  Indices full = eight;
  CHECK_THROWS_MATCHES(
      full.push_back(1), ShapeError, says("Shape: too many axes: 9; at most 8 are allowed"));
  CHECK(full == Indices{2, 2, 2, 2, 2, 2, 2, 2});
  // A count that does not fit a byte must not wrap around to a small one.
  CHECK_THROWS_AS(Indices(std::vector<Index>(257, 1)), ShapeError);
}

TEST_CASE("a number of elements that overflows is refused") {
  CHECK(Shape{kMost}.size() == kMost);
  CHECK_THROWS_MATCHES((Shape{Index{1} << 32, Index{1} << 31}), ShapeError,
      says("Shape: too many elements: [4294967296, 2147483648]; their number must fit in 63 bits"));
  // 2^64 would wrap around to 0, and this one to a small number.
  CHECK_THROWS_AS((Shape{Index{1} << 32, Index{1} << 32}), ShapeError);
  CHECK_THROWS_AS((Shape{(Index{1} << 32) + 1, Index{1} << 32}), ShapeError);
  CHECK_THROWS_AS((Shape{kMost, 2}), ShapeError);
  // Not even a 0 excuses extents whose strides overflow.
  CHECK_THROWS_AS((Shape{0, kMost, kMost}), ShapeError);
}

TEST_CASE("a negative extent is refused") {
  CHECK_THROWS_MATCHES((Shape{2, -1}), ShapeError,
      says("Shape: extent -1 is negative: [2, -1]; extents are 0 or more"));
  CHECK_THROWS_AS(Shape{std::numeric_limits<Index>::min()}, ShapeError);
}

TEST_CASE("an axis that does not exist is refused") {
  const Shape shape{2, 3};
  CHECK_THROWS_MATCHES(
      shape[2], IndexError, says("Shape: axis 2 does not exist: [2, 3] has rank 2"));
  CHECK_THROWS_AS(shape[-3], IndexError);
  CHECK_THROWS_AS(shape.with(2, 1), IndexError);
  CHECK_THROWS_AS(Shape{}[0], IndexError);
  CHECK(normalize_axis("op", shape, -1) == 1);
  CHECK(normalize_axis("op", shape, 0) == 0);
  CHECK_THROWS_MATCHES(normalize_axis("sum", shape, 3), IndexError,
      says("sum: axis 3 does not exist: x [2, 3] has rank 2; axes are -2 .. 1"));
  CHECK_THROWS_AS(normalize_axis("sum", shape, -3), IndexError);
  CHECK_THROWS_AS(normalize_axis("sum", shape, std::numeric_limits<Index>::min()), IndexError);
  CHECK_THROWS_MATCHES(normalize_axis("sum", Shape{}, 0), IndexError,
      says("sum: axis 0 does not exist: x [] is a scalar, rank 0; leave the axis out"));
}

TEST_CASE("axes are sorted and each is named once") {
  const Shape shape{2, 3, 4};
  CHECK(normalize_axes("sum", shape, {}) == Indices{0, 1, 2});
  CHECK(normalize_axes("sum", shape, {-1, 0}) == Indices{0, 2});
  CHECK(normalize_axes("sum", Shape{}, {}) == Indices{});
  CHECK_THROWS_MATCHES(normalize_axes("sum", shape, {1, -2}), ValueError,
      says("sum: an axis is named twice: axes [1, -2], x [2, 3, 4]; name each once"));
  CHECK_THROWS_AS(normalize_axes("sum", shape, {3}), IndexError);
}

TEST_CASE("shapes broadcast from the right, where extents are equal or 1") {
  // Expected: the examples of NumPy's documentation of broadcasting.
  CHECK(broadcast_shape("add", {8, 1, 6, 1}, {7, 1, 5}) == Shape{8, 7, 6, 5});
  CHECK(broadcast_shape("add", {7, 1, 5}, {8, 1, 6, 1}) == Shape{8, 7, 6, 5});
  CHECK(broadcast_shape("add", {5, 4}, {1}) == Shape{5, 4});
  CHECK(broadcast_shape("add", {15, 3, 5}, {3, 1}) == Shape{15, 3, 5});
  CHECK(broadcast_shape("add", {}, {2, 3}) == Shape{2, 3});
  CHECK(broadcast_shape("add", {}, {}) == Shape{});
  CHECK(broadcast_shape("add", {0}, {1}) == Shape{0});
  CHECK(broadcast_shape("add", {3, 1}, {0}) == Shape{3, 0});
  CHECK_THROWS_MATCHES(broadcast_shape("add", {2, 3}, {4}), ShapeError,
      says("add: cannot broadcast: a [2, 3] with b [4]; axis -1 has extents 3 and 4; they must be "
           "equal, or one of them 1"));
  CHECK_THROWS_AS(broadcast_shape("add", {2, 1}, {8, 4, 3}), ShapeError);
  CHECK_THROWS_AS(broadcast_shape("add", {0}, {2}), ShapeError);
  // Two shapes that fit can have a common shape that does not.
  CHECK_THROWS_AS(broadcast_shape("add", {kMost, 1}, {kMost}), ShapeError);
}

TEST_CASE("one extent of a new shape can be left open") {
  const Shape from{4, 6};
  CHECK(infer_shape(from, {24}) == Shape{24});
  CHECK(infer_shape(from, {-1}) == Shape{24});
  CHECK(infer_shape(from, {2, -1, 3}) == Shape{2, 4, 3});
  CHECK(infer_shape(Shape{}, {-1}) == Shape{1});
  CHECK(infer_shape(Shape{1}, {}) == Shape{});
  CHECK(infer_shape(Shape{0, 5}, {-1, 5}) == Shape{0, 5});
  CHECK_THROWS_MATCHES(infer_shape(from, {5, 5}), ShapeError,
      says("reshape: cannot turn x [4, 6] into [5, 5]: 24 elements are not 25; the number of "
           "elements must stay the same"));
  CHECK_THROWS_MATCHES(infer_shape(from, {-1, -1}), ShapeError,
      says("reshape: cannot turn x [4, 6] into [-1, -1]: two extents are -1; at most one can be "
           "inferred"));
  CHECK_THROWS_MATCHES(infer_shape(from, {5, -1}), ShapeError,
      says("reshape: cannot turn x [4, 6] into [5, -1]: 24 elements do not fill rows of 5; the "
           "extents but -1 must divide the number of elements"));
  CHECK_THROWS_AS(infer_shape(from, {0, -1}), ShapeError);
  CHECK_THROWS_AS(infer_shape(Shape{0}, {0, -1}), ShapeError);
  CHECK_THROWS_AS(infer_shape(from, {-2, -12}), ShapeError);
  CHECK_THROWS_AS(infer_shape(from, {kMost, kMost}), ShapeError);
}

TEST_CASE("unravel_index counts as row-major order does, the last axis fastest") {
  const Shape shape{2, 3, 4};
  Index place = 0;
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 3; ++j)
      for (Index k = 0; k < 4; ++k) CHECK(unravel_index(place++, shape) == Indices{i, j, k});
  CHECK(unravel_index(0, {}) == Indices{});
}

TEST_CASE("the batch axes of a shape are all but the last two") {
  CHECK(batch_axes({5, 2, 3, 4}) == Shape{5, 2});
  CHECK(batch_axes({3, 4}) == Shape{});
}

TEST_CASE("the size of a random shape is the product of its extents") {
  for (std::uint64_t i = 0; i < 500; ++i) {
    Indices extents;
    Index product = 1;
    for (std::uint64_t axis = 0; axis < philox(1, i, 9)[0] % 9; ++axis) {
      extents.push_back(philox(1, i, axis)[1] % 5);
      product *= extents[static_cast<std::size_t>(axis)];
    }
    const Shape shape(extents);
    REQUIRE(shape.size() == product);
    REQUIRE(shape.rank() == static_cast<Index>(extents.size()));
    REQUIRE(std::equal(shape.begin(), shape.end(), extents.begin(), extents.end()));
  }
}
