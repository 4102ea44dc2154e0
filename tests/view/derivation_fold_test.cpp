// What a derivation names, folds and leaves out.

#include <microtape/layers/mlp.hpp>
#include <microtape/layers/transformer.hpp>
#include <microtape/tape/record.hpp>
#include <microtape/tape/view/derivation.hpp>
#include <microtape/tape/view/utf8.hpp>

#include "view/derivation_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0, start = 0;
  for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    longest = std::max(longest, utf8::display_width(text.substr(start, end - start)));
  return longest;
}

}  // namespace

TEST_CASE("a node without a name is folded if it is used once, and numbered if twice") {
  MicroTape tape;
  const Var a = tape.leaf(normal({2, 3}, 1), "A"), b = tape.leaf(normal({2, 3}, 2), "B");
  const Var sum = a + b, twice = exp(a);
  CHECK(derived(tape, (sum * twice - twice).named("Y")) == R"(#3 = exp(A)
Y = (A + B) * #3 - #3
given dY:
dB = dY * #3
d#3 = dY * (A + B) - dY
dA = dY * #3 + d#3 * #3
)");
}

TEST_CASE("folded operands have parentheses where they need them") {
  MicroTape tape;
  const Var a = tape.leaf(normal({3, 3}, 1), "A"), b = tape.leaf(normal({3, 3}, 2), "B"),
            x = tape.leaf(normal({3, 3}, 3), "X");
  CHECK(derived(tape, (a - (b - (a + x) * matmul(b, x + a))).named("Y")) ==
        R"(Y = A - (B - (A + X) * (B (X + A)))
given dY:
dB = -dY + (dY * (A + X)) (X + A)^T
dX = dY * (B (X + A)) + B^T (dY * (A + X))
dA = dY + dY * (B (X + A)) + B^T (dY * (A + X))
)");
}

TEST_CASE("what y does not depend on is left out") {
  MicroTape tape;
  const Var x = tape.leaf(normal({3}, 1), "x"), other = tape.leaf(normal({3}, 2), "other");
  const Var h = exp(x).named("h");
  (h * other).named("aside");
  CHECK(derived(tape, (h * h).named("y")) == R"(h = exp(x)
y = h * h
given dy:
dh = dy * h + dy * h
dx = dh * h
)");
}

TEST_CASE("inactive nodes have values and no adjoints") {
  MicroTape tape;
  const Var x = tape.leaf(normal({3}, 1), "x"), c = tape.constant(normal({3}, 2), "c");
  const Var k = exp(c).named("k");
  CHECK(derived(tape, (x * k * detach(x)).named("y")) == R"(k = exp(c)
y = x * k * detach(x)
given dy:
dx = dy * detach(x) * k
)");
}

TEST_CASE("y may be an inner node, a leaf, or without a name") {
  MicroTape tape;
  const Var x = tape.leaf(normal({2}, 1), "x");
  const Var h = exp(x), y = sum(h * h).named("L");
  CHECK(derived(tape, h) == "#1 = exp(x)\ngiven d#1:\ndx = d#1 * #1\n");
  CHECK(derived(tape, x) == "given dx:\n");
  CHECK(derived(tape, y) ==
        "#1 = exp(x)\nL = sum(#1 * #1)\ngiven dL = 1:\nd#1 = dL * #1 + dL * #1\ndx = d#1 * #1\n");
}

TEST_CASE("nodes of one name are told apart by their numbers, adjoints too") {
  MicroTape tape;
  const Var x = tape.leaf(normal({2}, 1), "x"), dx = tape.leaf(normal({2}, 2), "dx");
  const Var h = exp(x).named("h", "\\tilde h");
  const Var y = (tanh(h).named("h") * dx).named("y");
  CHECK(derived(tape, y) == R"(h#2 = exp(x)
h#3 = tanh(h#2)
y = h#3 * dx#1
given dy:
dh#3 = dy * dx#1
ddx#1 = dy * h#3
dh#2 = dh#3 * (1 - h#3^2)
dx = dh#2 * h#2
)");
  const std::string latex = to_latex(derivation(tape, y));
  CHECK(latex.find(R"({\tilde h}_{\#2} &= \operatorname{exp})") != std::string::npos);
  CHECK(latex.find(R"({h}_{\text{\#3}} &= \operatorname{tanh})") != std::string::npos);
}

TEST_CASE("a name that looks like a number of another node does not stand for it") {
  MicroTape tape;
  const Var x = tape.leaf(normal({2}, 1), "#2"), b = tape.leaf(normal({2}, 2), "Q#3");
  const Var h = exp(x);  // #2
  const Var q = tanh(b * h).named("Q"), other = exp(h).named("Q");
  derived(tape, (q * other * h).named("y"));
}

TEST_CASE("a line over 80 columns gets names for what is folded into it") {
  MicroTape tape;
  Mlp mlp(5, 7, 3, {.dtype = float64, .seed = 1});
  const Var y = mlp(tape.leaf(normal({2, 4, 5}, 1), "X")).named("Y");
  CHECK(derived(tape, y) == R"(#5 = X W_1^T + b_1
Y = (#5 * Phi(#5)) W_2^T + b_2
given dY:
d#5 = (dY W_2) * (Phi(#5) + #5 * phi(#5))
dW_2 = dY^T (#5 * Phi(#5))
db_2 = sum[axes 0, 1](dY)
dX = d#5 W_1
dW_1 = d#5^T X
db_1 = sum[axes 0, 1](d#5)
)");
}

TEST_CASE("only a sum of many names stays longer than 80 columns") {
  MicroTape tape;
  const Var x = tape.leaf(normal({3, 3}, 1), "a_rather_long_name");
  std::vector<Var> parts;
  for (int i = 0; i < 6; ++i) parts.push_back(tanh(matmul(x, x) * double(i)));
  const std::string lines = derived(tape, (concat(parts, 0)).named("Y"));
  const std::size_t last = lines.rfind('\n', lines.size() - 2) + 1;
  CHECK(longest_line(lines.substr(0, last)) <= 80);
  CHECK(lines.substr(last).starts_with("da_rather_long_name = d#16 a_rather_long_name^T + "));
}

TEST_CASE("a chain of additions is cut into lines of 80 columns") {
  MicroTape tape;
  Var y = tape.leaf(normal({}, 1), "x");
  for (int i = 0; i < 100; ++i) y = y + 1;
  const std::string lines = derived(tape, y);
  CHECK(longest_line(lines) <= 80);
  CHECK(
      lines.starts_with("#18 = x + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + "
                        "1 + 1\n#35 = #18"));
}

TEST_CASE("broadcasts are silent forward and sums over named axes backward") {
  MicroTape tape;
  const Var x = tape.leaf(normal({2, 3, 4}, 1), "X"), row = tape.leaf(normal({4}, 2), "r"),
            column = tape.leaf(normal({3, 1}, 3), "c"), number = tape.leaf(normal({}, 4), "s");
  CHECK(derived(tape, (x * row + column - exp(number)).named("Y")) == R"(Y = X * r + c - exp(s)
given dY:
dX = dY * r
dr = sum[axes 0, 1](dY * X)
dc = sum[axis 0](rowsum(dY))
ds = -sum(dY) * exp(s)
)");
}

TEST_CASE("a broadcast that changes what is computed is written") {
  MicroTape tape;
  const Var x = tape.leaf(normal({2, 3}, 1), "X"), r = tape.leaf(normal({3}, 2), "r");
  const Var wide = broadcast_to(r, {2, 3});
  CHECK(derived(tape, (sum(wide, 0) * sum(x, 1, KeepAxes::yes)).named("Y")) ==
        R"(Y = sum[axis 0](broadcast(r)) * rowsum(X)
given dY:
dr = sum[axis 0](broadcast[axis 0](sum[axis 0](dY * rowsum(X))))
dX = rowsum(dY * sum[axis 0](broadcast(r)))
)");
}

TEST_CASE("reshapes that merge rows are silent, others are written") {
  MicroTape tape;
  const Var x = tape.leaf(normal({2, 3, 4}, 1), "X"), w = tape.leaf(normal({5, 4}, 2), "W"),
            b = tape.leaf(normal({5}, 3), "b");
  const Var rows = softmax(matmul_nt(reshape(x, {6, 4}), w) + b).named("P");
  CHECK(derived(tape, rows) == R"(P = softmax(X W^T + b)
given dP:
dX = (P * (dP - rowsum(dP * P))) W
dW = (P * (dP - rowsum(dP * P)))^T reshape(X)
db = sum[axis 0](P * (dP - rowsum(dP * P)))
)");
  CHECK(derived(tape, reshape(exp(x), {4, 6}).named("Y")).starts_with("Y = reshape(exp(X))\n"));
  CHECK(
      derived(tape, reshape(exp(x), {1, 2, 3, 4}).named("Y")).starts_with("Y = reshape(exp(X))\n"));
  CHECK(derived(tape, reshape(x, {6, 4}).named("R")) ==
        "R = reshape(X)\ngiven dR:\ndX = reshape(dR)\n");
}

TEST_CASE("a transposed weight gets the transposed product") {
  MicroTape tape;
  const Var x = tape.leaf(normal({2, 4, 5}, 1), "X"), w = tape.leaf(normal({5, 3}, 2), "W");
  CHECK(derived(tape, matmul_nt(x, transpose(-2 * w)).named("Y")) == R"(Y = -2 X W
given dY:
dX = -2 dY W^T
dW = -2 X^T dY
)");
}

TEST_CASE("a sum over a batch is written where it is not the last thing that happens") {
  MicroTape tape;
  const Var x = tape.leaf(normal({2, 4, 5}, 1), "X"), w = tape.leaf(normal({3, 5}, 2), "W");
  const std::string lines = derived(tape, matmul_nt(x, tanh(w)).named("Y"));
  CHECK(lines.ends_with("dW = sum[axis 0](dY^T X) * (1 - tanh(W)^2)\n"));
  // Not so if the user asked for the sum.
  const Var a = tape.leaf(normal({2, 4, 5}, 3), "A");
  CHECK(derived(tape, sum(matmul_tn(a, x), 0).named("Z")).starts_with("Z = sum[axis 0](A^T X)\n"));
}

TEST_CASE("whole layers evaluate to what the tape holds") {
  MicroTape tape;
  const Var x = tape.leaf(normal({2, 4, 8}, 1), "X");
  TransformerBlock block(8, 2, 0.1, true, {.dtype = float64, .seed = 1});
  DerivationCheck check(tape, block(x));
  for (const DerivationOptions& options : kAllForms) CHECK(check.problems(options) == "");
  CHECK(check.lines() > 150);
}

TEST_CASE("a whole GPT of 130 nodes evaluates to what the tape holds") {
  MicroTape tape;
  Gpt gpt({.vocabulary = 7, .context = 4, .width = 8, .num_heads = 2, .depth = 2},
      {.dtype = float64, .seed = 1});
  const Var tokens = tape.constant(i64({{0, 2, 1, 4}, {3, 3, 6, 5}}), "tokens");
  const Var loss = cross_entropy(gpt(tokens), tokens).named("L");
  CHECK(tape.size() > 120);
  DerivationCheck check(tape, loss);
  for (const DerivationOptions& options : kAllForms) CHECK(check.problems(options) == "");
}

TEST_CASE("a recorded backward pass has a derivation of its own") {
  MicroTape tape;
  const Var x = tape.leaf(normal({3, 4}, 1), "X"), w = tape.leaf(normal({2, 4}, 2), "W");
  const Var y = sum(tanh(matmul_nt(x, w))).named("L");
  const Var dx = backward(y, Record::yes)[x];
  const std::string lines = derived(tape, dx);
  CHECK(lines.find("given ddX#") != std::string::npos);
  CHECK(lines.find("\ndW = ") != std::string::npos);
}

TEST_CASE("a derivation needs no values: a Keep::needed tape has one") {
  MicroTape tape(Keep::needed);
  const Var x = tape.leaf(normal({2, 3}, 1), "X"), w = tape.leaf(normal({4, 3}, 2), "W");
  const Var y = (tanh(matmul_nt(x, w)) * tape.constant(normal({2, 4}, 3))).named("Y");
  CHECK(to_text(derivation(tape, y)) == R"(Y = tanh(X W^T) * ..
given dY:
dX = (dY * .. * (1 - tanh(X W^T)^2)) W
dW = (dY * .. * (1 - tanh(X W^T)^2))^T X
)");
}

// --- mistakes ------------------------------------------------------------------------------------

TEST_CASE("a derivation of what is no result of the tape is refused") {
  MicroTape tape, other;
  const Var x = tape.leaf(normal({3}, 1)), c = tape.constant(normal({3}, 2));
  CHECK_THROWS_MATCHES(derivation(tape, c), TapeError,
      says("derivation: y is a constant: it depends on no leaf or parameter of the tape; there is "
           "nothing to derive"));
  CHECK_THROWS_MATCHES(derivation(other, x), TapeError,
      says("derivation: y stands on another tape, or on none; give the tape of y"));
  CHECK_THROWS_AS(derivation(tape, x.value()), TapeError);
}

TEST_CASE("a formula that cannot be read is an error that names the node") {
  MicroTape tape;
  const Var x = tape.leaf(normal({3}, 1), "x");
  const auto op = [&](Literal forward, Literal rule) {
    return record({"mine", forward}, [&] { return x.value(); },
        {{"x", x, rule, [](const Var& g) { return g; }}});
  };
  CHECK_THROWS_MATCHES(derivation(tape, op("@x * 1", "@g")), ValueError,
      says("derivation: the formula of node #1 (mine) cannot be read: parse_formula: outside the "
           "subset: \"@x * 1\"; expected nothing more at position 3"));
  CHECK_THROWS_MATCHES(derivation(tape, op("@x", "@q")), ValueError,
      says("derivation: the rule of node #2 (mine) cannot be read: substitute: no such name: @q; a "
           "formula names inputs, attributes, y and g"));
}
