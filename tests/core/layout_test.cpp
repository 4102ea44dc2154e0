#include <microtape/core/kernels/layout.hpp>

#include <cmath>

#include <microtape/core/error.hpp>

#include "kernel_testing.hpp"

using namespace microtape;
using namespace microtape::testing;
using kernels::cast;
using kernels::concat;
using kernels::copy;
using kernels::unslice;

namespace {

/// 0, 1, 2, .. in row-major order.
Tensor counted(const Shape& shape, DType dtype = float32) {
  std::vector<double> numbers;
  for (Index i = 0; i < shape.size(); ++i) numbers.push_back(static_cast<double>(i));
  return Tensor::of(shape, numbers, dtype);
}

void check_copy(const Tensor& x) {
  const Tensor y = copy(x);
  CHECK(y.is_contiguous());
  CHECK_FALSE(y.shares_memory_with(x));
  check_same(y, x);
}

}  // namespace

TEST_CASE("a copy has the numbers of every kind of view in row-major order") {
  for (const DType dtype : {float32, float64, int64}) {
    const Tensor x = counted({3, 4, 5}, dtype);
    check_copy(x);
    for (const Indices& order :
        {Indices{2, 1, 0}, Indices{0, 2, 1}, Indices{1, 0, 2}, Indices{1, 2, 0}, Indices{2, 0, 1}})
      check_copy(x.permute(order));
    check_copy(x.slice(1, 1, 3));
    check_copy(x.slice(2, 2, 4).permute({2, 0, 1}));
    check_copy(x.slice(0, 1, 2).broadcast_to({6, 4, 5}));
    check_copy(x.slice(2, 1, 2).broadcast_to({3, 4, 7}).permute({2, 1, 0}));
  }
  // Hand-written: the transpose of [[0, 1, 2], [3, 4, 5]].
  const std::vector<double> turned{0, 3, 1, 4, 2, 5};
  check_same(copy(counted({2, 3}).transpose()), Tensor::of({3, 2}, turned));
}

TEST_CASE("a transposed copy is right at the edges of its tiles") {
  for (const Index rows : {1, 2, 15, 16, 17, 33})
    for (const Index columns : {1, 3, 16, 31, 48}) {
      check_copy(counted({rows, columns}).transpose());
      check_copy(counted({2, rows, columns}, float64).transpose());
      check_copy(counted({rows, 2, columns}).permute({2, 1, 0}));
    }
}

TEST_CASE("scalars and empty tensors and eight axes can be copied") {
  check_copy(Tensor::of(5));
  check_copy(Tensor::zeros({0}));
  check_copy(Tensor::zeros({3, 0, 2}).permute({2, 0, 1}));
  const Tensor x = counted({2, 1, 3, 2, 1, 2, 2, 2});
  check_copy(x.permute({7, 3, 5, 1, 0, 2, 6, 4}));
  check_copy(x.slice(2, 1, 3).permute({6, 7, 0, 1, 2, 3, 4, 5}));
  check_copy(Tensor::of({1, 1, 1, 1, 1, 1, 2, 1}, {1, 2}).broadcast_to({2, 1, 2, 1, 2, 1, 2, 2}));
}

TEST_CASE("a cast keeps every number that the dtype has and rounds the others") {
  const Tensor x = Tensor::of({1.5, -0.75, 0.1, 3, kInf, -kInf, kNaN}, float64);
  const Tensor y = cast(x, float32);
  REQUIRE(y.dtype() == float32);
  CHECK(y.at({0}) == 1.5);
  CHECK(y.at({2}) == static_cast<double>(0.1f));
  CHECK(y.at({5}) == -kInf);
  CHECK(std::isnan(y.at({6})));
  check_same(cast(cast(y, float64), float32), y);
  check_same(cast(counted({2, 3}).transpose(), int64), counted({2, 3}, int64).transpose());
  check_same(
      cast(counted({2, 3}, int64).transpose(), float64), counted({2, 3}, float64).transpose());
  CHECK(cast(Tensor::of(1e300, float64), float32).item() == kInf);
  CHECK(cast(Tensor::zeros({0, 2}), int64).shape() == Shape{0, 2});
}

TEST_CASE("a cast to int64 rounds towards zero") {
  const Tensor x = Tensor::of({-2.9, -0.9, 0.9, 2.9, 9007199254740992.0}, float64);
  check_same(cast(x, int64), Tensor::of({-2, 0, 0, 2, 9007199254740992.0}, int64));
  CHECK(cast(Tensor::of(-0x1p63), int64).data<std::int64_t>()[0] == INT64_MIN);
  // The largest float below 2^63.
  CHECK(cast(Tensor::of(0x1.fffffep62), int64).data<std::int64_t>()[0] == 0x7fffff8000000000);
}

TEST_CASE("a cast to int64 refuses what no int64 is") {
  CHECK_THROWS_MATCHES(cast(Tensor::of({{1, kNaN}}), int64), ValueError,
      says(
          "to: nan has no int64: x float32 [1, 2]; numbers must be at least -2^63 and below 2^63"));
  CHECK_THROWS_MATCHES(cast(Tensor::of(-kInf, float64), int64), ValueError,
      says("to: -inf has no int64: x float64 []; numbers must be at least -2^63 and below 2^63"));
  CHECK_THROWS_AS(cast(Tensor::of(0x1p63), int64), ValueError);
  CHECK_THROWS_AS(cast(Tensor::of(-0x1.0000000000001p63, float64), int64), ValueError);
}

TEST_CASE("concat puts the parts one after another along any axis") {
  const Tensor a = Tensor::of({{1, 2}, {3, 4}}), b = Tensor::of({{5, 6}});
  check_same(concat(std::array{a, b, a}, 0), Tensor::of({{1, 2}, {3, 4}, {5, 6}, {1, 2}, {3, 4}}));
  const Tensor column = Tensor::of({{7}, {8}});
  check_same(concat(std::array{column, a.transpose()}, 1), Tensor::of({{7, 1, 3}, {8, 2, 4}}));
  check_same(concat(std::array{a, Tensor::zeros({2, 0})}, 1), a);

  const Tensor x = counted({3, 4, 5}, int64);
  for (Index axis = 0; axis < 3; ++axis) {
    const Index n = x.extent(axis);
    const std::array parts{x.slice(axis, 0, 1), x.slice(axis, 1, n - 1), x.slice(axis, n - 1, n)};
    check_same(concat(parts, axis), x);
  }
}

TEST_CASE("concat names what does not go together") {
  CHECK_THROWS_MATCHES(concat(std::array{Tensor::zeros({2}), Tensor::zeros({3}, float64)}, 0),
      DTypeError,
      says("concat: dtypes differ: float32 [2], float64 [3]; all must be the same; convert with "
           "to(float32)"));
  CHECK_THROWS_MATCHES(
      concat({}, 0), ValueError, says("concat: nothing to join: 0 parts; needs at least one"));
}

TEST_CASE("unslice puts zeros around and slice takes them off again") {
  check_same(unslice(Tensor::of({{1, 2}, {3, 4}}).transpose(), {2, 4}, 1, 1),
      Tensor::of({{0, 1, 3, 0}, {0, 2, 4, 0}}));
  const Tensor x = counted({2, 3, 2}, float64);
  for (Index axis = 0; axis < 3; ++axis) {
    const Shape wide = x.shape().with(axis, 6);
    for (Index start = 0; start + x.extent(axis) <= 6; ++start) {
      const Tensor y = unslice(x, wide, axis, start);
      check_same(y.slice(axis, start, start + x.extent(axis)), x);
      double total = 0;
      for (const double v : y.data<double>()) total += v;
      CHECK(total == 66);  // 0 + 1 + .. + 11: all else is 0
    }
  }
  check_same(unslice(Tensor::zeros({0, 2}), {3, 2}, 0, 1), Tensor::zeros({3, 2}));
}
