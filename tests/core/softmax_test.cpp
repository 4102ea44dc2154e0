#include <microtape/core/kernels/softmax.hpp>

#include <algorithm>
#include <cmath>

#include <microtape/core/error.hpp>
#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/core/kernels/reduce.hpp>

#include "kernel_testing.hpp"

using namespace microtape;
using namespace microtape::testing;
namespace k = microtape::kernels;

namespace {

using Real = long double;

/// ln of the sum of e^x over the slice along `axis` that place `i` lies in, in long double.
Real log_sum(const Tensor& x, Index axis, Index i) {
  Indices index = index_of(x.shape(), i);
  const auto a = static_cast<std::size_t>(axis);
  Real top = -kInf, sum = 0;
  for (index[a] = 0; index[a] < x.extent(axis); ++index[a]) top = std::max<Real>(top, x.at(index));
  for (index[a] = 0; index[a] < x.extent(axis); ++index[a]) sum += std::exp(x.at(index) - top);
  return top + std::log(sum);
}

void check_softmax(const Tensor& x, Index axis) {
  const Tensor p = k::softmax(x, axis), log_p = k::log_softmax(x, axis);
  REQUIRE(p.shape() == x.shape());
  REQUIRE(p.is_contiguous());
  REQUIRE(log_p.shape() == x.shape());
  REQUIRE(log_p.is_contiguous());
  const double eps = epsilon(x.dtype());
  for (Index i = 0; i < x.size(); ++i) {
    const Real wanted = element(x, i) - log_sum(x, axis, i);
    const auto v = static_cast<double>(wanted), e = static_cast<double>(std::exp(wanted));
    // x - max is rounded once, with an error of eps/2 |x - max|; e^ passes it on.
    REQUIRE(std::abs(element(p, i) - e) <= eps * (4 + std::abs(v)) * e);
    REQUIRE(std::abs(element(log_p, i) - v) <= eps * (2 + 2 * std::abs(v)));
  }
}

}  // namespace

TEST_CASE("softmax and log_softmax along any axis of any layout agree with long double") {
  for (const DType dtype : {float32, float64}) {
    const Tensor x = Tensor::uniform({3, 4, 5}, -6, 6, 1, dtype);
    for (Index axis = 0; axis < 3; ++axis)
      for (const Tensor& view : layouts_of(x)) check_softmax(view, axis);
    for (const Index n : {1, 2, 15, 16, 17, 64, 129, 300})
      check_softmax(Tensor::randn({3, n}, 2, dtype), 1);
    check_softmax(Tensor::randn({1, 5}, 3, dtype).broadcast_to({4, 5}), 0);
    check_softmax(
        Tensor::randn({2, 1, 2, 1, 2, 1, 3, 2}, 4, dtype).permute({7, 6, 5, 4, 3, 2, 1, 0}), 4);
  }
  // By hand: e^0 : e^ln 3 = 1 : 3.
  const Tensor p = k::softmax(Tensor::of({{0, std::log(3)}, {std::log(3), 0}}, float64), 1);
  CHECK(p.at({0, 0}) == Approx(0.25).epsilon(1e-15));
  CHECK(p.at({1, 0}) == Approx(0.75).epsilon(1e-15));
}

TEST_CASE("every slice of a softmax sums to one") {
  for (const Index n : {1, 7, 64, 1000, 50257}) {
    const Tensor sums = k::sum(k::softmax(Tensor::randn({2, n}, 5), 1), {1});
    for (Index i = 0; i < 2; ++i) CHECK(sums.at({i, 0}) == Approx(1).epsilon(1e-6));
  }
}

TEST_CASE("no finite number overflows a softmax") {
  check_same(k::softmax(Tensor::of({1e308, -1e308, 1e308}, float64), 0),
      Tensor::of({0.5, 0, 0.5}, float64));
  check_same(k::softmax(Tensor::of({-1e308, -1e308}, float64), 0), Tensor::of({0.5, 0.5}, float64));
  check_same(k::softmax(Tensor::of({3e38, -3e38}), 0), Tensor::of({1, 0}));
  check_same(k::softmax(Tensor::of({-kInf, 2, -kInf, 2}), 0), Tensor::of({0, 0.5, 0, 0.5}));
  check_same(k::log_softmax(Tensor::of({0, 1000}), 0), Tensor::of({-1000, 0}));
  check_same(
      k::log_softmax(Tensor::of({-kInf, 1e308}, float64), 0), Tensor::of({-kInf, 0}, float64));
}

TEST_CASE("adding a number to a slice changes nothing") {
  const Tensor x = Tensor::of({{1, 2, 4}, {0.5, 0.25, 8}});
  check_same(k::softmax(k::add(x, 1024), 1), k::softmax(x, 1));
  check_same(k::log_softmax(k::add(x, -4096), 0), k::log_softmax(x, 0));
}

TEST_CASE("a mask is added inside whatever its shape") {
  for (const DType dtype : {float32, float64}) {
    const Shape shape{2, 3, 4, 5};
    const Tensor x = Tensor::randn(shape, 6, dtype);
    for (const Shape& narrow :
        {Shape{4, 5}, {5}, {4, 1}, {2, 1, 1, 5}, {3, 1, 1}, {}, {2, 3, 4, 5}})
      for (const Tensor& mask : layouts_of(Tensor::randn(narrow, 7, dtype)))
        for (Index axis = 0; axis < 4; ++axis) {
          const Tensor wanted = k::softmax(k::add(x, mask.broadcast_to(shape)), axis);
          check_same(k::softmax(x, axis, &mask), wanted);
          check_same(k::softmax(layouts_of(x)[1], axis, &mask), wanted);
        }
  }
  const Tensor causal = Tensor::of({{0, -kInf}, {0, 0}});
  check_same(k::softmax(Tensor::zeros({2, 2, 2}), 2, &causal),
      Tensor::of({{{1, 0}, {0.5, 0.5}}, {{1, 0}, {0.5, 0.5}}}));
}

TEST_CASE("a row of -1e9 is uniform in float32 and the softmax of the scores in float64") {
  // float32 has steps of 64 at 1e9, so that the scores drown; float64 has steps of 1e-7.
  const std::vector<double> scores{1, -2, 3.5, 0};
  const Tensor low = Tensor::full({4}, -1e9), low64 = Tensor::full({4}, -1e9, float64);
  check_same(k::softmax(Tensor::of({4}, scores), 0, &low), Tensor::full({4}, 0.25));
  const Tensor p = k::softmax(Tensor::of({4}, scores, float64), 0, &low64);
  const Tensor wanted = k::softmax(Tensor::of({4}, scores, float64), 0);
  for (Index i = 0; i < 4; ++i) CHECK(p.at({i}) == Approx(wanted.at({i})).epsilon(1e-6));
  // Beside an allowed key it is nothing.
  const Tensor one_low = Tensor::of({0, -1e9, 0, -1e9});
  check_same(k::softmax(Tensor::zeros({4}), 0, &one_low), Tensor::of({0.5, 0, 0.5, 0}));
}

TEST_CASE("a NaN spoils its own slice only") {
  const Tensor x = Tensor::of({{0, kNaN, kInf}, {3, 3, -kInf}});
  for (const Tensor& view : layouts_of(x)) {
    check_same(k::softmax(view, 1), Tensor::of({{kNaN, kNaN, kNaN}, {0.5, 0.5, 0}}));
    CHECK(std::isnan(k::log_softmax(view, 1).at({0, 0})));
    CHECK(std::isfinite(k::log_softmax(view, 1).at({1, 0})));
  }
}

TEST_CASE("an empty tensor has an empty softmax") {
  CHECK(k::softmax(Tensor::zeros({2, 0}), 1).shape() == Shape{2, 0});
  CHECK(k::softmax(Tensor::zeros({0, 3}), 1).shape() == Shape{0, 3});
  CHECK(k::log_softmax(Tensor::zeros({0, 3}), 0).shape() == Shape{0, 3});
  const Tensor mask = Tensor::zeros({0});
  CHECK(k::softmax(Tensor::zeros({2, 0}), 1, &mask).shape() == Shape{2, 0});
}

TEST_CASE("logsumexp over several axes agrees with one long axis in long double") {
  for (const DType dtype : {float32, float64})
    for (const Tensor& x : layouts_of(Tensor::uniform({3, 4, 50}, -9, 9, 8, dtype))) {
      const Tensor y = k::logsumexp(x, {0, 2});
      REQUIRE(y.shape() == Shape{1, 4, 1});
      for (Index j = 0; j < 4; ++j) {
        const Tensor slice = k::copy(x.slice(1, j, j + 1)).reshape({150});
        const double wanted = static_cast<double>(log_sum(slice, 0, 0));
        CHECK(std::abs(y.at({0, j, 0}) - wanted) <= 4 * epsilon(dtype) * std::abs(wanted));
      }
      check_same(k::logsumexp(x, {}), x);
    }
  CHECK(k::logsumexp(Tensor::of(3), {}).item() == 3);
}

TEST_CASE("logsumexp goes to both infinities without a NaN") {
  const Tensor x = Tensor::of(
      {{-kInf, -kInf, -kInf}, {1, kInf, -kInf}, {kNaN, kInf, 0}, {1e308, -1e308, -kInf}}, float64);
  for (const Tensor& view : layouts_of(x))
    check_same(k::logsumexp(view, {1}), Tensor::of({{-kInf}, {kInf}, {kNaN}, {1e308}}, float64));
  check_same(k::logsumexp(Tensor::of({-2000, -2000}, float64), {0}),
      Tensor::of({-2000 + std::log(2)}, float64));
  CHECK(k::logsumexp(Tensor::zeros({0, 2}), {1}).shape() == Shape{0, 1});
}

TEST_CASE("a row without a softmax is named") {
  Tensor x = Tensor::zeros({2, 3, 4});
  for (Index i = 16; i < 20; ++i) x.mutable_data<float>()[static_cast<std::size_t>(i)] = -INFINITY;
  for (const Tensor& view : layouts_of(x)) {
    CHECK_THROWS_MATCHES(k::softmax(view, 2), ValueError,
        says("softmax: row [1, 1] has only -inf: x [2, 3, 4]; each row needs a larger number"));
    CHECK_THROWS_MATCHES(k::log_softmax(view.permute({0, 2, 1}), 1), ValueError,
        says("log_softmax: row [1, 1] has only -inf: x [2, 4, 3]; each row needs a larger number"));
    CHECK_NOTHROW(k::softmax(view, 1));
  }
  const Tensor mask = Tensor::of({{0, 0}, {0, 0}, {-kInf, -kInf}});
  CHECK_THROWS_MATCHES(k::softmax(Tensor::zeros({2, 3, 2}), 2, &mask), ValueError,
      says("softmax: row [0, 2] has only -inf: x [2, 3, 2], mask [3, 2]; each row needs a larger "
           "number"));
  CHECK_THROWS_MATCHES(k::softmax(Tensor::of({{0, 0}, {0, kInf}}), 0), ValueError,
      says("softmax: row [1] holds +inf: x [2, 2]; inf - inf has no value"));
}

TEST_CASE("a mask that does not fit is named") {
  const Tensor x = Tensor::zeros({2, 3}), ones = Tensor::full({2, 3}, 1, int64),
               wide = Tensor::zeros({4});
  CHECK_THROWS_MATCHES(k::softmax(x, 1, &ones), DTypeError,
      says("softmax: the mask has another dtype: x float32 [2, 3], mask int64 [2, 3]; it is added "
           "to x, "
           "so it must be float32: 0 allows, a large negative number suppresses"));
  CHECK_THROWS_MATCHES(k::softmax(x, 1, &wide), ShapeError,
      says("softmax: the mask does not fit: x [2, 3], mask [4]; each axis of the mask, counted "
           "from the "
           "right, must be as in x, or 1"));
  CHECK_THROWS_MATCHES(k::logsumexp(Tensor::zeros({2, 0}), {1}), ValueError,
      says("logsumexp: the logarithm of an empty sum does not exist: x [2, 0]; every axis that is "
           "reduced "
           "needs an element"));
  CHECK_THROWS_MATCHES(k::softmax(ones, 1), DTypeError,
      says("softmax: needs float32 or float64: x int64 [2, 3]; convert it with to(float32)"));
}

TEST_CASE("softmax_pullback is y * (g - rowsum(g * y)), for any layout and length of rows") {
  for (const DType dtype : {float32, float64})
    for (const Index n : {1, 2, 31, 32, 33, 128, 129, 300, 512, 513, 1100}) {
      const Tensor y = k::softmax(Tensor::randn({3, 2, n}, 1, dtype), 2);
      const Tensor g = Tensor::randn({3, 2, n}, 2, dtype);
      const Tensor whole = k::sum(k::mul(g, y), {2}).broadcast_to(g.shape());
      const Tensor wanted = k::mul(y, k::sub(g, whole));
      for (const Tensor& y_view : layouts_of(y))
        for (const Tensor& g_view : layouts_of(g)) {
          const Tensor before = k::copy(g_view);
          const Tensor found = k::softmax_pullback(g_view, y_view);
          for (Index i = 0; i < g.size(); ++i)
            REQUIRE(std::abs(element(found, i) - element(wanted, i)) <=
                    2 * epsilon(dtype) * (1 + std::abs(element(g, i))));
          check_same(k::copy(g_view), before);  // g is another's too: it stays
        }
    }
  CHECK(k::softmax_pullback(Tensor::zeros({2, 0}), Tensor::zeros({2, 0})).size() == 0);
}

TEST_CASE("softmax_pullback writes over a g that is nobody else's") {
  Tensor g = Tensor::randn({4, 5}, 1);
  const float* memory = g.data<float>().data();
  const Tensor found = k::softmax_pullback(std::move(g), k::softmax(Tensor::randn({4, 5}, 2), 1));
  CHECK(found.data<float>().data() == memory);
}
