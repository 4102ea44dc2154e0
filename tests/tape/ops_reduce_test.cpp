#include <cmath>

#include "tape/op_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

const Tensor kX = f64({{1, 2, 6}, {4, 8, 3}});

}  // namespace

TEST_CASE("each reduction over all, rows and columns agrees with a calculation by hand") {
  const Var x = kX;
  CHECK(is(sum(x), 24));
  CHECK(is(sum(x, 0), {5, 10, 9}));
  CHECK(is(sum(x, -1), {9, 15}));
  CHECK(is(mean(x), 4));
  CHECK(is(mean(x, 0), {2.5, 5, 4.5}));
  CHECK(is(mean(x, 1), {3, 5}));
  CHECK(is(max(x), 8));
  CHECK(is(max(x, 0), {4, 8, 6}));
  CHECK(is(max(x, 1), {6, 8}));
  CHECK(close(var(x), f64(34.0 / 6), 1e-15));  // deviations 3 2 2 0 4 1, squares sum to 34
  CHECK(close(var(x, 1), f64({14.0 / 3, 14.0 / 3}), 1e-15));
  CHECK(is(var(x, 1, KeepAxes::no, 1), {7, 7}));
  CHECK(close(logsumexp(Var(f64({{0, 0, 0}, {std::log(1), std::log(2), std::log(5)}})), 1),
      f64({std::log(3), std::log(8)}), 1e-15));
}

TEST_CASE("reduced axes are dropped, or stay with extent 1") {
  const Var x = ramp({2, 3, 4});
  for (const auto f : {+[](const Var& v, const Indices& a, KeepAxes k) { return sum(v, a, k); },
           +[](const Var& v, const Indices& a, KeepAxes k) { return mean(v, a, k); },
           +[](const Var& v, const Indices& a, KeepAxes k) { return max(v, a, k); },
           +[](const Var& v, const Indices& a, KeepAxes k) { return logsumexp(v, a, k); },
           +[](const Var& v, const Indices& a, KeepAxes k) { return var(v, a, k); }}) {
    CHECK(f(x, {}, KeepAxes::no).shape() == Shape{});
    CHECK(f(x, {}, KeepAxes::yes).shape() == Shape{1, 1, 1});
    CHECK(f(x, -2, KeepAxes::no).shape() == Shape{2, 4});
    CHECK(f(x, -2, KeepAxes::yes).shape() == Shape{2, 1, 4});
    CHECK(f(x, {2, 0}, KeepAxes::no).shape() == Shape{3});
    CHECK(f(x, {2, 0}, KeepAxes::yes).shape() == Shape{1, 3, 1});
  }
}

TEST_CASE("the adjoints of reductions agree with a calculation by hand") {
  const Tensor g = f64({3, -6});
  CHECK(is(pull([](const Var& x) { return sum(x, 1); }, kX, g).dx, {{3, 3, 3}, {-6, -6, -6}}));
  CHECK(is(pull([](const Var& x) { return mean(x, 1); }, kX, g).dx, {{1, 1, 1}, {-2, -2, -2}}));
  CHECK(is(pull([](const Var& x) { return max(x, 1); }, kX, g).dx, {{0, 0, 3}, {0, -6, 0}}));
  // 2 (x - mean) g / n: rows deviate by -2 -1 3 and -1 3 -2.
  CHECK(close(pull([](const Var& x) { return var(x, 1); }, kX, g).dx,
      f64({{-4, -2, 6}, {4, -12, 8}}), 1e-15));
  CHECK(close(pull([](const Var& x) { return var(x, 1, KeepAxes::no, 1); }, kX, g).dx,
      f64({{-6, -3, 9}, {6, -18, 12}}), 1e-15));
  CHECK(close(
      pull([](const Var& x) { return logsumexp(x, 0); }, f64({{0}, {std::log(3)}}), f64({8})).dx,
      f64({{2}, {6}}), 1e-15));
}

TEST_CASE("equal maxima share the adjoint in equal parts") {
  const Pulled two =
      pull([](const Var& x) { return max(x, 1); }, f64({{5, 1, 5}, {2, 2, 2}}), f64({1, 6}));
  CHECK(is(two.y, {5, 2}));
  CHECK(is(two.dx, {{0.5, 0, 0.5}, {2, 2, 2}}));
  CHECK(is(pull([](const Var& x) { return max(x); }, f64({{7, 7}, {7, 7}})).dx,
      {{0.25, 0.25}, {0.25, 0.25}}));
}

TEST_CASE("a NaN is the maximum and takes its adjoint, and -inf throughout is a maximum too") {
  const Pulled p =
      pull([](const Var& x) { return max(x, 1); }, f64({{1, kNan}, {-kInfinity, -kInfinity}}));
  CHECK(std::isnan(p.y.value().at({0})));
  CHECK(p.y.value().at({1}) == -kInfinity);
  CHECK(is(p.dx, {{0, 1}, {0.5, 0.5}}));
}

TEST_CASE("logsumexp overflows for no finite number") {
  const Pulled p =
      pull([](const Var& x) { return logsumexp(x, -1); }, f64({{1000, 1000}, {-1e308, 1e308}}));
  CHECK(close(p.y, f64({1000 + std::log(2), 1e308}), 1e-15));
  CHECK(close(p.dx, f64({{0.5, 0.5}, {0, 1}}), 1e-12));  // e^(x - y), and y is rounded at 1000
  CHECK(is(
      logsumexp(Var(f64({{-kInfinity, -kInfinity}, {kInfinity, 0}})), 1), {-kInfinity, kInfinity}));
}

TEST_CASE("a sum of many float32 numbers keeps its digits") {
  const Var x = Tensor::full({1 << 20}, 0.1);
  CHECK(close(sum(x), f64((1 << 20) * 0.1), 1e-6));
  CHECK(close(mean(x), f64(0.1), 1e-6));
}

TEST_CASE("variance does not suffer from a large mean") {
  CHECK(is(var(Var(f64({1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 6}))), 3.5));
}

TEST_CASE("an empty sum is 0 with an empty adjoint and an empty mean is NaN") {
  const Pulled p = pull([](const Var& x) { return sum(x); }, Tensor::zeros({0, 2}, float64));
  CHECK(p.y.item() == 0);
  CHECK(p.dx.shape() == Shape{0, 2});
  const Var empty = Tensor::zeros({0, 2}, float64);
  CHECK(is(sum(empty, 0), {0, 0}));
  CHECK(is(mean(empty, 0), {kNan, kNan}));
  CHECK(mean(empty, 1).shape() == Shape{0});
  CHECK(max(Var(Tensor::zeros({2, 0}, float64)), 0).shape() == Shape{0});
}

TEST_CASE("the rule of max records max_share, which is inactive") {
  MicroTape tape;
  const Var x = tape.leaf(kX);
  backward(max(x), Record::yes);
  int found = 0;
  for (const Node& node : tape.nodes())
    if (node.op() == "max_share") {
      ++found;
      CHECK_FALSE(node.is_active());
    }
  CHECK(found == 1);
}
