#include <microtape/core/kernels/reduce.hpp>

#include <algorithm>
#include <cmath>

#include <microtape/core/error.hpp>
#include <microtape/core/kernels/elementwise.hpp>

#include "kernel_testing.hpp"

using namespace microtape;
using namespace microtape::testing;
namespace k = microtape::kernels;

namespace {

/// Whole numbers from -9 to 9: their sums are exact in any order.
Tensor whole_numbers(const Shape& shape, DType dtype) {
  std::vector<double> numbers;
  for (Index i = 0; i < shape.size(); ++i)
    numbers.push_back(static_cast<double>((i * 7919 + i * i % 13) % 19 - 9));
  return Tensor::of(shape, numbers, dtype);
}

/// Every list of axes of a rank, the empty one too.
std::vector<Indices> all_axes(Index rank) {
  std::vector<Indices> out;
  for (unsigned bits = 0; bits < 1u << rank; ++bits) {
    Indices axes;
    for (Index axis = 0; axis < rank; ++axis)
      if (bits >> axis & 1) axes.push_back(axis);
    out.push_back(axes);
  }
  return out;
}

/// Starts at `start` for each result and takes in the numbers one by one: the plain loop.
template <class F>
Tensor plain(const Tensor& x, const Indices& axes, double start, F take) {
  Shape shape = x.shape();
  for (const Index axis : axes) shape = shape.with(axis, 1);
  std::vector<double> results(static_cast<std::size_t>(shape.size()), start);
  const Indices strides = shape.strides();
  for (Index i = 0; i < x.size(); ++i) {
    const Indices index = index_of(x.shape(), i);
    Index o = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      if (shape.extents()[axis] != 1) o += index[axis] * strides[axis];
    double& result = results[static_cast<std::size_t>(o)];
    result = take(result, x.at(index));
  }
  return Tensor::of(shape, results, x.dtype());
}

double add(double a, double b) { return a + b; }
double larger(double a, double b) { return a != a || b != b ? kNaN : std::max(a, b); }

void check_close(const Tensor& x, const Tensor& wanted, double tolerance) {
  REQUIRE(x.shape() == wanted.shape());
  for (Index i = 0; i < x.size(); ++i) {
    INFO("place " << i << ": " << element(x, i) << ", wanted " << element(wanted, i));
    REQUIRE(
        std::abs(element(x, i) - element(wanted, i)) <= tolerance * std::abs(element(wanted, i)));
  }
}

}  // namespace

TEST_CASE("sum and max over any axes of any layout agree with a plain loop") {
  for (const DType dtype : {float32, float64})
    for (const Shape& shape :
        {Shape{3, 4, 5, 2}, {2, 1, 150}, {150, 3}, {7}, {2, 300, 2}, {20, 1, 130}})
      for (const Indices& axes : all_axes(shape.rank())) {
        const Tensor x = whole_numbers(shape, dtype);
        const Tensor sum = plain(x, axes, 0, add), max = plain(x, axes, -kInf, larger);
        for (const Tensor& view : layouts_of(x)) {
          check_same(k::sum(view, axes), sum);
          check_same(k::max(view, axes), max);
        }
      }
}

TEST_CASE("repeated axes are summed as often as they repeat") {
  const Tensor x = whole_numbers({4, 1, 3}, float64);
  for (const Indices& axes : all_axes(4)) {
    const Tensor wide = x.broadcast_to({5, 4, 6, 3});
    check_same(k::sum(wide, axes), plain(wide, axes, 0, add));
    check_same(k::max(wide.permute({3, 2, 0, 1}), axes),
        plain(wide.permute({3, 2, 0, 1}), axes, -kInf, larger));
  }
}

TEST_CASE("sums are right on both sides of every block") {
  for (const Index n : {1, 2, 15, 16, 17, 31, 32, 127, 128, 129, 143, 144, 255, 256, 257, 384, 511,
           512, 513, 1000, 1023, 1024, 1025, 4097}) {
    const Tensor x = whole_numbers({n}, float64);
    check_same(k::sum(x, {0}), plain(x, {0}, 0, add));
    const Tensor columns = whole_numbers({n, 3}, float64);
    check_same(k::sum(columns, {0}), plain(columns, {0}, 0, add));
    check_same(k::sum(columns.transpose(), {1}), plain(columns.transpose(), {1}, 0, add));
    check_same(k::sum(columns, {0, 1}), plain(columns, {0, 1}, 0, add));
  }
}

TEST_CASE("a view has the very sum of its copy and rows the very sum of columns") {
  for (const DType dtype : {float32, float64})
    for (const Index n : {5, 16, 100, 128, 200, 1000, 3000}) {
      const Tensor x = Tensor::randn({3, n, 5}, static_cast<std::uint64_t>(n), dtype);
      for (const Indices& axes : all_axes(3)) {
        const Tensor y = k::sum(x, axes);
        for (const Tensor& view : layouts_of(x)) check_same(k::sum(view, axes), y);
      }
      const Tensor rows = k::copy(x.permute({0, 2, 1}));
      check_same(k::sum(rows, {2}), k::copy(k::sum(x, {1}).permute({0, 2, 1})));
    }
}

TEST_CASE("ten million times a tenth is a million, row or column") {
  const double tenth = 0.1f;
  const Index n = 10'000'000;
  // The plain loop is off by 9 percent: this test can see a sum that is not pairwise.
  float naive = 0;
  for (Index i = 0; i < n; ++i) naive += 0.1f;
  CHECK(std::abs(naive / (tenth * static_cast<double>(n)) - 1) > 0.05);

  const Tensor row = Tensor::full({n}, tenth);
  CHECK(k::sum(row, {0}).item() == Approx(tenth * static_cast<double>(n)).epsilon(1e-6).margin(0));
  const Tensor columns = Tensor::full({1'000'000, 4}, tenth);
  for (const Tensor& x : {columns, columns.reshape({4, 1'000'000}).transpose()})
    check_close(k::sum(x, {0}), Tensor::full({1, 4}, tenth * 1e6, float64), 1e-6);
  // Strided, and without memory at all.
  CHECK(
      k::sum(columns.slice(1, 1, 3), {0, 1}).item() == Approx(tenth * 2e6).epsilon(1e-6).margin(0));
  CHECK(k::sum(Tensor::full({1}, tenth).broadcast_to({n}), {0}).item() ==
        Approx(tenth * static_cast<double>(n)).epsilon(1e-6).margin(0));
  CHECK(
      k::sum(Tensor::full({n}, 0.1, float64), {0}).item() == Approx(1e6).epsilon(1e-14).margin(0));
}

TEST_CASE("scalars, empty tensors and eight axes can be reduced") {
  CHECK(k::sum(Tensor::of(7), {}).item() == 7);
  CHECK(k::max(Tensor::of(7), {}).item() == 7);
  check_same(k::sum(Tensor::zeros({0, 2}), {0}), Tensor::zeros({1, 2}));
  check_same(k::sum(Tensor::zeros({0, 2}), {1}), Tensor::zeros({0, 1}));
  check_same(k::max(Tensor::zeros({0, 2}), {1}), Tensor::zeros({0, 1}));
  CHECK(k::var(Tensor::zeros({0, 2}), {1}, 0).shape() == Shape{0, 1});
  CHECK(k::max_share(Tensor::zeros({0, 2}), Tensor::zeros({0, 1}), {1}).shape() == Shape{0, 2});
  const Tensor x =
      whole_numbers({2, 3, 1, 2, 2, 3, 2, 2}, float64).permute({7, 1, 3, 5, 0, 2, 6, 4});
  for (const Indices& axes : all_axes(8)) check_same(k::sum(x, axes), plain(x, axes, 0, add));
}

TEST_CASE("extreme numbers go through sums and maxima") {
  CHECK(k::sum(Tensor::of({1e308, 1e308, -1e308}, float64), {0}).item() == kInf);
  CHECK(k::sum(Tensor::of({5e-324, 5e-324}, float64), {0}).item() == 1e-323);
  CHECK(std::isnan(k::sum(Tensor::of({kInf, -kInf}), {0}).item()));
  CHECK(k::max(Tensor::of({-kInf, -kInf}), {0}).item() == -kInf);
  CHECK(k::max(Tensor::of({-1e308, -kInf}, float64), {0}).item() == -1e308);
}

TEST_CASE("a NaN anywhere is the maximum of its slice and of no other") {
  for (const Index n : {1, 3, 16, 40, 300})
    for (const Index place : {Index{0}, n / 2, n - 1}) {
      std::vector<double> numbers(static_cast<std::size_t>(2 * n), 1);
      numbers[static_cast<std::size_t>(place)] = kNaN;
      const Tensor x = Tensor::of({2, n}, numbers), wanted = Tensor::of({{kNaN}, {1}});
      for (const Tensor& view : layouts_of(x)) check_same(k::max(view, {1}), wanted);
    }
}

TEST_CASE("sum_to undoes a broadcast") {
  const Tensor x = whole_numbers({2, 3, 4}, float64);
  check_same(k::sum_to(x, {2, 3, 4}), x);
  check_same(k::sum_to(x, {}), k::sum(x, {0, 1, 2}).reshape({}));
  check_same(k::sum_to(x, {4}), k::sum(x, {0, 1}).reshape({4}));
  check_same(k::sum_to(x, {3, 1}), k::sum(x, {0, 2}).reshape({3, 1}));
  check_same(k::sum_to(x, {1, 3, 4}), k::sum(x, {0}));
  check_same(k::sum_to(x, {1, 1}), k::sum(x, {0, 1, 2}).reshape({1, 1}));
  check_same(k::sum_to(Tensor::of({{1, 2, 3}, {4, 5, 6}}), {2, 1}), Tensor::of({{6}, {15}}));
  check_same(k::sum_to(Tensor::zeros({0, 3}), {1, 3}), Tensor::zeros({1, 3}));
  // The inner product with a broadcast is the inner product with its adjoint.
  const Tensor b = whole_numbers({3, 1}, float64);
  CHECK(k::sum(k::mul(b.broadcast_to({2, 3, 4}), x), {0, 1, 2}).item() ==
        k::sum(k::mul(b, k::sum_to(x, {3, 1})), {0, 1}).item());
}

TEST_CASE("max_share splits one among the maxima") {
  const Tensor x = Tensor::of({{3, 1, 3, 3}, {0, 2, -1, 1}});
  const double third = 1.0f / 3;
  for (const Tensor& view : layouts_of(x)) {
    check_same(k::max_share(view, k::max(view, {1}), {1}),
        Tensor::of({{third, 0, third, third}, {0, 1, 0, 0}}));
    check_same(
        k::max_share(view, k::max(view, {0}), {0}), Tensor::of({{1, 0, 1, 1}, {0, 1, 0, 0}}));
    check_same(k::max_share(view, k::max(view, {0, 1}), {0, 1}),
        Tensor::of({{third, 0, third, third}, {0, 0, 0, 0}}));
  }
  const Tensor odd = Tensor::of({{kNaN, 1, kNaN}, {-kInf, -kInf, -kInf}});
  check_same(
      k::max_share(odd, k::max(odd, {1}), {1}), Tensor::of({{0.5, 0, 0.5}, {third, third, third}}));
}

TEST_CASE("the variance of 1 to n is its closed form") {
  for (const DType dtype : {float32, float64})
    for (const Index n : {2, 3, 10, 200, 1000}) {
      const Tensor x = Tensor::arange(1, static_cast<double>(n + 1), 1, dtype);
      const double m = static_cast<double>(n);
      check_close(k::var(x, {0}, 0), Tensor::of({(m * m - 1) / 12}, float64), 4 * epsilon(dtype));
      check_close(k::var(x, {0}, 1), Tensor::of({m * (m + 1) / 12}, float64), 4 * epsilon(dtype));
      const Tensor wide = x.reshape({1, n, 1}).broadcast_to({3, n, 2});
      check_close(k::var(wide, {1}, 0), Tensor::full({3, 1, 2}, (m * m - 1) / 12, float64),
          4 * epsilon(dtype));
      for (const Tensor& view : layouts_of(wide))
        check_close(k::var(view, {1}, 0), Tensor::full({3, 1, 2}, (m * m - 1) / 12, float64),
            4 * epsilon(dtype));
    }
}

TEST_CASE("a far mean costs the variance no digits") {
  // E x^2 - (E x)^2 would be 0 or negative here.
  CHECK(k::var(Tensor::of({1e9 - 1, 1e9, 1e9 + 1}, float64), {0}, 1).item() == 1);
  CHECK(k::var(Tensor::of({4095, 4096, 4097}), {0}, 1).item() == 1);
  CHECK(k::var(Tensor::of({7}), {0}, 0).item() == 0);
}

TEST_CASE("what cannot be reduced is named") {
  CHECK_THROWS_MATCHES(k::max(Tensor::zeros({2, 0}), {1}), ValueError,
      says("max: the maximum of zero elements does not exist: x [2, 0]; every axis that is reduced "
           "needs an element"));
  CHECK_THROWS_MATCHES(k::sum_to(Tensor::zeros({2, 3}), {2}), ShapeError,
      says("sum_to: does not fit: x [2, 3] to [2]; each axis, counted from the right, must be as "
           "in x, "
           "1 or missing"));
  CHECK_THROWS_AS(k::sum_to(Tensor::zeros({3}), {1, 3}), ShapeError);
  CHECK_THROWS_MATCHES(k::var(Tensor::zeros({2, 1}), {1}, 1), ValueError,
      says("var: too few elements: x [2, 1] has 1 along axes [1]; correction 1 needs at least 2"));
  CHECK_THROWS_MATCHES(k::sum(Tensor::zeros({2}, int64), {0}), DTypeError,
      says("sum: needs float32 or float64: x int64 [2]; convert it with to(float32)"));
  CHECK_THROWS_MATCHES(k::max_share(Tensor::zeros({2, 3}), Tensor::zeros({2}), {1}), ShapeError,
      says("max_share: y is not the maximum of x: x [2, 3], y [2]; along the axes [1] y needs "
           "extent 1, "
           "else that of x"));
}
