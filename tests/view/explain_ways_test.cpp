// What explain() says where several ways lead from y to x: what cancels, and which cause it tells.

#include <microtape/tape/view/explain.hpp>

#include <microtape/tape/ops.hpp>

#include "testing.hpp"
#include "view/explain_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("explain: contributions that sum to 0") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}), "x"), w = tape.leaf(f64(3), "w");
  const Var once = -x, twice = -2 * x, thrice = 3 * x, part = once + twice;
  CHECK(explain(tape, x, sum(part + thrice).named("L")) ==
        "dx [2], the gradient of L #7, is 0 everywhere.\n"
        "What comes to leaf x #0 at [0] cancels: 3 from scale #4, -2 from scale #3, -1\n"
        "from neg #2.\n");
  // What is 0 from the start is not named.
  const Var none = relu(-square(x)), rest = none + once;
  CHECK(explain(tape, x, sum(rest + x)) ==
        "dx [2], the gradient of #13, is 0 everywhere.\n"
        "What comes to leaf x #0 at [0] cancels: 1 from add #12, -1 from neg #2.\n");
  // Inside of a rule: that of broadcast_to adds up 1 and -1.
  const Var signs = tape.constant(f64({1, -1}));
  CHECK(explain(tape, w, sum(w * signs).named("L")) ==
        "dw [], the gradient of L #17, is 0.\n"
        "The numbers that broadcast_to #15 adds up for w cancel: their sum is 0.\n");
}

TEST_CASE("explain: of two causes on one way, the one nearer to y is told") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}), "x");
  sum(relu(-x)) * 0;
  CHECK(stop_in(explain(tape, x)) == "scale: its factor is 0; 0 times an adjoint is 0");
  // Neither lets anything pass, so that nothing can be tried.
  const Var row = reshape(x, {1, 2}), w = tape.constant(Tensor::zeros({2, 2}, float64));
  CHECK(stop_in(explain(tape, x, sum(matmul(row, w)) * 0)) ==
        "scale: its factor is 0; 0 times an adjoint is 0");
  sum(relu(-(x * 0)));
  CHECK(stop_in(explain(tape, x)) ==
        "relu everywhere: its input #11 is 0; relu passes only what is above 0 "
        "(it is dead there)");
}

TEST_CASE("explain: of two causes at one entry, the one nearer to y is told, or that stops all") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, -2, -3}), "x"), h = relu(x);
  const Var z = tape.constant(f64({1, 0, 0}), "Z");
  sum(h * z);
  CHECK(explain(tape, x) ==
        "dx [3], the gradient of #4, is 0 in 2 of 3 entries, the first at [1].\n"
        "mul #3 stops the adjoint at [1]: its factor Z is 0; 0 times an adjoint is 0.\n");
  const Var minus = -square(x), dead = relu(minus);
  sum(dead * z);
  CHECK(stop_in(explain(tape, x)) ==
        "relu everywhere: its input #6 is between -9 and -1; relu passes only "
        "what is above 0 (it is dead there)");
}

TEST_CASE("explain: of several ways, the first to end is told, and where the others do") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}), "x"), h = -x;
  const Var a = relu(h), b = x * 0, c = clamp(x, -1, 0), d = detach(x);
  const Var e = a + b, f = c + d;
  sum(e + f).named("L");
  CHECK(explain(tape, x) ==
        "dx [2], the gradient of L #9, is 0 everywhere.\n"
        "clamp #4 stops the adjoint everywhere: its input x is between 1 and 2, its lower\n"
        "bound is -1, its upper bound is 0; clamp passes nothing outside of its bounds.\n"
        "Other ways end at scale #3, relu #2.\n");
  // That a slice takes another part is a cause only if there is no other.
  const Var none = x * 0, part = slice(x, 0, 1, 2), same = slice(x, 0, 0, 1), minus = -same;
  const Var both = concat({same, minus, none}, 0);
  CHECK(explain(tape, x, sum(both)) ==
        "dx [2], the gradient of #15, is 0 everywhere.\n"
        "What comes to slice #12 at [0] cancels: 1 from concat #14, -1 from neg #13.\n"
        "Other ways end at scale #10.\n");
  CHECK(explain(tape, x, sum(part)) ==
        "dx [2], the gradient of #16, is 0 in 1 of 2 entries, the first at [0].\n"
        "slice #11 stops the adjoint at [0] of x: slice takes another part.\n");
}

TEST_CASE("explain: no more than four ends are named, each once") {
  MicroTape tape;
  const Var x = tape.leaf(f64(0), "x"), low = x - 1;
  const Var a = x * x, b = relu(low), c = x * 0, d = abs(x), e = square(x), f = clamp(x, 1, 2);
  const Var ab = a + b, cd = c + d, ef = e + f, abcd = ab + cd;
  CHECK(explain(tape, x, abcd + ef) ==
        "dx [], the gradient of #12, is 0.\n"
        "clamp #7 stops the adjoint: its input x is 0, its lower bound is 1, its upper\n"
        "bound is 2; clamp passes nothing outside of its bounds. Other ways end at square\n"
        "#6, abs #5, scale #4 and 2 more.\n");
  CHECK(explain(tape, x, a + f) ==
        "dx [], the gradient of #13, is 0.\n"
        "clamp #7 stops the adjoint: its input x is 0, its lower bound is 1, its upper\n"
        "bound is 2; clamp passes nothing outside of its bounds. Other ways end at mul\n"
        "#2.\n");
}

TEST_CASE("explain: the part of an op that belongs to another input is not the cause") {
  // Of the two halves of a concat only the other one gets an adjoint; that of x ends at the where.
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}), "x"), other = tape.leaf(f64({3, 4}), "other");
  const Var both = concat({other, x}, 0);
  sum(where(i64({1, 1, 0, 0}), both, 0));
  CHECK(stop_in(explain(tape, x)) ==
        "where at [2] and 1 more: its mask #3 is 0; where chose its b there");
  // Here two hidden numbers of four are dead, and dropout has dropped the other two.
  const Var w = tape.constant(f64({{1, 1, -1, -1}, {1, 1, -1, -1}}));
  const Var z = tape.constant(f64({{0, 0, 2, 2}}), "Z");
  const Var row = reshape(x, {1, 2}), h = matmul(row, w), r = relu(h);
  sum(r * z);
  CHECK(stop_in(explain(tape, x)) ==
        "mul at [0, 0] and 1 more: its factor Z is 0; 0 times an adjoint is 0. Other ways end at "
        "relu #10");
}

TEST_CASE("explain: entries of a user that x does not reach are no cause") {
  // Numbers 0 and 1 of three are dead, and number 2, which x does not reach, is masked later.
  MicroTape tape;
  const Var x = tape.leaf(f64({{1, 2}}), "x"), w = tape.constant(f64({{-1, -1, 0}, {-1, -1, 0}}));
  const Var bias = tape.leaf(f64({{0, 0, 1}}), "b"), h = matmul(x, w) + bias, r = relu(h);
  sum(where(i64({{1, 1, 0}}), r, 0));
  CHECK(stop_in(explain(tape, x)) ==
        "relu at [0, 0] and 1 more: its input #4 is -3; relu passes only what is "
        "above 0 (it is dead there)");
  // The same with a concat, and with so many numbers that they are not tried one by one.
  const Var many = tape.leaf(Tensor::full({300}, -1, float64), "many");
  const Var other = tape.leaf(Tensor::full({300}, 1, float64), "other");
  const Var both = concat({other, many}, 0), alive = relu(both);
  const Tensor mask =
      concat({Tensor::zeros({300}, int64), Tensor::full({300}, 1, int64)}, 0).value();
  sum(where(mask, alive, 0));
  CHECK(stop_in(explain(tape, many)) ==
        "relu at [300] and 299 more: its input #11 is -1; relu passes only what is above 0 (it is "
        "dead there)");
}

TEST_CASE("explain: a rule that is not linear") {
  // It passes nothing unless more than one adjoint arrives.
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2, 3}), "x");
  const auto shy = [](const Var& g) { return g * step(sum(sign(g)) - 1.5); };
  const auto twice = [shy](const Var& g) { return 2 * shy(g); };
  const Var a = record({"shy", ""}, [&] { return x.value(); }, {{"x", x, "", twice}});
  const Var b = record({"shy", ""}, [&] { return x.value(); }, {{"x", x, "", shy}});
  CHECK(stop_in(explain(tape, x, slice(a, 0, 0, 1))) ==
        "shy everywhere: its rule for x gives 0 there");
  CHECK(stop_in(explain(tape, x, slice(b, 0, 0, 1))) ==
        "slice at [1] and 1 more of #2: slice takes another part");
}

TEST_CASE("explain follows one entry to where it ends, and not another") {
  MicroTape tape;
  const Var x = tape.leaf(f64({{1, 2}, {3, 4}}), "x");
  // Row 0 of h ends nowhere, row 1 at the clamp, in part.
  const Var h = transpose(x);
  const Var first = slice(h, 0, 0, 1), second = slice(h, 0, 1, 2);
  const Var a = relu(first), b = clamp(second, 3, 9);
  sum(concat({a, b}, 0));
  CHECK(explain(tape, x) ==
        "dx [2, 2], the gradient of #7, is 0 in 1 of 4 entries, the first at [0, 1].\n"
        "clamp #5 stops the adjoint at [0, 0]: its input #3 is 2, its lower bound is 3,\n"
        "its upper bound is 9; clamp passes nothing outside of its bounds.\n");
}

TEST_CASE("explain: no line is wider than 80 columns and no text longer than six") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}), std::string(100, 'x') + "\nnew");
  const Scope outer = tape.scope(std::string(100, 'o')), inner = tape.scope("ünïcödé");
  const Var h = (-x).named(std::string(90, 'h'));
  const Var a = relu(h), b = x * 0, c = clamp(x, -1, 0), d = a + b;
  sum(c + d).named(std::string(90, 'L'));
  const std::string text = explain(tape, x);
  CHECK(widest(text) <= 80);
  CHECK(std::count(text.begin(), text.end(), '\n') == 6);
  CHECK(text.find("Other ways end at scale #3, relu #2.") != std::string::npos);
}
