#include <cmath>
#include <numbers>

#include "tape/op_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("each function takes the value and the slope of its closed form") {
  struct Row {
    const char* name;
    Function f;
    double x, y, slope;
  };
  const double e = std::numbers::e;
  const double phi1 = std::exp(-0.5) / std::sqrt(2 * std::numbers::pi);  // the density at 1
  const double Phi1 = 0.841344746068542948585;                           // Phi(1)
  const double s1 = 1 / (1 + std::exp(-1.0));
  const std::vector<Row> rows{
      {"exp", exp, 1, e, e},
      {"log", log, 4, std::log(4.0), 0.25},
      {"sqrt", sqrt, 9, 3, 1.0 / 6},
      {"sin", sin, 1, std::sin(1.0), std::cos(1.0)},
      {"cos", cos, 1, std::cos(1.0), -std::sin(1.0)},
      {"tanh", tanh, 0.5, std::tanh(0.5), 1 / std::pow(std::cosh(0.5), 2)},
      {"sigmoid", sigmoid, 1, s1, s1 * (1 - s1)},
      {"erf", erf, 1, 0.842700792949714869341, 2 / std::sqrt(std::numbers::pi) / e},
      {"abs", abs, -3, 3, -1},
      {"relu", relu, 2.5, 2.5, 1},
      {"relu", relu, -2.5, 0, 0},
      {"silu", silu, 1, s1, s1 + s1 * (1 - s1)},
      {"gelu", [](const Var& x) { return gelu(x); }, 1, Phi1, Phi1 + phi1},
      // 40-digit values of the tanh form at 1 and of its derivative.
      {"gelu_tanh", [](const Var& x) { return gelu(x, Gelu::tanh); }, 1, 0.841191990608276704782,
          1.082964083845782555139},
  };
  for (const Row& row : rows) {
    INFO(row.name << " at " << row.x);
    const Pulled got = pull(row.f, f64({row.x}), f64({2}));
    CHECK(close(got.y, f64({row.y}), 1e-15));
    CHECK(close(got.dx, f64({2 * row.slope}), 1e-15));
  }
}

TEST_CASE("at 0, where they have no derivative, abs and relu take 0") {
  CHECK(is(pull(abs, f64({0, -0.0})).dx, {0, 0}));
  CHECK(is(pull(relu, f64({0, -0.0})).dx, {0, 0}));
  CHECK(is(pull(relu, f64({-1e-300, 1e-300})).dx, {0, 1}));
}

TEST_CASE("sign and step are inactive and say so") {
  MicroTape tape;
  const Var x = tape.leaf(f64({-2, 0, 3}));
  CHECK(is(sign(x), {-1, 0, 1}));
  CHECK(is(step(x), {0, 0, 1}));
  for (const Var& y : {sign(x), step(x)}) {
    const Node& node = tape.node(y.node());
    CHECK_FALSE(node.is_active());
    CHECK_FALSE(node.edges()[0].is_active());
    CHECK(node.edges()[0].input() == x.node());
    CHECK(node.edges()[0].formula().empty());
  }
  CHECK(std::isnan(sign(Var(f64({kNan}))).item()));
}

TEST_CASE("exp overflows where it is documented to and not before") {
  CHECK(exp(Var(f64({709.7}))).item() < kInfinity);
  CHECK(exp(Var(f64({709.8}))).item() == kInfinity);
  CHECK(exp(Var(Tensor::of({88.7}))).item() < kInfinity);
  CHECK(exp(Var(Tensor::of({88.8}))).item() == kInfinity);
  const Pulled tiny = pull(exp, f64({-800}));
  CHECK(tiny.y.item() == 0);
  CHECK(tiny.dx.item() == 0);
}

TEST_CASE("log and sqrt at and below 0 follow their documentation") {
  CHECK(log(Var(f64({0}))).item() == -kInfinity);
  CHECK(std::isnan(log(Var(f64({-1}))).item()));
  CHECK(std::isnan(sqrt(Var(f64({-1}))).item()));
  const Pulled root = pull(sqrt, f64({0}));
  CHECK(root.y.item() == 0);
  CHECK(root.dx.item() == kInfinity);
}

TEST_CASE("tanh, sigmoid, erf, silu and gelu stay finite with finite slopes far out") {
  for (const DType dtype : {float32, float64}) {
    const double huge = dtype == float32 ? 3e38 : 1e308;
    const Tensor x = Tensor::of({-huge, -1e4, 1e4, huge}, dtype);
    const auto steps = [](const Pulled& p) {
      return is(p.y, {-1, -1, 1, 1}) && is(p.dx, {0, 0, 0, 0});
    };
    CHECK(steps(pull(tanh, x)));
    CHECK(steps(pull(erf, x)));
    const Pulled s = pull(sigmoid, x);
    CHECK(is(s.y, {0, 0, 1, 1}));
    CHECK(is(s.dx, {0, 0, 0, 0}));
    for (const auto f :
        {+[](const Var& v) { return silu(v); }, +[](const Var& v) { return gelu(v); }}) {
      const Pulled p = pull(f, x);
      CHECK(is(p.y, {0, 0, 1e4, huge}));
      CHECK(is(p.dx, {0, 0, 1, 1}));
    }
  }
  const Pulled p = pull([](const Var& v) { return gelu(v, Gelu::tanh); }, f64({-1e4, 1e4}));
  CHECK(is(p.y, {0, 1e4}));
  CHECK(is(p.dx, {0, 1}));
}

TEST_CASE("sigmoid keeps its digits in the left tail") {
  CHECK(close(sigmoid(Var(f64({-40}))), f64({4.248354255291589e-18}), 1e-14));
  CHECK(close(sigmoid(Var(Tensor::of({-40.0}))), f64({4.248354255291589e-18}), 1e-6));
}

TEST_CASE("NaN stays NaN through every function and its slope") {
  for (const Function f : {exp, log, sqrt, sin, cos, tanh, sigmoid, erf, abs, silu}) {
    const Pulled p = pull(f, f64({kNan}));
    CHECK(std::isnan(p.y.item()));
    CHECK(std::isnan(p.dx.item()));
  }
  CHECK(std::isnan(relu(Var(f64({kNan}))).item()));
}
