// What explain() says of gradients that are 0 but for rounding: ops that see only differences.

#include <microtape/tape/view/explain.hpp>

#include <microtape/layers/transformer.hpp>

#include "testing.hpp"
#include "view/explain_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool is_fine(const std::string& text) { return contains(text, "is finite and nowhere zero"); }

/// In one line, and without what rounding decides, which may also leave exactly 0.
std::string without_rounding(const std::string& lines) {
  std::string text = in_one_line(lines);
  const std::string kind = " to rounding", end = " of what it is added up from";
  if (const std::size_t at = text.find(kind); at != std::string::npos) {
    text.erase(at, kind.size());
    const std::size_t start = text.find(": at most ");
    text.erase(start, text.find(end) + end.size() - start);
  }
  return text;
}

/// The number in "which is 2e-17 of what it is added up from".
double ratio_in(const std::string& text) {
  const std::string line = in_one_line(text), before = "which is ";
  const std::size_t at = line.find(before);
  REQUIRE(at != std::string::npos);
  return std::stod(line.substr(at + before.size()));
}

/// Some numbers between -1 and 1, other ones for each seed.
Tensor numbers(const Shape& shape, std::uint64_t seed, DType dtype = float64) {
  return Tensor::uniform(shape, -1, 1, seed, dtype);
}

}  // namespace

TEST_CASE("explain: the key bias of attention, and none of the other parameters") {
  for (const DType dtype : {float32, float64})
    for (const bool causal : {false, true}) {
      MicroTape tape;
      MultiHeadAttention attention(8, 2, 0, causal, {.dtype = dtype, .seed = 3});
      const Var x = tape.leaf(numbers({2, 5, 8}, 1, dtype), "X");
      const Var y = mean(square(attention(x))).named("L");
      for (const auto& [name, parameter] : attention.named_parameters()) {
        const std::string text = explain(tape, tape.watch(parameter), y);
        if (name != "k_proj.bias") {
          CHECK(is_fine(text));
          continue;
        }
        const std::string number = std::to_string(y.node());
        CHECK(without_rounding(text) == "db_K [8], the gradient of L #" + number +
                                            ", is 0 everywhere. A change of b_K moves all entries "
                                            "of a row alike, and softmax P #" +
                                            (causal ? "24" : "23") +
                                            " in attention sees only their differences. ");
        CHECK(ratio_in(text) < (dtype == float32 ? 1e-5 : 1e-14));
        CHECK(ratio_in(text) > (dtype == float32 ? 1e-9 : 1e-18));
      }
    }
}

TEST_CASE("explain: the key third of a packed bias, entry by entry") {
  MicroTape tape;
  const Var x = tape.constant(numbers({4, 3}, 1)), w = tape.leaf(numbers({9, 3}, 2), "W");
  const Var b = tape.leaf(numbers({9}, 3), "b"), v = tape.constant(numbers({4, 3}, 4));
  const Var packed = matmul_nt(x, w) + b;
  const Var q = slice(packed, 1, 0, 3), k = slice(packed, 1, 3, 6), u = slice(packed, 1, 6, 9);
  const Scope scope = tape.scope("head");
  const Var y = sum(scaled_dot_product_attention(q, k, u) * v).named("L");
  CHECK(without_rounding(explain(tape, b)) ==
        "db [9], the gradient of L #" + std::to_string(y.node()) +
            ", is 0 in 3 of 9 entries, the first at [3]. A change of b at [3] moves all entries of "
            "a row alike, and "
            "softmax P #11 in head sees only their differences. ");
  CHECK(is_fine(explain(tape, w)));
}

TEST_CASE("explain: what is the same along the rows of each op that sees only differences") {
  MicroTape tape;
  const Var x = tape.leaf(numbers({3, 1}, 1), "x"), wide = tape.leaf(numbers({3, 4}, 2), "w");
  const Var weights = tape.constant(numbers({3, 4}, 3)), labels = tape.constant(i64({0, 3, 1}));
  const Var s = (wide + x).named("S");
  const auto op_of = [&](const Var& y) {
    const std::string text = without_rounding(explain(tape, x, y));
    const std::string before = "A change of x moves all entries of a row alike, and ";
    const std::size_t at = text.find(before);
    if (at == std::string::npos) return text;
    const std::size_t start = at + before.size();
    CHECK(is_fine(explain(tape, wide, y)));
    return text.substr(start, text.find(' ', start) - start);
  };
  CHECK(op_of(sum(softmax(s) * weights)) == "softmax");
  CHECK(op_of(sum(log_softmax(s) * weights)) == "log_softmax");
  CHECK(op_of(sum(standardize(s) * weights)) == "standardize");
  CHECK(op_of(cross_entropy(s, labels)) == "cross_entropy");
  CHECK(op_of(sum(var(s, 1) * f64({1, 2, -3}))) == "var");
  // One axis further it is another thing: x is not the same along columns.
  CHECK(is_fine(explain(tape, x, sum(softmax(s, {.axis = 0}) * weights))));
  CHECK(is_fine(explain(tape, x, sum(var(s, 0) * f64({1, 2, -3, 4})))));
  // A little more in one column is not the same along the row.
  const Var uneven = wide + x * f64({1, 1, 1, 1 + 1e-6});
  CHECK(is_fine(explain(tape, x, sum(softmax(uneven) * weights))));
}

TEST_CASE("explain: a learned mask that is repeated along the rows of a softmax") {
  MicroTape tape;
  const Var s = tape.leaf(numbers({2, 3, 4}, 1), "S"),
            weights = tape.constant(numbers({2, 3, 4}, 3));
  const Var m = tape.leaf(numbers({3, 1}, 2), "M"), scalar = tape.leaf(f64(1), "m");
  const Var full = tape.leaf(numbers({3, 4}, 2), "F");
  for (const Var& mask : {m, scalar})
    CHECK(contains(
        explain(tape, mask, sum(softmax(s, {.mask = mask}) * weights)), "sees only their"));
  CHECK(is_fine(explain(tape, full, sum(softmax(s, {.mask = full}) * weights))));
}

TEST_CASE("explain: only the entries that are not masked have to move alike") {
  // x is added to the allowed scores alone.
  MicroTape tape;
  const Var s = tape.leaf(numbers({2, 3}, 1), "S"), x = tape.leaf(f64({{0.5}, {1.5}}), "x");
  const Var m = tape.constant(f64({{0, -1e9, 0}, {0, 0, -1e9}}), "M");
  const Var open = tape.constant(f64({{1, 0, 1}, {1, 1, 0}}));
  const Var y = sum(softmax(s + x * open, {.mask = m}) * numbers({2, 3}, 4));
  CHECK(contains(explain(tape, x, y), "A change of x moves all entries"));
}

TEST_CASE("explain: the same adjoint along the rows of a softmax or a standardization") {
  MicroTape tape;
  const Var x = tape.leaf(numbers({2, 3}, 5), "x");
  CHECK(without_rounding(explain(tape, x, sum(softmax(x)).named("L"))) ==
        "dx [2, 3], the gradient of L #2, is 0 everywhere. The adjoint that arrives at softmax #1 "
        "is the same along each row; but a row of softmax always has the same sum, so there is "
        "nothing to gain. ");
  const Var gain = tape.leaf(f64({1, 1, 1}), "gain"), bias = tape.leaf(f64({0, 0, 0}), "bias");
  const Var normed = layer_norm(x, gain, bias);
  CHECK(contains(
      in_one_line(explain(tape, x, sum(normed))), "a row of standardize always has the same sum"));
  // That is so because each gain is 1.
  const Var uneven = tape.leaf(f64({1, 1, 2}), "uneven");
  CHECK(is_fine(explain(tape, x, sum(layer_norm(x, uneven, bias)))));
  // What is masked need not get the same.
  const Var open = tape.constant(f64({{1, 0, 1}, {1, 1, 0}}));
  const Var m = tape.constant(f64({{0, -1e9, 0}, {0, 0, -1e9}}), "M"), p = softmax(x, {.mask = m});
  const Var before = tape.leaf(f64({{1}, {2}}), "before"), q = softmax(x * before, {.mask = m});
  CHECK(contains(in_one_line(explain(tape, before, sum(q * open))), "a row of softmax always"));
  // Nearly all of the weight on one, so that rounding is large beside the slopes.
  const Var sharp = tape.leaf(f64({0, -9, -9.5}), "sharp");
  CHECK(
      contains(in_one_line(explain(tape, sharp, sum(softmax(sharp)))), "a row of softmax always"));
}

TEST_CASE("explain: what is exactly 0 by the same reason is told so too") {
  // The example on the board: dS is [-3/4, 3/4] in each row, and its row sum exactly 0.
  MicroTape tape;
  const double k = std::log(3.0);
  const Var q = tape.leaf(f64({{2, 0, 0, 0}, {0, 2, 0, 0}}), "Q");
  const Var keys = tape.leaf(f64({{k, 0, 0, 0}, {0, k, 0, 0}}), "K");
  const Var shift = tape.leaf(f64({{0}, {0}}), "c"), v = tape.constant(f64({{4, 0}, {0, 8}}), "V");
  const Var s = matmul_nt(q, keys, {0.5}) + shift;
  sum(matmul(softmax(s).named("P"), v)).named("L");
  CHECK(without_rounding(explain(tape, shift))
            .find("is 0 everywhere. A change of c moves all "
                  "entries of a row alike, and softmax P #7") != std::string::npos);
}

TEST_CASE("explain: two causes of which the shift is one") {
  MicroTape tape;
  const Var w = tape.leaf(numbers({3, 4}, 2), "w"), x = tape.leaf(numbers({3, 1}, 1), "x");
  const Var weights = tape.constant(numbers({3, 4}, 3));
  // Nothing arrives at the softmax at all.
  const Var s = w + x, p = softmax(s);
  CHECK(stop_in(explain(tape, x, sum(p * weights) * 0)) ==
        "scale: its factor is 0; 0 times an adjoint is 0");
  // A dead relu before it.
  const Var dead = relu(x - 5), t = w + dead;
  CHECK(stop_in(explain(tape, x, sum(softmax(t) * weights))).starts_with("relu everywhere: "));
  // x - x is 0 before it comes to any softmax.
  const Var none = x - x, u = w + none;
  CHECK(contains(explain(tape, x, sum(softmax(u) * weights)), "What comes to leaf x"));
  // Another way past the softmax is open.
  const Var past = sum(x) * 1e-3;
  CHECK(is_fine(explain(tape, x, sum(p * weights) + past)));
}

TEST_CASE("explain: an op that has the name of another, and not its nature") {
  MicroTape tape;
  const Var x = tape.leaf(numbers({3, 1}, 1), "x"), w = tape.leaf(numbers({3, 4}, 2), "w");
  const Var weights = tape.constant(numbers({3, 4}, 3)), s = w + x;
  // One that does not see differences only, and one whose rows have no fixed sum.
  const auto pass = [](const Var& g) { return g; };
  const auto log_rule = [](const Var& g, const Var& y) {
    return g - exp(y) * sum(g, 1, KeepAxes::yes);
  };
  const Var fake = record(
      {"softmax", "@x", {{"axis", -1.0}}}, [&] { return s.value(); }, {{"x", s, "@g", pass}});
  CHECK(is_fine(explain(tape, x, sum(fake * weights))));
  const auto log_value = [&] { return log_softmax(Var(w.value())).value(); };
  const Var other =
      record({"softmax", "@x", {{"axis", -1.0}}}, log_value, {{"x", w, "@g", log_rule}});
  CHECK(is_fine(explain(tape, w, sum(other))));
}

TEST_CASE("explain: a gradient that is 0 to rounding in one half, and exactly in the other") {
  MicroTape tape;
  const Var b = tape.leaf(numbers({4}, 1), "b"), w = tape.constant(numbers({3, 2}, 2));
  const Var none = slice(b, 0, 0, 2) * 0, key = w + slice(b, 0, 2, 4);
  const Var p = softmax(matmul_nt(w, key) + sum(none));
  sum(p * numbers({3, 3}, 3)).named("L");
  const std::string text = without_rounding(explain(tape, b));
  CHECK(contains(text, "is 0 everywhere. scale #3 stops the adjoint everywhere: its factor is 0"));
  CHECK(!contains(text, "Other ways"));
}

TEST_CASE("explain: a flat adjoint, and x does not come to where it arrives") {
  // Of rows [0, 0] the numbers are exact: the softmax passes 0, and the where after it passes none.
  MicroTape tape;
  const Var x = tape.leaf(f64({{1, 2}}), "x");
  const Var s = where(i64({{0, 0}}), x, 0);
  sum(softmax(s)).named("L");
  CHECK(in_one_line(explain(tape, x)) ==
        "dx [1, 2], the gradient of L #4, is 0 everywhere. The adjoint that arrives at softmax #3 "
        "is the same along each row; but a row of softmax always has the same sum, so there is "
        "nothing to gain. ");
}

TEST_CASE("explain names the op that x reaches, not the first of its kind") {
  // One half of b is a key bias, the other goes through a standardization, where it does move
  // something.
  MicroTape tape;
  const Var b = tape.leaf(numbers({4}, 1), "b"), w = tape.leaf(numbers({3, 2}, 2), "w");
  const Var normed_half = slice(b, 0, 0, 2), key_half = slice(b, 0, 2, 4);
  const Var normed = standardize(w + normed_half), key = w + key_half;
  const Var p = softmax(matmul_nt(w, key)), out = sum(p * numbers({3, 3}, 3));
  const std::string text = explain(tape, b, out + sum(normed * numbers({3, 2}, 4)));
  CHECK(contains(text, "in 2 of 4 entries"));
  CHECK(contains(text, "softmax #" + std::to_string(p.node())));
}

TEST_CASE("explain: every parameter of a Gpt") {
  Gpt gpt({.vocabulary = 11, .context = 6, .width = 8, .num_heads = 2, .depth = 2}, {.seed = 3});
  // As large as after some training: attention is sharp, and no bias 0.
  std::uint64_t seed = 0;
  for (const Parameter& p : gpt.parameters())
    p.mutable_value() = add(p.value(), numbers(p.value().shape(), ++seed, float32)).value();
  MicroTape tape;
  const Var tokens = tape.constant(Tensor::of({1, 5}, {1, 4, 2, 8, 5}, int64), "tokens");
  const Var loss = cross_entropy(gpt(tokens), i64({{4, 2, 8, 5, 1}})).named("L");
  for (const auto& [name, parameter] : gpt.named_parameters()) {
    INFO(name);
    const std::string text = explain(tape, tape.watch(parameter), loss);
    CHECK(widest(text) <= 80);
    if (name.ends_with("k_proj.bias")) {
      const std::string block = "gpt/" + name.substr(0, 6) + "/attention";
      CHECK(contains(text, "A change of b_K moves all entries of a row alike, and softmax P #"));
      CHECK(contains(text, block + " sees only their differences."));
    } else if (name == "positions.weight") {
      CHECK(stop_in(text) == "slice at [5, 0] of W_P: slice takes another part");
    } else {
      CHECK(is_fine(text));
    }
  }
}

TEST_CASE("explain: what a confident prediction still passes is small, and no rounding") {
  // Bug: of a row with one number that is not 0, that number was taken for a difference.
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of({{20, 0}}), "x");
  const Var y = cross_entropy(x, i64({0})).named("L");
  const std::string text = explain(tape, x, y);
  INFO(text);
  CHECK(text.find("is 0 in 1 of 2 entries, the first at [0, 0]") != std::string::npos);
  CHECK(text.find("rounding everywhere") == std::string::npos);
}

TEST_CASE("explain: what comes by a way around a softmax is no rounding, however small") {
  // Bug: it was, beside what the softmax would pass of other adjoints.
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2, 3}), "x"), z = tape.leaf(f64(0.5), "z");
  const Var y = sum(softmax(x + z) * f64({1, 5, 2})) + z * 5e-15;
  const std::string text = explain(tape, z, y);
  INFO(text);
  CHECK(text.find("rounding") == std::string::npos);
  CHECK(text.find("finite and nowhere zero") != std::string::npos);
}
