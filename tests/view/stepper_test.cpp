#include <microtape/tape/view/stepper.hpp>

#include <sstream>

#include <microtape/layers/attention.hpp>
#include <microtape/tape/checkpoint.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// L = a b with a = x^2 and b = tanh x, and what nothing needs after it.
struct Diamond {
  MicroTape tape;
  Var x = tape.leaf(f64(2), "x");
  Var a = square(x).named("a");
  Var b = tanh(x).named("b");
  Var y = (a * b).named("L");
  Var after = exp(y);
  Stepper stepper{tape, y, f64(1)};
};

}  // namespace

TEST_CASE("a stepper goes through every node and every rule, and shows the same on the way back") {
  Diamond d;
  CHECK(d.stepper.size() == 7);
  std::vector<std::string> seen{d.stepper.show()};
  for (std::size_t i = 1; i <= 7; ++i) {
    seen.push_back(d.stepper.command(i % 2 ? "" : "next"));
    CHECK(d.stepper.position() == i);
    CHECK(seen[i] != seen[i - 1]);
    CHECK(seen[i] == d.stepper.show());
  }
  CHECK(contains(seen[2], "Step 2 of 7, forward: a = x^2"));
  CHECK(contains(seen[5], "Step 5 of 7, backward: from dL through L = a * b"));
  CHECK(d.stepper.command("n") == "This was the last step; `back` and `start` go back.\n");
  for (std::size_t i = 7; i-- > 0;) CHECK(d.stepper.command("b") == seen[i]);
  CHECK(d.stepper.command("back") == seen[0]);
  CHECK(d.stepper.command("n 6") == seen[6]);
  CHECK(d.stepper.command("  back   4 \r\n") == seen[2]);
  CHECK(d.stepper.command("end") == seen[7]);
  CHECK(d.stepper.command("start") == seen[0]);
  CHECK(d.stepper.command("n 99999999999999") == seen[7]);
  CHECK(d.tape.size() == 5);  // the tape did not grow
}

TEST_CASE("run stops where a value is computed or an adjoint complete, forward and back") {
  Diamond d;
  d.stepper.command("run b");
  CHECK(d.stepper.position() == 3);
  d.stepper.command("run dx");
  CHECK(d.stepper.position() == 7);
  d.stepper.command("run da");
  CHECK(d.stepper.position() == 5);
  d.stepper.command("run dL");  // the seed: complete when the forward half is
  CHECK(d.stepper.position() == 4);
  d.stepper.command("run #1");
  CHECK(d.stepper.position() == 2);
  d.stepper.command("run d#0");
  CHECK(d.stepper.position() == 7);
  d.stepper.command("run 0");
  CHECK(d.stepper.position() == 1);
  d.stepper.command("run");
  CHECK(d.stepper.position() == 7);
}

TEST_CASE("what is not there yet is told with the step that brings it") {
  Diamond d;
  CHECK(d.stepper.command("print L") == "  L is computed in step 4.\n");
  CHECK(d.stepper.command("print dx") == "  dx is not there yet; it is complete in step 7.\n");
  d.stepper.command("n 4");
  CHECK(d.stepper.command("p L") == "  L = 3.856\n");
  CHECK(d.stepper.command("a L") == "  dL = 1\n");
  d.stepper.command("n 2");
  CHECK(d.stepper.command("a x") == "  dx = 0.2826\n  (it gets more until step 7)\n");
  d.stepper.command("n");
  CHECK(d.stepper.command("p dx") == "  dx = 4.139\n");
}

TEST_CASE("a rule is shown with numbers in place of names, where they are few") {
  Diamond d;
  d.stepper.command("run a");
  CHECK(d.stepper.command("rule") == "  a = x^2\n    = 2^2\n    = 4\n");
  d.stepper.command("run dx");
  CHECK(
      d.stepper.command("r") == "  added to dx = 2 da * x\n    = 2 * 0.964028 * 2\n    = 3.856\n");
  d.stepper.command("start");
  CHECK(d.stepper.command("rule") == "This is before the first step; `next` takes it.\n");
  d.stepper.command("n");
  CHECK(d.stepper.command("rule") == "  x is a leaf; no op computed it.\n");

  MicroTape tape;
  const Var wide = tape.leaf(ramp({3, 6}), "X"), k = tape.leaf(f64({1, 2}), "k");
  const Var all = sum(wide), both = sum(k);  // #2, #3
  Stepper stepper(tape, all * both, f64(1));
  stepper.command("run #2");
  CHECK(contains(stepper.command("rule"), "= sum(X)\n    = 171\n"));
  stepper.command("run #3");
  CHECK(contains(stepper.command("rule"), "= sum([1 2])\n    = 3\n"));
}

TEST_CASE("the Jacobian of a softmax is diag(p) - p p^T, one that is too large is not shown") {
  MicroTape tape;
  const Var z = tape.leaf(f64({0, std::log(3.0)}), "z");
  const Var p = softmax(z).named("p");
  const Var wide = tape.leaf(ramp({4, 5}), "X");
  const Var e = exp(wide);  // #3
  Stepper stepper(tape, sum(e) * e, Tensor::full({4, 5}, 1, float64));
  CHECK(stepper.command("jacobian p") ==
        "  the derivatives of p by z, [2, 2]:\n    [[ 0.1875 -0.1875]\n     [-0.1875  0.1875]]\n");
  CHECK(stepper.command("j #3") == "  the derivatives of #3 by X, [20, 20]: too many to show\n");
  CHECK(stepper.command("j z") == "  z is a leaf; it has no derivatives by inputs.\n");
  CHECK(stepper.command("j") == "This is before the first step; `next` takes it.\n");
}

TEST_CASE("the Jacobian by an input that stands twice is one, that of a checkpoint too") {
  // Bug: a row was printed for each contribution.
  MicroTape tape;
  const Var x = tape.leaf(f64({2, 3}), "x");
  const Var y = (x * x).named("y");
  const auto f = [](std::span<const Var> in) { return in[0] * in[0]; };
  const Var z = checkpoint(f, {y}).named("z");
  Stepper stepper(tape, z, f64({1, 1}));
  CHECK(
      stepper.command("j y") == "  the derivatives of y by x, [2, 2]:\n    [[4 0]\n     [0 6]]\n");
  CHECK(stepper.command("j z") ==
        "  the derivatives of z by y, [2, 2]:\n    [[8  0]\n     [0 18]]\n");
  stepper.command("end");
  CHECK(contains(stepper.show(), "dx = "));
  stepper.command("run dy");
  CHECK(contains(stepper.command("rule"), "added to dy = the rule of x\n"));
}

TEST_CASE("what is watched is shown after each step until it is not") {
  Diamond d;
  CHECK(d.stepper.command("watch db") == "  db is not there yet; it is complete in step 5.\n");
  d.stepper.command("watch db");  // once is enough
  d.stepper.command("w a");
  CHECK(contains(d.stepper.command("run dL"),
      "  watched:\n  db is not there yet; it is complete in step 5.\n  a = 4\n"));
  CHECK(contains(d.stepper.command("n"), "  watched:\n  db = 4\n  a = 4\n"));
  CHECK(d.stepper.command("unwatch db").empty());
  CHECK(d.stepper.command("u db") == "Nothing called \"db\" is watched.\n");
  CHECK(contains(d.stepper.command("n"), "  watched:\n  a = 4\n"));
}

TEST_CASE("a name is found as it is shown") {
  // Bug: one with a line end, which is shown as a space, could not be typed.
  MicroTape tape;
  const Var y = exp(tape.leaf(f64(0), "a\nb"));
  Stepper stepper(tape, y, f64(1));
  CHECK(
      stepper.command("end").starts_with("Step 3 of 3, backward: from d#1 through #1 = exp(a b)"));
  CHECK(stepper.command("print a b") == "  a b = 0\n");
  CHECK(stepper.command("print da b") == "  da b = 1\n");
}

TEST_CASE("what a stepper does not understand it says, and stays") {
  Diamond d;
  d.stepper.command("n 3");
  const std::string names = "; the names are x, a, b, L.\n";
  CHECK(d.stepper.command("print Z") == "There is no node Z" + names);
  CHECK(d.stepper.command("print dZ") == "There is no node dZ" + names);
  CHECK(d.stepper.command("run #4") == "There is no node #4" + names);  // after y
  CHECK(d.stepper.command("print d") == "There is no node d" + names);
  CHECK(d.stepper.command("n \x1b[2J") == "\" [2J\" is no number of steps\n");
  CHECK(d.stepper.command("print") == "Which node? Give a name, or a number such as #4.\n");
  CHECK(d.stepper.command("n many") == "\"many\" is no number of steps\n");
  CHECK(
      d.stepper.command("frob\x1b[2J") == "There is no command \"frob [2J\"; `help` lists them.\n");
  // Bug: the whole of a word of five million letters came back.
  const std::string long_word(1000, 'x');
  CHECK(d.stepper.command(long_word) ==
        "There is no command \"" + std::string(39, 'x') + "…\"; `help` lists them.\n");
  CHECK(d.stepper.command("print " + long_word) ==
        "There is no node " + std::string(39, 'x') + "…" + names);
  CHECK(d.stepper.position() == 3);
  CHECK_FALSE(d.stepper.has_quit());
  CHECK(d.stepper.command("quit").empty());
  CHECK(d.stepper.has_quit());
}

TEST_CASE(
    "names that begin with d or belong to a recorded backward pass are found, a double is "
    "refused") {
  MicroTape tape;
  const Var d = tape.leaf(f64(3), "d"), one = tape.leaf(f64(4), "W"), two = tape.leaf(f64(5), "W");
  const Var y = (d * one * two).named("küçük y");
  Stepper stepper(tape, y, f64(1));
  stepper.command("end");
  CHECK(stepper.command("print d") == "  d = 3\n");
  CHECK(stepper.command("print dd") == "  dd = 20\n");
  CHECK(stepper.command("print küçük y") == "  küçük y = 60\n");
  CHECK(stepper.command("print W") ==
        "Several nodes are called W, #1, #2 among them: give the number.\n");
  CHECK(stepper.command("print d#2") == "  dW = 12\n");

  MicroTape twice;
  const Var x = twice.leaf(f64(3), "x");
  const Var dx = backward((x * x * x).named("y"), Record::yes)[x];
  Stepper second(twice, dx, f64(1));
  second.command("end");
  CHECK(second.command("print dx") == "  dx = 27\n");  // the node
  CHECK(second.command("adjoint x") == "  dx = 18\n");
}

TEST_CASE("a stepper wants a tape that keeps everything, and a y on it") {
  MicroTape needed(Keep::needed), tape, other;
  const Var x = needed.leaf(f64(1)), y = tape.leaf(f64(1)), z = other.leaf(f64(1));
  CHECK_THROWS_MATCHES(Stepper(needed, exp(x), f64(1)), TapeError,
      says("Stepper: the tape is Keep::needed: it does not have all numbers; step over a "
           "Keep::everything tape"));
  CHECK_THROWS_MATCHES(Stepper(tape, exp(z), f64(1)), TapeError,
      says("Stepper: y is not on this tape; give the tape that it was computed on"));
  CHECK_THROWS_AS(Stepper(tape, exp(y), f64({1, 2})), ShapeError);
  CHECK_THROWS_AS(Stepper(tape, f64(1), f64(1)), TapeError);
}

TEST_CASE("colours are escape sequences around what is there without them") {
  Diamond d;
  Stepper coloured(d.tape, d.y, f64(1), Colour::yes);
  for (const char* command : {"", "n 4", "list", "run dx", "rule", "jacobian", "help"}) {
    std::string text = coloured.command(command);
    const bool has_heading = !contains("rule jacobian help", command) || *command == 0;
    CHECK(contains(text, "\x1b[1m") == has_heading);
    for (const std::string code : {"\x1b[1m", "\x1b[0m"})
      for (std::size_t at; (at = text.find(code)) != text.npos;) text.erase(at, code.size());
    CHECK(text == d.stepper.command(command));
  }
}

TEST_CASE("every line of a whole MultiHeadAttention's steps fits into 80 columns, help too") {
  MultiHeadAttention attention(8, 2, 0, true, {.dtype = float64});
  MicroTape tape;
  const Var x = tape.leaf(Tensor::randn({1, 3, 8}, 1, float64), "X");
  Stepper stepper(tape, attention(x), Tensor::randn({1, 3, 8}, 2, float64));
  const auto check_lines = [](const std::string& text) {
    for (const std::string& line : lines(text)) {
      INFO(line);
      CHECK(line.size() <= 80);
    }
  };
  check_lines(Stepper::help());
  CHECK(lines(Stepper::help()).size() <= 24);
  while (stepper.position() < stepper.size()) {
    check_lines(stepper.command("n"));
    check_lines(stepper.command("rule"));
  }
  check_lines(stepper.command("list"));
}
