// What explain() says of a rule that makes 0 of an adjoint.

#include <microtape/tape/view/explain.hpp>

#include <microtape/tape/ops.hpp>

#include "testing.hpp"
#include "view/explain_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("explain: a dead relu, everywhere and in some entries") {
  {
    MicroTape tape;
    const Var x = tape.leaf(f64({1, 2, 3}), "x");
    const Scope scope = tape.scope("mlp");
    sum(relu((-x).named("h"))).named("L");
    CHECK(explain(tape, x) ==
          "dx [3], the gradient of L #3, is 0 everywhere.\n"
          "relu #2 in mlp stops the adjoint everywhere: its input h is between -3 and -1;\n"
          "relu passes only what is above 0 (it is dead there).\n");
  }
  MicroTape tape;
  const Var x = tape.leaf(f64({{1, -2}, {-3, 0}}), "x");
  const Scope scope = tape.scope("mlp");
  mean(relu(x)).named("L");
  CHECK(explain(tape, x) ==
        "dx [2, 2], the gradient of L #2, is 0 in 3 of 4 entries, the first at [0, 1].\n"
        "relu #1 in mlp stops the adjoint at [0, 1]: its input x is -2; relu passes only\n"
        "what is above 0 (it is dead there).\n");
}

TEST_CASE("explain: functions that are so flat that their slope is 0") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of({1000, -1000}), "x"), zero = tape.leaf(Tensor::of(0), "zero");
  const auto of = [&](const Var& v, Var (*f)(const Var&)) {
    return stop_in(explain(tape, v, sum(f(v))));
  };
  const std::string flat =
      "its input x is between -1000 and 1000; there its slope rounds to 0 (saturated)";
  CHECK(of(x, tanh) == "tanh everywhere: " + flat);
  CHECK(of(x, sigmoid) == "sigmoid everywhere: " + flat);
  CHECK(of(x, erf) == "erf everywhere: " + flat);
  CHECK(of(x, softplus) ==
        "softplus at [1]: its input x is -1000; there its slope rounds to 0 (saturated)");
  const Var low = tape.leaf(Tensor::of({1, -1000}), "low");
  CHECK(of(low, exp) ==
        "exp at [1]: its input low is -1000; there its slope rounds to 0 (saturated)");
  CHECK(of(zero, abs) == "abs: its input zero is 0; abs has no slope at 0, and 0 is taken");
  CHECK(of(zero, square) == "square: its input zero is 0; its slope there is 0, or rounds to 0");
  CHECK(of(zero, cos) == "cos: its input zero is 0; its slope there is 0, or rounds to 0");
  CHECK(stop_in(explain(tape, zero, pow(zero, 3))) ==
        "pow: its input zero is 0, its exponent is 3; its slope there is 0, or rounds to 0");
}

TEST_CASE("explain: a factor of 0") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}), "x"), w = tape.leaf(f64({0, 3}), "w");
  const Var row = reshape(x, {1, 2}).named("row");
  const auto of = [&](const Var& y) { return stop_in(explain(tape, x, sum(y))); };
  CHECK(of(x * w) == "mul at [0]: its factor w is 0; 0 times an adjoint is 0");
  CHECK(of(w * x) == "mul at [0]: its factor w is 0; 0 times an adjoint is 0");
  CHECK(of(x * 0) == "scale everywhere: its factor is 0; 0 times an adjoint is 0");
  const Var zeros = tape.leaf(Tensor::zeros({2, 2}, float64), "W");
  CHECK(of(matmul(row, zeros)) ==
        "matmul everywhere: its factor W is 0; all that it is multiplied with is 0");
  CHECK(of(matmul_nt(zeros, row)) ==
        "matmul_nt everywhere: its factor W is 0; all that it is multiplied with is 0");
  // A number of x meets all of a row, and only row 1 is 0.
  const Var rows = tape.constant(f64({{5, 6}, {0, 0}}), "R");
  CHECK(of(matmul(row, rows)) == "matmul at [0, 1] of row: all that it is multiplied with is 0");
  const Var square = tape.leaf(f64({{1, 2}, {3, 4}}), "square");
  CHECK(stop_in(explain(tape, square, sum(matmul(square, rows)))) ==
        "matmul at [0, 1] of square: all that it is multiplied with is 0");
  const Var nothing = (0 * w).named("nothing");
  CHECK(of(nothing / x) ==
        "div everywhere: its dividend nothing is 0, its divisor x is between 1 "
        "and 2; its slope there is 0, or rounds to 0");
}

TEST_CASE("explain: a choice that went the other way") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, -2, 3}), "x"), z = tape.leaf(f64({0, 0, 0}), "z");
  const Var mask = tape.constant(i64({1, 0, 1}), "mask");
  const auto of = [&](const Var& y) { return stop_in(explain(tape, x, sum(y))); };
  CHECK(of(where(mask, x, z)) == "where at [1]: its mask mask is 0; where chose its b there");
  CHECK(of(where(mask, z, x)) == "where at [0]: its mask mask is 1; where chose its a there");
  CHECK(of(masked_fill(x, mask, -1e9)) ==
        "where at [0]: its mask mask is 1; where chose its a there");
  CHECK(of(maximum(x, z)) ==
        "maximum at [1]: its input x is -2, its input z is 0; only the larger one passes");
  CHECK(of(minimum(z, x)) ==
        "minimum at [0]: its input z is 0, its input x is 1; only the smaller one passes");
  CHECK(of(clamp(x, -3, 2)) ==
        "clamp at [2]: its input x is 3, its lower bound is -3, its upper "
        "bound is 2; clamp passes nothing outside of its bounds");
  CHECK(of(max(x)) == "max at [0] of x: its input x is 1; only the largest one passes");
  CHECK(of(min(x)) == "min at [0] of x: its input x is 1; only the smallest one passes");
  const Var square = tape.leaf(f64({{1, 2}, {3, 4}}), "square");
  const Var lower = tril(square), upper = triu(square);
  CHECK(stop_in(explain(tape, square, sum(lower))) ==
        "where at [0, 1]: its mask #20 is 0; where chose its b there");
  CHECK(stop_in(explain(tape, square, sum(upper))) ==
        "where at [1, 0]: its mask #22 is 0; where chose its b there");
}

TEST_CASE("explain: dropout, and a mask that is added before a softmax") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::full({100}, 2, float64), "x");
  const Var dropped = dropout(x, 0.5, 1), z = tape.var(dropped.node() - 1);
  Index first = 0;
  while (z.value().at({first}) != 0) ++first;
  CHECK(stop_in(explain(tape, x, sum(dropped))) ==
        "mul at [" + std::to_string(first) + "]: its factor Z is 0; 0 times an adjoint is 0");

  const Var s = tape.leaf(Tensor::of({{1, 2, 3}, {4, 5, 6}}), "S");
  const auto masked = [&](double forbidden) {
    const Var m = tape.constant(Tensor::of({{0, forbidden, 0}, {0, 0, forbidden}}), "M");
    const Var p = softmax(s, {.mask = m}).named("P");
    return stop_in(explain(tape, s, sum(p * p)));
  };
  CHECK(masked(-1e9) ==
        "softmax P at [0, 1] of S: its result is 0, its mask M is -1e+09; a weight "
        "of 0, or of 1, has no slope");
  CHECK(masked(-kInfinity) ==
        "softmax P at [0, 1] of S: its result is 0, its mask M is -inf; a "
        "weight of 0, or of 1, has no slope");
  // All of the weight on one: neither that one nor the others move any more.
  const Var sharp = tape.leaf(Tensor::of({0, 1000, 0}), "sharp");
  CHECK(stop_in(explain(tape, sharp, sum(softmax(sharp) * Tensor::of({1, 2, 3})))) ==
        "softmax everywhere: its result is between 0 and 1; a weight of 0, or of 1, has no slope");
}

TEST_CASE("explain: what an op does not take") {
  MicroTape tape;
  const Var table = tape.leaf(f64({{1, 2}, {3, 4}, {5, 6}}), "W_E");
  const auto of = [&](const Var& y) { return stop_in(explain(tape, table, sum(y))); };
  CHECK(of(embedding(table, i64({2, 0, 2}))) ==
        "embedding at [1, 0] of W_E: no index asks for that row");
  CHECK(of(slice(table, 0, 1, 3)) == "slice at [0, 0] of W_E: slice takes another part");
  CHECK(of(gather(table, 1, i64({{1}, {0}, {0}}))) ==
        "gather at [0, 0] of W_E: no index asks for it");
  const Var logits = tape.leaf(f64({{1, 2}, {3, 4}}), "logits");
  CHECK(stop_in(explain(tape, logits, cross_entropy(logits, i64({-100, 1})))) ==
        "cross_entropy at [0, 0] of logits: its row does not count, or is predicted without any "
        "error");
}

TEST_CASE("explain: too small a number for float32") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of({1, 2}), "x");
  const Scope scope = tape.scope("tiny");
  sum(x * 1e-30) * 1e-30;
  CHECK(explain(tape, x) ==
        "dx [2], the gradient of #3, is 0 everywhere.\n"
        "scale #1 in tiny: what its rule for x makes of the adjoint is so small that\n"
        "float32 rounds it to 0 (underflow).\n");
}

TEST_CASE("explain: an op of one's own is quoted, and no law is told of it that does not hold") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}), "x");
  const auto zero = [](const Var& g) { return 0 * g; };
  const Var mine = record({"mine", "@x"}, [&] { return x.value(); }, {{"x", x, "0 @g", zero}});
  CHECK(stop_in(explain(tape, x, sum(mine))) ==
        "mine everywhere: its rule for x gives 0 there: 0 d#1");
  const Var fake = record({"relu", "@x"}, [&] { return x.value(); }, {{"x", x, "0 @g", zero}});
  CHECK(stop_in(explain(tape, x, sum(fake))) ==
        "relu everywhere: its rule for x gives 0 there: 0 d#3");
  const Var plain = record({"mine", ""}, [&] { return x.value(); }, {{"x", x, "", zero}});
  CHECK(stop_in(explain(tape, x, sum(plain))) == "mine everywhere: its rule for x gives 0 there");
}
