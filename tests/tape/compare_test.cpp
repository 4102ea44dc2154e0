#include <microtape/tape/compare.hpp>

#include <array>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("the relative difference is to the element plus the largest of all") {
  const Comparison c = compare("x", f64({1.5, 10}), f64({1, 9}), 0.1);
  CHECK(c.name == "x");
  CHECK(c.shape == Shape{2});
  CHECK(c.max_abs == 1);
  CHECK(c.max_rel == 1.0 / 18);  // 1 / (9 + 9) and 0.5 / (1 + 9)
  CHECK(c.worst == Indices{1});
  CHECK(c.actual == 10);
  CHECK(c.expected == 9);
  CHECK(c.tolerance == 0.1);
  CHECK(c.agrees);
  CHECK_FALSE(compare("x", f64({1.5, 10}), f64({1, 9}), 0.05).agrees);
  CHECK(compare("x", f64({1.5, 9}), f64({1, 9}), 0).max_rel == 0.05);
}

TEST_CASE("what is 0 in theory may be rounding beside large numbers and only there") {
  CHECK(compare("x", f64({1e-12, 1000}), f64({0, 1000}), 1e-14).agrees);
  CHECK_FALSE(compare("x", f64({1e-12}), f64({0}), 1e-3).agrees);
  CHECK(compare("x", f64({0, -0.0}), f64({-0.0, 0}), 0).agrees);
}

TEST_CASE("a NaN agrees only with a NaN and an infinity only with the same infinity") {
  CHECK(compare("x", f64({kNan, kInfinity, -kInfinity}), f64({kNan, kInfinity, -kInfinity}), 0)
          .agrees);
  for (const auto& [a, b] : {std::pair{kNan, 1.0}, {1.0, kNan}, {kInfinity, 1e308},
           {1.0, kInfinity}, {kInfinity, -kInfinity}, {kNan, kInfinity}}) {
    const Comparison c = compare("x", f64({a}), f64({b}), 1e300);
    CHECK_FALSE(c.agrees);
    CHECK(c.max_rel == kInfinity);
  }
}

TEST_CASE("an infinity does not widen the tolerance of the others") {
  CHECK_FALSE(compare("x", f64({kInfinity, 2}), f64({kInfinity, 1}), 0.1).agrees);
}

TEST_CASE("numbers near the largest double do not overflow into agreement") {
  // Bug: |b| + s was infinite, and any difference over it 0.
  CHECK_FALSE(compare("x", f64({0}), f64({1.5e308}), 0.1).agrees);
  CHECK(compare("x", f64({0}), f64({1.5e308}), 0.1).max_rel == 0.5);
}

TEST_CASE("the worst element is named by its index along each axis, whatever the strides") {
  const Tensor b = ramp({2, 3, 4});
  Tensor a = b;
  a.mutable_data<double>()[1 * 12 + 2 * 4 + 3] += 1;
  CHECK(compare("x", a, b, 0).worst == Indices{1, 2, 3});
  CHECK(compare("x", a.transpose(), b.transpose(), 0).worst == Indices{1, 3, 2});
}

TEST_CASE("ulps count the floats between, of the coarser dtype, across 0 too") {
  const float next = std::nextafter(1.0f, 2.0f);
  CHECK(compare("x", Tensor::of({next}), Tensor::of({1}), 0).ulps == 1);
  CHECK(compare("x", Tensor::of({next}), f64({1}), 0).ulps == 1);
  // Bug: places were subtracted as doubles, which have too few digits for those of float64.
  CHECK(compare("x", f64({std::nextafter(1.0, 2.0)}), f64({1}), 0).ulps == 1);
  CHECK(compare("x", f64({5e-324}), f64({-5e-324}), 0).ulps == 2);
  CHECK(compare("x", f64({-1}), f64({std::nextafter(-1.0, 0.0)}), 0).ulps == 1);
  CHECK(compare("x", f64({1, 2}), f64({1, 2}), 0).ulps == 0);
}

TEST_CASE("empty Tensors agree and other shapes are refused") {
  CHECK(compare("x", Tensor::zeros({0, 2}), Tensor::zeros({0, 2}), 0).agrees);
  CHECK_THROWS_MATCHES(compare("dQ", f64({1, 2}), f64({{1, 2}}), 0), ShapeError,
      says("compare: shapes differ: dQ [2], expected [1, 2]; they must be equal"));
}

TEST_CASE("a table has a line for each comparison and fits into 80 columns") {
  const std::array<Comparison, 2> rows{compare("dQ", f64({{1, 2.5}}), f64({{1, 2}}), 1e-3),
      compare("dV", ramp({2, 3, 4}), ramp({2, 3, 4}), 1e-9)};
  const std::string text = table(rows);
  CHECK(text ==
        "name                   shape           max abs  max rel  worst at      verdict\n"
        "dQ                     [1, 2]          0.5      0.12     [0, 1]        WRONG\n"
        "dV                     [2, 3, 4]       0        0        [0, 0, 0]     agrees\n");
}
