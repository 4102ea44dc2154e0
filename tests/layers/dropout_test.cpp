#include <microtape/layers/dropout.hpp>

#include "layer_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("Dropout refuses what is no probability, NaN too") {
  const auto text = [](const std::string& p) {
    return "Dropout: p is no probability: " + p + "; needs 0 <= p <= 1";
  };
  CHECK_THROWS_MATCHES(Dropout(-0.1), ValueError, says(text("-0.1")));
  CHECK_THROWS_MATCHES(Dropout(1.1), ValueError, says(text("1.1")));
  CHECK_THROWS_MATCHES(Dropout(kNan), ValueError, says(text("nan")));
  CHECK(Dropout(0.3).p() == 0.3);
}

TEST_CASE("Dropout of p = 0, and in eval mode, is the identity; of p = 1 it is 0") {
  const Tensor x = f64({1, 2, 3}), dy = f64({1, 1, 1});
  Dropout none(0);
  CHECK(identical(none.forward(x), x));
  CHECK(identical(none.backward(dy), dy));
  Dropout half(0.5);
  half.eval();
  CHECK(identical(half.forward(x), x));
  CHECK(identical(half.backward(dy), dy));
  Dropout all(1);
  CHECK(is(all.forward(x), {0, 0, 0}));
  CHECK(is(all.backward(dy), {0, 0, 0}));
}

TEST_CASE("Dropout refuses whole numbers, which 1 / (1 - p) would round") {
  const Tensor labels = i64({1, 2, 3});
  Dropout layer(0.3);
  CHECK_THROWS_MATCHES(layer(labels), DTypeError,
      says("Dropout: whole numbers do not scale: x int64 [3]; needs float32 or float64"));
  layer.eval();
  CHECK_THROWS_AS(layer(labels), DTypeError);  // not only once training starts
}

TEST_CASE("Dropout keeps 1 - p of the numbers and scales them by 1 / (1 - p)") {
  const DType dtype = GENERATE(float32, float64);
  Dropout layer(0.3, {.seed = 4});
  const Tensor y = layer.forward(Tensor::full({400, 250}, 1, dtype)).to(float64);
  const double kept = dtype == float32 ? static_cast<double>(1.42857146f) : 1 / (1 - 0.3);
  Index zeros = 0, others = 0;
  for (const double v : y.data<double>()) {
    zeros += v == 0;
    others += v != 0 && v != kept;
  }
  CHECK(others == 0);
  // Binomial with standard deviation 145: within four of them.
  CHECK(zeros > 30000 - 580);
  CHECK(zeros < 30000 + 580);
}

TEST_CASE("Dropout's gradient is the adjoint times the same Z") {
  const Keep keep = GENERATE(Keep::everything, Keep::needed);
  Dropout layer(0.5, {.seed = 1});
  MicroTape tape(keep);
  const Var x = tape.leaf(random({10, 10}, 1));
  const Var y = layer(x);
  const Tensor dy = random({10, 10}, 2);
  const Tensor dx = backward(y, dy)[x].value();
  const Tensor z = div(y, x).value();
  CHECK(close(dx, mul(dy, z).value(), 1e-15));
  CHECK(max(abs(z)).item() > 1.9);
}

TEST_CASE("each call of Dropout draws anew; the seed fixes the sequence") {
  Dropout a(0.5, {.seed = 1}), b(0.5, {.seed = 1}), c(0.5, {.seed = 2});
  const Tensor x = Tensor::full({100}, 1);
  const Tensor first = a.forward(x), second = a.forward(x);
  CHECK_FALSE(identical(first, second));
  CHECK(identical(b.forward(x), first));
  CHECK(identical(b.forward(x), second));
  CHECK_FALSE(identical(c.forward(x), first));
  // The shape does not matter: number i is kept or not.
  Dropout d(0.5, {.seed = 1});
  CHECK(identical(d.forward(x.reshape({10, 10})).reshape({100}), first));
  // Nothing is drawn in eval mode.
  Dropout e(0.5, {.seed = 1});
  e.eval();
  e.forward(x);
  e.train();
  CHECK(identical(e.forward(x), first));
}

TEST_CASE("an infinite number stays visible under Dropout: infinite if kept, NaN if dropped") {
  Dropout layer(0.5, {.seed = 1});
  const Tensor y = layer.forward(Tensor::full({100}, kInfinity));
  Index infinite = 0, nan = 0;
  for (const float v : y.data<float>()) infinite += std::isinf(v), nan += std::isnan(v);
  CHECK(infinite + nan == 100);
  CHECK(infinite > 20);
  CHECK(nan > 20);
}

TEST_CASE("Dropout names Z on the tape, in a scope of its own") {
  Dropout layer(0.5, {.name = "drop"});
  MicroTape tape;
  const Var y = layer(tape.leaf(Tensor::full({4}, 1)));
  CHECK(tape.scope_path(tape.node(node_named(tape, "Z").node()).scope()) == "drop");
  CHECK(tape.node(y.node()).op() == "mul");
  CHECK_FALSE(tape.node(node_named(tape, "Z").node()).is_active());
}
