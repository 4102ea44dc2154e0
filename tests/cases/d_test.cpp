#include <functional>

#include <microtape/layers/attention.hpp>

#include "case_file.hpp"

// Kind d: attention and its masks. Where a case allows several behaviours, the one
// that MultiHeadAttention documents.

using namespace microtape;
using namespace microtape::testing;

namespace {

using Attention = MultiHeadAttention;

/// Attention whose projections change nothing.
Attention identity(Index embed, Index heads, DType dtype, bool causal = false, double dropout = 0,
    std::uint64_t seed = 0) {
  Attention layer(embed, heads, dropout, causal, {.dtype = dtype, .seed = seed});
  Tensor eye = Tensor::zeros({embed, embed}, float64);
  for (Index i = 0; i < embed; ++i)
    eye.mutable_data<double>()[static_cast<std::size_t>(i * embed + i)] = 1;
  for (const Parameter& p : layer.parameters())
    if (p.value().rank() == 2) p.mutable_value() = eye.to(dtype);
  return layer;
}

/// One sequence as a batch of one. [t, e] -> [1, t, e]
Tensor batch(const Tensor& x) { return x.reshape({1, x.extent(0), x.extent(1)}); }
/// Numbers as a sequence of width 1. [t] -> [1, t, 1]
Tensor column(const Tensor& x) { return x.reshape({1, -1, 1}); }
Tensor zeros(const Shape& shape, DType dtype) { return Tensor::zeros(shape, dtype); }

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("D01 a query row with every key masked is an error that names the row") {
  const Case c("D01", GENERATE(float64, float32));
  const Tensor q = batch(c.input("q")), k = batch(c.input("k")), v = batch(c.input("v"));
  Attention layer = identity(2, 1, c.dtype());
  const Tensor mask = c.input("mask");
  CHECK(error_of([&] { layer.forward(q, k, v, &mask); }) ==
        "in attention: MultiHeadAttention: no key is left: row 1 of mask [3, 3] is -inf at every "
        "key; each row must keep an allowed key");

  // The other rows are as without the mask; a row whose output nobody uses adds nothing.
  const Tensor y = layer.forward(q, k, v);
  Tensor g = c.input("G").to(float64);
  g.mutable_data<double>()[2] = g.mutable_data<double>()[3] = 0;
  const Tensor used = Tensor::of({3, 1}, {1, 0, 1}, c.dtype());
  CHECK(c.holds("out", mul(y.reshape({3, 2}), used)));
  CHECK(c.holds("weights", mul(layer.weights().reshape({3, 3}), used)));
  CHECK(c.holds("grad.q", layer.backward(batch(g.to(c.dtype()))).reshape({3, 2})));
  CHECK(c.holds("grad.k", layer.grad_key_input().reshape({3, 2})));
  CHECK(c.holds("grad.v", layer.grad_value_input().reshape({3, 2})));
}

TEST_CASE("D03 two masks of the lowest float, added by the caller, mask; a whole row is an error") {
  const Case c("D03", float32);
  const double lowest = number_of(c.json().at("inputs").at("L"));
  Attention layer = identity(1, 1, float32);
  const Tensor q = zeros({1, 1, 1}, float32), k = zeros({1, 3, 1}, float32);
  const Tensor v = column(Tensor::of({1, 2, 3}));
  const auto twice = [&](const Nested& row) {
    const Var half = Tensor::of(row);
    return reshape(half + half, {1, 3}).value();
  };
  const Tensor one = twice({lowest, 0, 0}), all = twice({lowest, lowest, lowest});
  CHECK(c.holds("out", layer.forward(q, k, v, &one).reshape({})));
  CHECK(c.holds("weights", layer.weights().reshape({3})));
  CHECK(error_of([&] { layer.forward(q, k, v, &all); }) ==
        "in attention: MultiHeadAttention: no key is left: row 0 of mask [1, 3] is -inf at every "
        "key; each row must keep an allowed key");

  // Scores of -1 on top of the lowest float are finite.
  const Tensor once = Tensor::of({{lowest, lowest, 0}});
  const Tensor minus = Tensor::full({1, 1, 1}, -1), ones = Tensor::full({1, 3, 1}, 1);
  CHECK(layer.forward(minus, ones, v, &once).item() == 3);
}

TEST_CASE(
    "D04 causal with different numbers of queries and keys is an error; square is a triangle") {
  const Case c("D04", GENERATE(float64, float32));
  Attention layer = identity(1, 1, c.dtype(), true);
  for (const auto& [name, queries] : {std::pair{"v5", 2}, {"v2", 5}}) {
    const Tensor v = column(c.input(name)), k = zeros(v.shape(), c.dtype());
    const std::string error = error_of([&] { layer(zeros({1, queries, 1}, c.dtype()), k, v); });
    CHECK(contains(error, "Tq is " + std::to_string(queries)));
    CHECK(contains(error, "Tk is " + std::to_string(v.extent(1))));
  }
  const Tensor q = zeros({1, 3, 1}, c.dtype()), v = column(Tensor::of({1, 2, 3}, c.dtype()));
  CHECK(c.holds("square_3", layer.forward(q, q, v).reshape({3})));
}

TEST_CASE("D06 scores are scaled by one over the square root of the head width") {
  const Case c("D06", GENERATE(float64, float32));
  Attention layer = identity(4, 2, c.dtype());
  const Tensor q = c.input("q").reshape({1, 1, 4});
  const Tensor y = layer.forward(q, batch(c.input("k")), batch(c.input("v"))).reshape({4});
  CHECK(c.holds("out", y));
  for (const auto& [name, wrong] : c.json().at("expected").at("wrong").items())
    CHECK(std::abs(y.at({0}) - number_of(wrong)) > 0.1);
}

TEST_CASE("D07 a mask of zeros and ones is added, never taken for boolean") {
  const Case c("D07", GENERATE(float64, float32));
  Attention layer = identity(1, 1, c.dtype());
  const Tensor zero = zeros({1, 3, 1}, c.dtype()), v = column(c.input("v"));
  const Tensor mask = c.input("mask");
  CHECK(c.holds("out", layer.forward(zero, zero, v, &mask).reshape({3})));
  CHECK(c.holds("weights", layer.weights().reshape({3, 3})));
  const Tensor row = Tensor::of({{0, 1, 2}}, c.dtype());
  layer.forward(zeros({1, 1, 1}, c.dtype()), zero, v, &row);
  CHECK(c.holds("weights_012", layer.weights().reshape({3})));
}

TEST_CASE("D08 -inf masks a key in train and in eval mode, with causal and without") {
  const Case c("D08", GENERATE(float64, float32));
  const bool training = GENERATE(true, false);
  const Json& rows = c.json().at("inputs").at("key_mask");
  const Tensor zero = zeros({1, 3, 2}, c.dtype());
  const Tensor v = column(c.input("v")).broadcast_to({1, 3, 2});
  const Tensor out = c.expected("out");
  // A mask is [Tq, Tk], one for all batches: each sequence gets a call of its own.
  for (std::size_t b = 0; b < 2; ++b) {
    const Tensor mask = tensor_of(rows[b], c.dtype()).reshape({1, 3}).broadcast_to({3, 3});
    Attention plain = identity(2, 2, c.dtype()), causal = identity(2, 2, c.dtype(), true);
    if (!training) plain.eval(), causal.eval();
    const Tensor y = plain.forward(zero, zero, v, &mask);
    CHECK(close(y, Tensor::full({1, 3, 2}, out.at({static_cast<Index>(b)}), c.dtype()), 1e-7));
    CHECK(plain.weights().at({0, 1, 2, 2}) == 0);
    const Tensor y2 = causal.forward(zero, zero, v, &mask);
    if (b == 0) CHECK(c.holds("out_causal_batch0", y2.slice(2, 1, 2).reshape({3})));
  }
  Attention layer = identity(2, 2, c.dtype());
  const Tensor pair = zeros({2, 3, 2}, c.dtype());
  for (const Shape& shape : {Shape{2, 3}, Shape{2, 1, 3}, Shape{2, 1, 1, 3}})
    CHECK(error_of([&] { layer(pair, pair, pair, zeros(shape, c.dtype())); }) ==
          "MultiHeadAttention: the mask does not fit: mask " + shape.str() +
              "; it must be [Tq, Tk] = [3, 3]");
}

TEST_CASE("D09 a mask is [Tq, Tk] and nothing else, in train and in eval mode") {
  Attention layer(4, 2);
  if (GENERATE(true, false)) layer.eval();
  const auto with_mask = [&](Index batches, const Shape& shape) {
    const Tensor q = zeros({batches, 3, 4}, float32), kv = zeros({batches, 4, 4}, float32);
    return error_of([&] { layer(q, kv, kv, zeros(shape, float32)); });
  };
  CHECK(with_mask(2, {3, 4}) == "no error");
  CHECK(with_mask(3, {3, 4}) == "no error");  // as many batches as queries
  for (const Shape& shape : {Shape{4, 3}, Shape{2, 4}, Shape{3, 3}, Shape{4}, Shape{2, 3, 4},
           Shape{2, 2, 3, 4}, Shape{2, 1, 1, 4}})
    CHECK(with_mask(2, shape) == "MultiHeadAttention: the mask does not fit: mask " + shape.str() +
                                     "; it must be [Tq, Tk] = [3, 4]");
}

TEST_CASE("D10 a wrong number of heads is an error with both numbers, before any division") {
  const Case c("D10");
  for (const Json& bad : c.json().at("inputs").at("bad")) {
    const Index embed = bad[0], heads = bad[1];
    const std::string error = error_of([&] { Attention(embed, heads); });
    CHECK(contains(error, "embed " + std::to_string(embed)));
    CHECK(contains(error, "num_heads " + std::to_string(heads)));
  }
  for (const Json& good : c.json().at("inputs").at("good")) {
    Attention layer(good[0], good[1]);
    CHECK(layer.forward(zeros({1, 2, 4}, float32)).shape() == Shape{1, 2, 4});
  }
}

TEST_CASE("D11 packed projections load as rows q, k, v of [out, in], and [in, out] is an error") {
  const Case c("D11", GENERATE(float64, float32));
  Attention layer(2, 1, 0, false, {.dtype = c.dtype()});
  TensorMap state{{"in_proj_weight", c.input("in_proj_weight")},
      {"in_proj_bias", c.input("in_proj_bias")}, {"out_proj.weight", c.input("out_proj_weight")},
      {"out_proj.bias", c.input("out_proj_bias")}};
  layer.load_state_dict(state);
  const Tensor y = layer.forward(batch(c.input("x"))).reshape({2, 2});
  CHECK(c.holds("y", y));
  CHECK_FALSE(c.holds("y_wrong_if_transposed", y));
  state["in_proj_weight"] = state["in_proj_weight"].transpose();
  CHECK_THROWS_AS(layer.load_state_dict(state), ShapeError);
}

TEST_CASE("D17 weights are those before dropout, and the output is 0 or scaled up") {
  const Case c("D17", GENERATE(float64, float32));
  const double p = number_of(c.json().at("inputs").at("p"));
  const Tensor q = zeros({1, 1, 1}, c.dtype()), kv = zeros({1, 5, 1}, c.dtype());
  const Tensor v = column(Tensor::of({3, 50, 60, 70, 80}, c.dtype()));
  const Tensor mask = Tensor::of({{0, -kInfinity, -kInfinity, -kInfinity, -kInfinity}}, c.dtype());
  const double kept = 3 * c.expected("kept_value").to(float64).item();
  int dropped = 0, scaled = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Attention layer = identity(1, 1, c.dtype(), false, p, seed);
    const double y = layer.forward(q, kv, v, &mask).item();
    CHECK(c.holds("eval_row", layer.weights().reshape({5})));
    dropped += y == 0;
    scaled += std::abs(y - kept) < 1e-6;
    layer.eval();
    CHECK(layer.forward(q, kv, v, &mask).item() == 3);
    CHECK(c.holds("eval_row", layer.weights().reshape({5})));
  }
  CHECK(dropped + scaled == 200);
  CHECK(dropped > 3);  // 20 +- 4.2
  CHECK(dropped < 37);
}

TEST_CASE("D18 one tensor as key and value: two gradients, which the caller or a tape adds") {
  const Case c("D18", GENERATE(float64, float32));
  Attention layer = identity(2, 1, c.dtype());
  const Tensor q = batch(c.input("q")), kv = batch(c.input("kv")), g = batch(c.input("G"));
  CHECK(c.holds("out", layer.forward(q, kv, kv).reshape({1, 2})));
  CHECK(c.holds("grad.q", layer.backward(g).reshape({1, 2})));
  CHECK(c.holds("grad.key_only", layer.grad_key_input().reshape({3, 2})));
  CHECK(c.holds("grad.value_only", layer.grad_value_input().reshape({3, 2})));

  MicroTape tape;
  const Var query = tape.leaf(q), memory = tape.leaf(kv);
  const Gradients gradients = backward(layer(query, memory, memory), g);
  CHECK(c.holds("grad.q", reshape(gradients[query], {1, 2})));
  CHECK(c.holds("grad.kv", reshape(gradients[memory], {3, 2})));

  // All three the same: the sum of three.
  const Tensor copy = kv, other = kv;
  layer.forward(kv, copy, other);
  const Var dq = layer.backward(kv);
  const Var all = dq + Var(layer.grad_key_input()) + Var(layer.grad_value_input());
  layer.forward(kv);
  CHECK(close(layer.backward(kv), all.value(), c.dtype() == float64 ? 1e-14 : 1e-6));
}

TEST_CASE("D20 keys of another width, or length than values, are errors that name the numbers") {
  Attention layer(4, 2);  // there is no width of keys or values to give
  const Tensor q = zeros({1, 2, 4}, float32);
  CHECK(
      error_of([&] { layer(q, zeros({1, 6, 3}, float32), zeros({1, 6, 4}, float32)); }) ==
      "MultiHeadAttention: key does not fit: query [1, 2, 4], key [1, 6, 3], value [1, 6, 4]; key "
      "must be [B, T, 4]");
  CHECK(contains(error_of([&] { layer(q, zeros({1, 6, 4}, float32), zeros({1, 7, 4}, float32)); }),
      "key and value need the same length, got 6 and 7"));
}

TEST_CASE("D22 a mask of another dtype than the data is an error that names both") {
  const Case c("D22", float32);
  Attention layer = identity(1, 1, float32);
  const Tensor q = zeros({1, 1, 1}, float32), k = zeros({1, 2, 1}, float32);
  const Tensor v = column(c.input("v"));
  const auto with_mask = [&](const Tensor& mask) {
    return error_of([&] { layer.forward(q, k, v, &mask); });
  };
  CHECK(contains(with_mask(f64({{0, -kInfinity}})),
      "the mask is float64, the inputs float32; a mask is added to the scores"));
  CHECK(contains(with_mask(i64({{0, -1}})),
      "(0 allows, a large negative number suppresses; it is not boolean): convert it with "
      "to(float32)"));
  // Converted, both are added.
  const Tensor hides = f64({{0, -kInfinity}}).to(float32), adds = i64({{0, -1}}).to(float32);
  CHECK(c.holds("float64_mask_out", layer.forward(q, k, v, &hides).reshape({})));
  CHECK(c.holds("int_mask_out", layer.forward(q, k, v, &adds).reshape({})));
}

TEST_CASE("D24 heads are split and merged with the axes swapped, not by reshape alone") {
  const Case c("D24", GENERATE(float64, float32));
  Attention layer = identity(4, 2, c.dtype());
  const Tensor y = layer.forward(batch(c.input("x"))).reshape({3, 4});
  CHECK(c.holds("out", y));
  CHECK_FALSE(c.holds("wrong_split", y));
  CHECK_FALSE(c.holds("wrong_merge", y));
}
