#include <microtape/tape/view/formula_check.hpp>

#include <cmath>

#include <microtape/core/error.hpp>
#include <microtape/tape/backward.hpp>
#include <microtape/tape/checkpoint.hpp>
#include <microtape/tape/ops.hpp>

#include "catch.hpp"

using namespace microtape;
using microtape::testing::says;

namespace {

Tensor random(const Shape& shape, std::uint64_t seed = 1) {
  return Tensor::randn(shape, seed, float64);
}
Tensor positive(const Shape& shape) { return Tensor::uniform(shape, 0.5, 2, 3, float64); }

std::string first(const std::vector<FormulaMismatch>& found) {
  return found.empty() ? "none" : found.front().str();
}

/// x * x with formulas that may be wrong.
Var square(const Var& x, Literal forward, Literal rule) {
  return record({"square", forward}, [&] { return (Var(x.value()) * Var(x.value())).value(); },
      {{"x", x, rule, [x](const Var& g) { return 2 * g * x; }}});
}

std::vector<FormulaMismatch> check_square(Literal forward, Literal rule) {
  MicroTape tape;
  square(tape.leaf(Tensor::of({{1, 2}, {3, 5}}, float64), "x"), forward, rule);
  return check_formulas(tape);
}

/// Some of every family, each op with inputs that exercise its formula.
Var many_ops(MicroTape& tape) {
  const Var x = tape.leaf(random({2, 3, 4}), "x"), w = tape.leaf(random({5, 4}, 2), "W");
  const Var p = tape.leaf(positive({3, 4}), "p");
  const Var h = matmul_nt(x, w, Scale{0.5, R"(\frac{1}{\sqrt{d}})"});
  const Var heads = permute(reshape(h, {2, 3, 5, 1}), {0, 3, 1, 2});
  const Var a = softmax(matmul(heads, transpose(heads)), {.mask = random({3, 3}, 5)});
  const Var parts = concat({slice(a, 3, 0, 2), slice(a, 3, 1, 3)}, -2);
  const Var side = stack({sum(x, 0), mean(x, 0), max(x, 0), logsumexp(x, 0)}, 1);
  const Var spread = var(x, {0, 2}, KeepAxes::yes, 1) - x / p + pow(p, 3) * exp(-x) - 2;
  const Var curve = gelu(x) + gelu(x, Gelu::tanh) + silu(x) + erf(x) + tanh(x) * sigmoid(x);
  const Var mask = tape.constant(Tensor::of({1, 0, 1, 1}).to(int64), "m");
  const Var chosen = where(mask, relu(curve) + abs(x), 1 / (spread * spread + 1.5));
  const Var rest = sum(log(p) + sqrt(p) - 1 / p + sin(p) * cos(p)) + mean(log_softmax(x, 1));
  return sum(parts) + sum(side * side) + sum(chosen * log_softmax(spread)) + rest;
}

}  // namespace

TEST_CASE("the formulas of the library agree with what its ops and rules compute") {
  MicroTape tape;
  many_ops(tape);
  const NodeId size = tape.size();
  const std::vector<FormulaMismatch> found = check_formulas(tape);
  CHECK(first(found) == "none");
  CHECK(size > 60);
  CHECK(tape.size() == size);
}

TEST_CASE("the formulas of a recorded backward pass agree too") {
  MicroTape tape;
  const Var x = tape.leaf(random({3, 4}), "x"), w = tape.leaf(random({4, 4}, 2), "W");
  const Var loss = sum(softmax(matmul(x, w, Scale{0.5})) * tanh(x));
  const NodeId forward = tape.size();
  backward(loss, Record::yes);
  REQUIRE(tape.size() > forward + 5);
  CHECK(first(check_formulas(tape)) == "none");
}

TEST_CASE("right formulas of a user's op are accepted") {
  CHECK(first(check_square(R"(@x \odot @x)", R"(2 @g \odot @x)")) == "none");
  CHECK(first(check_square("@x^{2}", R"(@x \odot @g + @g \odot @x)")) == "none");
}

TEST_CASE("a planted wrong forward formula is caught and shown") {
  const std::vector<FormulaMismatch> found = check_square("@x @x", R"(2 @g \odot @x)");
  REQUIRE(found.size() == 1);
  CHECK(found[0].input == "forward");
  CHECK(found[0].printed == "#0 #0");
  // [[1, 2], [3, 5]] squared as a matrix is [[7, 12], [18, 31]]; elementwise [[1, 4], [9, 25]].
  CHECK(found[0].worst == Indices{0, 1});
  CHECK(found[0].computed == 4);
  CHECK(found[0].evaluated == 12);
  CHECK(found[0].str() ==
        "#1 square, forward: @x @x, which is #0 #0: computed 4 at [0, 1], the formula says 12");
}

TEST_CASE("planted wrong rule formulas are caught") {
  for (const Literal rule : {Literal("-2 @g \\odot @x"), Literal("@g \\odot @x"),
           Literal("2 @g @x"), Literal("2 @g \\odot @y"), Literal("2 @g \\odot @x^\\top"),
           Literal("2 @x"), Literal("2 @g \\odot @x + 0.000001")}) {
    INFO(rule.text());
    const std::vector<FormulaMismatch> found = check_square("@x^{2}", rule);
    REQUIRE(found.size() == 1);
    CHECK(found[0].input == "x");
    CHECK(found[0].formula == rule.text());
    CHECK(found[0].problem.empty());
  }
}

TEST_CASE("a formula that cannot be read is a mismatch, not a crash") {
  const std::vector<FormulaMismatch> found = check_square("@x * @x", R"(2 @g \odot @z)");
  REQUIRE(found.size() == 2);
  CHECK(found[0].problem ==
        "parse_formula: outside the subset: \"@x * @x\"; expected nothing more at position 3");
  CHECK(found[1].problem ==
        "substitute: no such name: @z; a formula names inputs, attributes, y and g");
  CHECK(found[1].printed.empty());
  CHECK(check_square("", "").size() == 2);
}

TEST_CASE("in a rule, a name that several inputs share is the rule's own input") {
  MicroTape tape;
  const Var a = tape.leaf(random({1}), "a"), b = tape.leaf(random({2}, 2), "b");
  const Indices of_a{0, 0, 1}, of_b{0, 1, 3};
  const Attribute first_range{"range", of_a}, second_range{"range", of_b};
  constexpr Literal kRule = R"(2 \operatorname{slice}_{@range}(@g) \odot @x)";
  record({"squares", R"(\operatorname{concat}_{@axis}(@x)^{2})", {{"axis", 0}}},
      [&] { return pow(concat({Var(a.value()), Var(b.value())}, 0), 2).value(); },
      {
          {"x", a, kRule, [a](const Var& g) { return 2 * slice(g, 0, 0, 1) * a; }, first_range},
          {"x", b, kRule, [b](const Var& g) { return 2 * slice(g, 0, 1, 3) * b; }, second_range},
      });
  CHECK(first(check_formulas(tape)) == "none");
}

TEST_CASE("a formula whose shapes do not fit is a mismatch") {
  MicroTape tape;
  const Var a = tape.leaf(random({2, 3}), "a"), b = tape.leaf(random({4, 3}), "b");
  record({"mine", "@a @b"}, [&] { return matmul_nt(Var(a.value()), Var(b.value())).value(); },
      {
          {"a", a, "@g @b", [b](const Var& g) { return matmul(g, b); }},
          {"b", b, R"(@a^\top @g)", [a](const Var& g) { return matmul_tn(g, a); }},
      });
  const std::vector<FormulaMismatch> found = check_formulas(tape);
  REQUIRE(found.size() == 2);
  CHECK(found[0].problem ==
        "evaluate: no matrix product: [2, 3] times [4, 3]; a [.., m, k] needs b [.., k, n]");
  // [3, 4] has as many numbers as b [4, 3], but other ones.
  CHECK(found[1].input == "b");
}

TEST_CASE("a rule that fails is reported") {
  MicroTape tape;
  const Var x = tape.leaf(random({2}), "x");
  record({"mine", "@x"}, [&] { return x.value(); },
      {{"x", x, "@g", [](const Var& g) { return sum(g); }}});
  const std::vector<FormulaMismatch> found = check_formulas(tape);
  REQUIRE(found.size() == 1);
  CHECK(found[0].input == "backward");
  CHECK(found[0].problem.find("[2]") != std::string::npos);
}

TEST_CASE("float32 is compared as float32") {
  MicroTape tape;
  sum(exp(softmax(tape.leaf(Tensor::randn({8, 8}, 1), "x"))));
  CHECK(first(check_formulas(tape)) == "none");
  CHECK(check_formulas(tape, 1e-12).size() > 0);
}

TEST_CASE("a Keep::needed tape is refused") {
  MicroTape tape(Keep::needed);
  CHECK_THROWS_MATCHES(check_formulas(tape), TapeError,
      says("check_formulas: the tape is Keep::needed: it does not have all numbers; "
           "check on a Keep::everything tape"));
}

TEST_CASE("formulas over no rows at all are evaluated too") {
  // Bug: a sum over an empty batch, which is 0, was taken for a number to be repeated.
  MicroTape tape;
  const Var x = tape.leaf(random({0, 2, 3})), w = tape.leaf(random({4, 3}));
  const Var b = tape.leaf(random({4}));
  const Var y = matmul_nt(x, w) + b;
  sum(y, 0);
  CHECK(first(check_formulas(tape)) == "none");
}

TEST_CASE("a checkpoint, which has no formula, is passed over") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of({1, 2}, float64));
  checkpoint([](std::span<const Var> in) { return exp(in[0]); }, {x});
  CHECK(check_formulas(tape).empty());
}
