// What explain() says of gradients that are missing, and of those that are fine.

#include <microtape/tape/view/explain.hpp>

#include <microtape/tape/checkpoint.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"
#include "view/explain_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

// --- there is no gradient ------------------------------------------------------------------------

TEST_CASE(
    "explain: what is plain, a constant or made of constants has none, and is told what to do") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}), "x"), c = tape.constant(f64({3, 4}), "c");
  const Var y = sum(x * c).named("L");
  CHECK(explain(tape, f64({1, 2})) ==
        "x [2] has no gradient: it is plain, and stands on no tape.\n"
        "To have one it must be a leaf: tape.leaf(), or tape.watch() for a parameter.\n");
  CHECK(explain(tape, c, y) ==
        "c [2] has no gradient: it is a constant.\n"
        "To have one it must be a leaf: tape.leaf(), or tape.watch() for a parameter.\n");
  CHECK(explain(tape, c + c, y) ==
        "#4 [2] has no gradient: it is made of constants only.\n"
        "Make one of them a leaf.\n");
}

TEST_CASE("explain: what detach, argmax or one_hot made has none, and is told whom to ask about") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}), "x");
  const Scope scope = tape.scope("head");
  const Var frozen = detach(x), label = argmax(x), target = one_hot(label, 2, float64).named("t");
  const Var y = sum(x * target);
  CHECK(explain(tape, frozen, y) ==
        "#1 [2] has no gradient: it is made by detach #1 in head, which passes no adjoint\n"
        "back to its input x.\n"
        "Ask about x instead.\n");
  CHECK(explain(tape, label, y) ==
        "#2 [] has no gradient: it is made by argmax #2 in head, which passes no adjoint\n"
        "back to its input x.\n"
        "Ask about x instead.\n");
  CHECK(explain(tape, target, y) ==
        "t [2] has no gradient: it is made by argmax #2 in head, which passes no adjoint\n"
        "back to its input x.\n"
        "Ask about x instead.\n");
}

TEST_CASE("explain: no way from x to y") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}), "x"), z = tape.leaf(f64({3, 4}), "z");
  const Var other = exp(z), y = sum(x).named("L"), late = tape.leaf(f64(1), "late");
  CHECK(explain(tape, z, y) ==
        "dz [2], the gradient of L #3, is missing.\n"
        "L #3 does not depend on z: no way leads from one to the other.\n");
  CHECK(explain(tape, other, y) ==
        "d#2 [2], the gradient of L #3, is missing.\n"
        "L #3 does not depend on #2: no way leads from one to the other.\n");
  CHECK(explain(tape, late, y) ==
        "dlate [], the gradient of L #3, is missing.\n"
        "L #3 was computed before late, and cannot depend on it.\n");
  CHECK(explain(tape, x, f64(1)) == "y is plain, and stands on no tape: it depends on nothing.\n");
  CHECK(explain(tape, x, tape.constant(f64(1), "c")) ==
        "dx [2], the gradient of c #5, is missing.\n"
        "c #5 does not depend on x: no way leads from one to the other.\n");
}

TEST_CASE("explain: every way from x to y goes through an input without an adjoint") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}), "x"), w = tape.leaf(f64({3, 4}), "w");
  const Scope scope = tape.scope("block");
  const Var h = exp(x);
  CHECK(explain(tape, x, sum(detach(h) * w).named("L")) ==
        "dx [2], the gradient of L #5, is missing.\n"
        "L #5 depends on x only through detach #3 in block, which passes no adjoint back\n"
        "to its input x.\n");
  // A mask: where() chooses by it, and is not differentiated by it.
  CHECK(explain(tape, x, sum(where(greater(h, w), w, 0)).named("L")) ==
        "dx [2], the gradient of L #8, is missing.\n"
        "L #8 depends on x only through greater #6 in block, which passes no adjoint back\n"
        "to its input a.\n");
  // Two such inputs, and a y without any adjoint.
  const Var frozen = detach(h), label = argmax(h), target = one_hot(label, 2, float64);
  CHECK(explain(tape, x, sum(frozen * target).named("L")) ==
        "dx [2], the gradient of L #13, is missing.\n"
        "L #13 depends on x only through argmax #10 in block, which passes no adjoint\n"
        "back to its input x, and 1 more of that kind.\n");
}

TEST_CASE("explain: a way through detach is not the cause where another is open or cut elsewhere") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}), "x"), frozen = detach(x), h = -x;
  CHECK(explain(tape, x, sum(frozen * x)) ==
        "dx [2], the gradient of #4, is finite and nowhere zero: smallest |.| 1, largest\n"
        "2.\n");
  CHECK(explain(tape, x, sum(frozen * relu(h))) ==
        "dx [2], the gradient of #7, is 0 everywhere.\n"
        "relu #5 stops the adjoint everywhere: its input #2 is between -2 and -1; relu\n"
        "passes only what is above 0 (it is dead there).\n");
}

TEST_CASE("explain refuses a training tape and a Var of another tape, and needs an op") {
  MicroTape needed(Keep::needed), tape, other;
  const Var x = needed.leaf(f64(1)), here = tape.leaf(f64(1)), there = other.leaf(f64({1, 2}));
  CHECK_THROWS_MATCHES(explain(needed, x, x), TapeError,
      says("explain: the tape kept no values to look at: it is Keep::needed; use "
           "Keep::everything"));
  CHECK_THROWS_AS(explain(needed, x), TapeError);
  CHECK_THROWS_MATCHES(explain(tape, there, here), TapeError,
      says("explain: x stands on another tape: x [2]; give the tape that it was computed on"));
  CHECK_THROWS_MATCHES(explain(tape, here, there), TapeError,
      says("explain: y stands on another tape: y [2]; give the tape that it was computed on"));
  CHECK_THROWS_MATCHES(explain(tape, here), TapeError,
      says("explain: there is nothing to differentiate: the tape has no op; compute y"));
  CHECK_THROWS_AS(explain(tape, Var(), here), ValueError);
}

// --- it is fine ----------------------------------------------------------------------------------

TEST_CASE("explain: y is the op that was computed last, and the sum of it if it is no scalar") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, -2}), "x");
  const Var y = (x * f64({{3, 4}, {5, -0.5}})).named("C");
  tape.constant(f64(0));
  const std::string text =
      "dx [2], the gradient of the sum of C #3 [2, 2], is finite and nowhere zero:\n"
      "smallest |.| 3.5, largest 8.\n";
  CHECK(explain(tape, x) == text);
  CHECK(explain(tape, x, y) == text);
  CHECK(explain(tape, y) ==
        "dC [2, 2], the gradient of the sum of C #3 [2, 2], is finite and nowhere zero:\n"
        "smallest |.| 1, largest 1.\n");
  const Var none = tape.leaf(Tensor::zeros({0, 3}), "none");
  CHECK(explain(tape, none, sum(none)) ==
        "dnone [0, 3], the gradient of #6, is empty: there are no numbers.\n");
}

TEST_CASE("explain leaves the tape as it was, and says the same again") {
  MicroTape tape;
  const Var x = tape.leaf(f64({{1, 2}, {3, -4}}), "x");
  const Scope scope = tape.scope("s");
  const Var y = sum(softmax(relu(x)));
  const NodeId size = tape.size();
  const std::string first = explain(tape, x);
  CHECK(tape.size() == size);
  CHECK(tape.current_scope() == 1);
  CHECK(tape.is_recording());
  CHECK(explain(tape, x, y) == first);
}

TEST_CASE("explain: a rule that gives an adjoint in several parts is one way") {
  MicroTape tape;
  const Var x = tape.leaf(f64({-1, 2}), "x");
  const Var h = relu(x).named("h");
  const Var y = checkpoint([](std::span<const Var> in) { return in[0] * in[0] + in[0]; }, {h});
  CHECK(explain(tape, x, sum(y).named("L")) ==
        "dx [2], the gradient of L #3, is 0 in 1 of 2 entries, the first at [0].\n"
        "relu h #1 stops the adjoint at [0]: its input x is -1; relu passes only what is\n"
        "above 0 (it is dead there).\n");
}

TEST_CASE("explain: a product whose factor is not 0 is not said to have a factor of 0") {
  // Bug: of a matrix with different numbers nothing was looked at, and so the law seemed to hold.
  MicroTape tape;
  const Var x = tape.leaf(f64({{1, 2}}), "x"), b = tape.leaf(f64({{1, 2}, {3, 4}}), "b");
  const std::string text = explain(tape, x, sum(matmul(x, b, {0})));
  INFO(text);
  CHECK(text.find("is 0 everywhere") != std::string::npos);
  CHECK(text.find("all that it is multiplied with is 0") == std::string::npos);
}

TEST_CASE("explain: an op of one's own that is called matmul, and is none, is not looked into") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2, 3}), "x"), k = tape.constant(f64({{1, 2}, {3, 4}}), "k");
  const Var y = record({"matmul", "@a"}, [&] { return Tensor::zeros({2, 2}, float64); },
      {
          {"a", x, "0 @a", [x](const Var&) { return 0 * x; }},
          {"b", k},
      });
  CHECK(explain(tape, x, sum(y)).find("is 0 everywhere") != std::string::npos);
}
