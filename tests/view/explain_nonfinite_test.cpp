// What explain() says of gradients that are NaN or infinite.

#include <microtape/tape/view/explain.hpp>

#include <microtape/tape/ops.hpp>

#include "testing.hpp"
#include "view/explain_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("explain: log of 0 makes -inf, and the rule of a product takes it along") {
  MicroTape tape;
  const Var p = tape.leaf(f64({0.5, 0}), "p"), w = tape.leaf(f64({1, 0}), "w");
  const Scope scope = tape.scope("loss");
  sum(w * log(p)).named("L");
  CHECK(explain(tape, w) ==
        "dw [2], the gradient of L #4, is not finite: -inf at [1].\n"
        "log #2 in loss makes -inf of 0 at [1]. mul #3 in loss turns an adjoint of 1 into\n"
        "-inf at [1]: its factor #2 is -inf.\n");
  // Where no adjoint arrives, log passes none: dp is not spoiled, only y is.
  CHECK(explain(tape, p) ==
        "dp [2], the gradient of L #4, is 0 in 1 of 2 entries, the first at [1].\n"
        "mul #3 in loss stops the adjoint at [1]: its factor w is 0; 0 times an adjoint\n"
        "is 0.\n"
        "But L #4 itself is nan: log #2 in loss makes -inf of 0 at [1].\n");
  const Var q = tape.leaf(f64({1, 0}), "q");
  CHECK(explain(tape, q, sum(log(q))) ==
        "dq [2], the gradient of #7, is not finite: inf at [1].\n"
        "log #6 in loss makes -inf of 0 at [1]. log #6 in loss turns an adjoint of 1 into\n"
        "inf at [1]: its input q is 0.\n");
}

TEST_CASE("explain: 0 times infinity, with both factors") {
  MicroTape tape;
  const Var x = tape.leaf(f64({0, 3}), "x");
  // The square root has an infinite slope at 0, the square below it the slope 0.
  sum(sqrt(x * x)).named("L");
  CHECK(explain(tape, x) ==
        "dx [2], the gradient of L #3, is not finite: nan at [0].\n"
        "sqrt #2 turns an adjoint of 1 into inf at [0]: its input #1 is 0.\n");
  const Var big = tape.constant(f64({kInfinity, 1}), "big"),
            off = tape.constant(f64({0, 1}), "off");
  const Var y = x * big;
  CHECK(explain(tape, x, sum(off * y)) ==
        "dx [2], the gradient of #8, is not finite: nan at [0].\n"
        "constant big #4 holds inf at [0]. mul #6 turns an adjoint of 0 into nan at [0]:\n"
        "its factor big is inf.\n");
}

TEST_CASE("explain: a NaN that x was given") {
  MicroTape tape;
  const Var x = tape.leaf(f64({{1, 2}, {kNan, kNan}}), "x");
  mean(square(x)).named("L");
  CHECK(explain(tape, x) ==
        "dx [2, 2], the gradient of L #2, is not finite: nan at [1, 0], the first of 2.\n"
        "leaf x #0 holds nan at [1, 0]. square #1 turns an adjoint of 0.25 into nan at\n"
        "[1, 0]: its input x is nan.\n");
}

TEST_CASE("explain: too large a number, in a rule and in a sum") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of({1, 2}), "x");
  sum(x * 1e30) * 1e30;
  CHECK(explain(tape, x) ==
        "dx [2], the gradient of #3, is not finite: inf at [0], the first of 2.\n"
        "scale #1 turns an adjoint of 1e+30 into inf at [0]: its factor is 1e+30; that is\n"
        "too large for float32.\n");
  const Var z = tape.leaf(Tensor::of(1e-30), "z"), a = z * 3e38, b = z * 3e38;
  CHECK(explain(tape, z, a + b) ==
        "dz [], the gradient of #7, is not finite: inf.\n"
        "What comes to leaf z #4 is finite, but its sum is too large for float32.\n");
  // A matrix product mixes its entries.
  const Var m = tape.leaf(Tensor::of({{1, 1}}), "m"),
            w = tape.constant(Tensor::of({{3e38}, {1}}), "w");
  CHECK(explain(tape, m, sum(matmul(m, w)) * 10) ==
        "dm [1, 2], the gradient of #12, is not finite: inf at [0, 0].\n"
        "matmul #10 turns finite adjoints into inf at [0, 0]; that is too large for\n"
        "float32.\n");
}

TEST_CASE(
    "explain: a result that is too large is not the cause if the rule would have overflowed too") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(1e30), "x"), b = tape.constant(Tensor::of(1e30), "b");
  const Var huge = x * b;
  CHECK(explain(tape, x, huge * 1e30) ==
        "dx [], the gradient of #3, is not finite: inf.\n"
        "mul #2 turns an adjoint of 1e+30 into inf: its factor b is 1e+30; that is too\n"
        "large for float32.\n");
  // A sum mixes its entries: there is nothing to say about one of them.
  const Var k = tape.leaf(Tensor::of(2), "k"), big = tape.constant(Tensor::of({3e38, 3e38}));
  const Var total = sum(big).named("total");
  CHECK(explain(tape, k, total * k) ==
        "dk [], the gradient of #7, is not finite: inf.\n"
        "sum total #6 makes inf of finite numbers. mul #7 turns an adjoint of 1 into inf:\n"
        "its factor total is inf.\n");
}

TEST_CASE("explain: of several numbers that are not finite, the one that spoiled this entry") {
  // b, the factor that da takes, is infinite at 0 and NaN at 1; a is infinite at 1.
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 0}), "x"), z = tape.leaf(f64({0, kNan}), "z");
  const Var a = log(x).named("a"), b = (1 / z).named("b");
  sum(a * b).named("L");
  CHECK(explain(tape, a) ==
        "da [2], the gradient of L #5, is not finite: inf at [0], the first of 2.\n"
        "div b #3 makes inf of 0 at [0]. mul #4 turns an adjoint of 1 into inf at [0]:\n"
        "its factor b is inf.\n");
  // On its way to y a number moves.
  const Var c = concat({a, b}, 0), last = slice(c, 0, 2, 3).named("last");
  CHECK(explain(tape, z, last * last) ==
        "dz [2], the gradient of #8, is not finite: -inf at [0], the first of 2.\n"
        "div b #3 makes inf of 0 at [0]. mul #8 turns an adjoint of 1 into inf at [0]:\n"
        "its factor last is inf.\n");
  // -inf is no harm to logsumexp, NaN is.
  const Var row = tape.leaf(f64({-kInfinity, 1, kNan}), "row");
  CHECK(explain(tape, row, logsumexp(row)) ==
        "drow [3], the gradient of #10, is not finite: nan at [0], the first of 3.\n"
        "leaf row #9 holds nan at [2]. logsumexp #10 turns finite adjoints into nan at\n"
        "[0]: row holds nan at [2].\n");
}

TEST_CASE("explain: a row that is spoiled by itself, next to one that is by another number") {
  MicroTape tape;
  const Var x = tape.leaf(f64({{kNan, 1}}), "x"), z = tape.leaf(f64({{0, 1}}), "z");
  const Var l = log(z), h = concat({x, l}, 0).named("h"), n = norm(h, 1).named("n");
  const Var k = tape.leaf(f64({1, 1}), "k");
  sum(n).named("L");
  CHECK(explain(tape, z) ==
        "dz [1, 2], the gradient of L #6, is not finite: nan at [0, 0].\n"
        "log #2 makes -inf of 0 at [0, 0]. norm n #4 turns finite adjoints into nan at\n"
        "[1, 0]: h holds -inf at [1, 0].\n");
  const Var last = slice(n, 0, 1, 2).named("last"), one = slice(k, 0, 0, 1).named("one");
  CHECK(explain(tape, one, last * one) ==
        "done [1], the gradient of #9, is not finite: nan at [0].\n"
        "log #2 makes -inf of 0 at [0, 0]. mul #9 turns an adjoint of 1 into nan at [0]:\n"
        "its factor last is nan.\n");
}

TEST_CASE("explain: infinity times 0 in a product of matrices") {
  // The rule for a says that a does not count, for its factor is 0; but it made the NaN.
  MicroTape tape;
  const Var a = tape.leaf(f64({{kInfinity}}), "a"), b = tape.leaf(f64({{0}}), "b");
  const Var k = tape.leaf(f64({{2}}), "k"), c = matmul(a, b).named("C");
  CHECK(explain(tape, k, c * k) ==
        "dk [1, 1], the gradient of #4, is not finite: nan at [0, 0].\n"
        "leaf a #0 holds inf at [0, 0]. mul #4 turns an adjoint of 1 into nan at [0, 0]:\n"
        "its factor C is nan.\n");
}

TEST_CASE("explain: a number that is not finite, in another branch, is not the cause") {
  // where() takes the other branch wherever log is -inf, and neither its value nor its slope comes
  // through.
  MicroTape tape;
  const Var x = tape.leaf(f64({0, 2}), "x");
  const Var is_positive = greater(x, f64({0, 0})), l = log(x), safe = where(is_positive, l, 0.0);
  CHECK(explain(tape, x, sum(safe)) ==
        "dx [2], the gradient of #5, is 0 in 1 of 2 entries, the first at [0].\n"
        "where #4 stops the adjoint at [0]: its mask #2 is 0; where chose its b there.\n");
  // The square root after it has its pole at the 0 that was put in.
  CHECK(explain(tape, x, sum(sqrt(safe))) ==
        "dx [2], the gradient of #7, is 0 in 1 of 2 entries, the first at [0].\n"
        "where #4 stops the adjoint at [0]: its mask #2 is 0; where chose its b there.\n");
  CHECK(explain(tape, safe, sum(sqrt(safe))) ==
        "d#4 [2], the gradient of #9, is not finite: inf at [0].\n"
        "sqrt #8 turns an adjoint of 1 into inf at [0]: its input #4 is 0.\n");
}

TEST_CASE("explain: the first rule that spoils, not one that would have later") {
  // Going back, sqrt makes inf at 0; exp, of an infinite result, would make it of any adjoint.
  MicroTape tape;
  const Var x = tape.leaf(f64({800, 1}), "x");
  const Var e = exp(x).named("e"), zero = (0 * x).named("zero");
  sum(e * sqrt(zero)).named("L");
  CHECK(explain(tape, zero) ==
        "dzero [2], the gradient of L #5, is not finite: inf at [0], the first of 2.\n"
        "exp e #1 makes inf of 800 at [0]. mul #4 turns an adjoint of 1 into inf at [0]:\n"
        "its factor e is inf.\n");
}
