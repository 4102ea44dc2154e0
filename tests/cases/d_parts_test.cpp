#include <microtape/layers/dropout.hpp>
#include <microtape/layers/linear.hpp>

#include "case_file.hpp"

// Kind d: what attention is made of, Linear and Dropout.

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("D13 the bias gradient of Linear sums over batch and time") {
  const Case c("D13", GENERATE(float64, float32));
  Linear layer(2, 3, {.dtype = c.dtype()});
  layer.weight().mutable_value() = c.input("W");
  layer.bias().mutable_value() = c.input("b");
  layer.forward(c.input("x"));
  CHECK(c.holds("grad.x", layer.backward(c.input("C"))));
  CHECK(c.holds("grad.W", layer.gradients()[layer.weight()]));
  CHECK(c.holds("grad.b", layer.gradients()[layer.bias()]));
}

TEST_CASE("D15 dropout of 1, of 0, in eval mode, and of what is no probability") {
  const Case c("D15", GENERATE(float64, float32));
  const Tensor x = c.input("x"), ones = Tensor::full({3}, 1, c.dtype());
  const auto check = [&](Dropout& layer, const std::string& name) {
    CHECK(c.holds(name + "/y", layer.forward(x)));
    CHECK(c.holds(name + "/grad", layer.backward(ones)));
  };
  Dropout all(1), none(0), half(0.5);
  half.eval();
  check(all, "p1");
  check(none, "p0");
  check(half, "eval");
  CHECK_THROWS_MATCHES(
      Dropout(-0.1), ValueError, says("Dropout: p is no probability: -0.1; needs 0 <= p <= 1"));
  CHECK_THROWS_MATCHES(
      Dropout(1.1), ValueError, says("Dropout: p is no probability: 1.1; needs 0 <= p <= 1"));
  CHECK_THROWS_MATCHES(Dropout(std::nan("")), ValueError,
      says("Dropout: p is no probability: nan; needs 0 <= p <= 1"));
}

TEST_CASE("D16 dropout scales what it keeps, drops the right share, and follows its seed") {
  const Case c("D16", GENERATE(float64, float32));
  const auto& expected = c.json().at("expected");
  const Tensor ones = Tensor::full({c.json().at("inputs").at("n").get<Index>()}, 1, c.dtype());
  const auto draw = [&](std::uint64_t seed) {
    return Dropout(number_of(c.json().at("inputs").at("p")), {.seed = seed}).forward(ones);
  };
  const Tensor y = draw(1).to(float64);
  const double kept = c.expected("kept_value").item();
  double zeros = 0, total = 0, others = 0;
  for (const double v : y.data<double>()) {
    zeros += v == 0;
    others += v != 0 && v != kept;
    total += v;
  }
  const auto inside = [&](const char* name, double v) {
    return number_of(expected.at(name)[0]) <= v && v <= number_of(expected.at(name)[1]);
  };
  CHECK(others == 0);
  CHECK(inside("zero_fraction", zeros / static_cast<double>(y.size())));
  CHECK(inside("mean", total / static_cast<double>(y.size())));
  CHECK(identical(draw(1).to(float64), y));
  CHECK_FALSE(identical(draw(2).to(float64), y));
}
