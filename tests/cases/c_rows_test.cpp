// Cases C of cases.json about rows: softmax, losses, layer normalization.

#include <microtape/tape/ops.hpp>

#include "cases/case_file.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("C01: softmax and cross-entropy of logits far outside the range of exp") {
  const Case c("C01");
  CHECK(c.holds("softmax", softmax(c.input("softmax_in"))));
  MicroTape tape;
  const Var logits = tape.leaf(c.input("logits"));
  const Var loss = cross_entropy(reshape(logits, {1, 3}), i64({0}));
  CHECK(loss.item() == c.expected("loss").item());
  CHECK(c.holds("grad", backward(loss)[logits]));
}

TEST_CASE("C02: log_softmax is not the logarithm of a softmax") {
  const Case c("C02");
  CHECK(c.holds("log_softmax", log_softmax(c.input("x"))));
  CHECK(c.holds("log_softmax2", log_softmax(c.input("x2"))));
}

TEST_CASE("C06: a label out of range is an error that names it; the rest is a mean over rows") {
  const Case c("C06");
  const auto loss = [&](const Tensor& labels) { return cross_entropy(c.input("logits"), labels); };
  CHECK_THROWS_MATCHES(loss(i64({0, 1000})), IndexError,
      says("cross_entropy: label 1000 is out of range: row 1 of labels [2]; needs 0 <= label < 3, "
           "or ignore_index -100"));
  CHECK_THROWS_AS(loss(i64({0, -1})), IndexError);
  CHECK_THROWS_AS(loss(i64({0, 3})), IndexError);
  CHECK_THROWS_MATCHES(loss(f64({0, 1.5})), DTypeError,
      says("cross_entropy: labels must be int64: labels float64 [2]; convert them with to(int64)"));
  CHECK_THROWS_MATCHES(loss(i64({0})), ShapeError,
      says("cross_entropy: the labels do not fit: logits [2, 3], labels [1]; needs logits [.., C] "
           "and a label for each row"));
  MicroTape tape;
  const Var logits = tape.leaf(c.input("logits"));
  const Var good = cross_entropy(logits, c.input("good_targets").to(int64));
  CHECK(c.holds("loss", good));
  CHECK(c.holds("grad", backward(good)[logits]));
}

TEST_CASE("C17: layer norm of a constant row is 0, and its gradient is finite and right") {
  for (const DType dtype : {float32, float64}) {
    const Case c("C17", dtype);
    MicroTape tape;
    const Var x = tape.leaf(Tensor::full({256}, 1234, dtype));
    const Var y = layer_norm(x, Tensor::full({256}, 1, dtype), Tensor::zeros({256}, dtype));
    CHECK(max(abs(y)).item() < 1e-6);
    const Tensor dx = backward(sum(slice(y, 0, 0, 1)))[x].value();
    const double rtol = dtype == float64 ? 1e-11 : 2e-5;
    CHECK(dx.at(0) == Approx(c.expected("dx0").to(float64).item()).epsilon(rtol));
    CHECK(dx.at(1) == Approx(c.expected("dx_other").to(float64).item()).epsilon(rtol));
    CHECK(dx.at(255) == Approx(c.expected("dx_other").to(float64).item()).epsilon(rtol));
    const Var shifted =
        layer_norm(x, Tensor::full({256}, 1, dtype), Tensor::full({256}, 0.5, dtype));
    CHECK(max(abs(shifted - 0.5)).item() < 1e-6);
  }
}

TEST_CASE("C18: layer norm in float32 does not feel a large common offset") {
  const Case c("C18", float32);
  const Tensor ones = Tensor::full({4}, 1), zeros = Tensor::zeros({4});
  for (const char* name : {"x1", "x2", "x3"})
    CHECK(close(layer_norm(c.input(name), ones, zeros), c.expected("y"), 2e-6, name));
}

TEST_CASE("C20: eps stands under the root, and must be positive") {
  const Case c("C20");
  CHECK(c.holds("y", layer_norm(c.input("x"), f64({1, 1}), f64({0, 0}))));
  CHECK_THROWS_MATCHES(standardize(c.input("x"), 0), ValueError,
      says("standardize: eps is not positive: 0; needs eps > 0"));
  CHECK_THROWS_AS(standardize(c.input("x"), -1e-5), ValueError);
}

TEST_CASE("C26: the gradient through an additive mask of -inf is finite") {
  const Case c("C26");
  MicroTape tape;
  const Var a = tape.leaf(c.input("a"));
  const Var mask = tape.constant(c.input("mask"));
  for (const Var& p : {softmax(a + mask), softmax(a, {.mask = mask})}) {
    CHECK(c.holds("p", p));
    CHECK(c.holds("grad.a", backward(sum(slice(p, 0, 2, 3)))[a]));
  }
  CHECK(is(softmax(f64({0, -kInfinity})), {1, 0}));
  CHECK(is(log_softmax(f64({0, -kInfinity})), {0, -kInfinity}));
  CHECK_THROWS_AS(softmax(f64({0, kInfinity})), ValueError);  // documented
}

TEST_CASE("C29: cross_entropy takes logits: log_softmax before it changes nothing, softmax does") {
  const Case c("C29");
  const Var logits = reshape(c.input("logits"), {1, 3});
  const Tensor target = i64({0});
  CHECK(c.holds("loss_logits", cross_entropy(logits, target)));
  CHECK(c.holds("loss_probabilities", cross_entropy(softmax(logits), target)));
  CHECK(c.holds("loss_log_softmax_twice", cross_entropy(log_softmax(logits), target)));
  CHECK(c.holds("floor", cross_entropy(f64({{1, 0, 0}}), target)));
}
