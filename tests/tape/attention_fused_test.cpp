// Attention as one op, which Keep::needed tapes have, beside the three ops that it stands for.

#include <microtape/core/threads.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

/// What attention is made from.
struct Sample {
  std::string name;
  Tensor q, k, v;
  AttentionOptions options = {};
};

Tensor number(const Shape& shape, std::uint64_t seed, DType dtype = float64) {
  return Tensor::uniform(shape, -2, 2, seed, float64).to(dtype);
}

/// Heads as a layer has them: [B, T, H, D] seen as [B, H, T, D].
Tensor heads(Index batch, Index rows, Index count, Index width, std::uint64_t seed) {
  return number({batch, rows, count, width}, seed).permute({0, 2, 1, 3});
}

std::vector<Sample> samples() {
  const Tensor q = number({2, 3, 4, 5}, 1), k = number({2, 3, 6, 5}, 2),
               v = number({2, 3, 6, 7}, 3);
  return {
      {"two matrices", number({4, 5}, 1), number({6, 5}, 2), number({6, 7}, 3)},
      {"one number", number({1, 1}, 1), number({1, 1}, 2), number({1, 1}, 3)},
      {"one query", number({2, 1, 5}, 1), number({2, 6, 5}, 2), number({2, 6, 7}, 3)},
      {"one key", number({2, 6, 5}, 1), number({2, 1, 5}, 2), number({2, 1, 7}, 3)},
      {"batches", q, k, v},
      {"float32", q.to(float32), k.to(float32), v.to(float32)},
      {"a mask", q, k, v, {.mask = number({4, 6}, 4)}},
      {"a mask a head", q, k, v, {.mask = number({3, 1, 6}, 4)}},
      {"a mask with -inf", q, k, v, {.mask = f64({0, -kInfinity, 0, 0, -1, -kInfinity})}},
      {"causal", q, number({2, 3, 4, 5}, 2), number({2, 3, 4, 7}, 3), {.causal = true}},
      {"heads of a layer", heads(2, 4, 3, 5, 1), heads(2, 6, 3, 5, 2), heads(2, 6, 3, 7, 3)},
      {"transposed", number({3, 5, 4}, 1).transpose(), number({3, 5, 6}, 2).transpose(),
          number({3, 7, 6}, 3).transpose()},
      {"repeated", number({4, 5}, 1).broadcast_to({3, 4, 5}),
          number({6, 1}, 2).broadcast_to({3, 6, 5}), number({6, 7}, 3).broadcast_to({3, 6, 7})},
      {"cut out", number({3, 9, 8}, 1).slice(1, 2, 6).slice(2, 1, 6),
          number({3, 9, 8}, 2).slice(1, 0, 6).slice(2, 3, 8), number({3, 9, 8}, 3).slice(1, 3, 9)},
      {"panels of rows", number({2, 600, 8}, 1, float32), number({2, 520, 8}, 2, float32),
          number({2, 520, 16}, 3, float32), {.mask = number({600, 1}, 4, float32)}},
  };
}

/// C, dQ, dK and dV.
struct Outcome {
  std::vector<Tensor> tensors;
  std::vector<std::string> ops;

  Outcome(const Sample& sample, Keep keep, Record record = Record::no) {
    MicroTape tape(keep);
    const Var q = tape.leaf(sample.q), k = tape.leaf(sample.k), v = tape.leaf(sample.v);
    const Var c = scaled_dot_product_attention(q, k, v, sample.options);
    for (const Node& node : tape.nodes())
      if (node.kind() == NodeKind::op && node.is_active()) ops.emplace_back(node.op());
    const Gradients gradients = backward(c, number(c.shape(), 9, c.dtype()), record);
    for (const Var& x : {c, gradients[q], gradients[k], gradients[v]}) tensors.push_back(x.value());
  }
};

void check_same(const Outcome& a, const Outcome& b) {
  REQUIRE(a.tensors.size() == b.tensors.size());
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    INFO((std::vector{"C", "dQ", "dK", "dV"}[i]));
    CHECK(identical(a.tensors[i], b.tensors[i]));
  }
}

}  // namespace

TEST_CASE("fused attention has the bits of the three ops, for every layout and mask") {
  for (const Sample& sample : samples()) {
    INFO(sample.name);
    const Outcome fused(sample, Keep::needed), composed(sample, Keep::everything);
    CHECK(fused.ops == std::vector<std::string>{"attention"});
    CHECK(composed.ops == std::vector<std::string>{"matmul_nt", "softmax", "matmul"});
    check_same(fused, composed);
  }
}

TEST_CASE("heads that were split by a view come out of fused attention as a view to merge") {
  const Outcome outcome(
      {"", heads(2, 4, 3, 5, 1), heads(2, 6, 3, 5, 2), heads(2, 6, 3, 7, 3)}, Keep::needed);
  for (const Tensor& x : outcome.tensors) CHECK(x.permute({0, 2, 1, 3}).is_contiguous());
}

TEST_CASE("attention with an extent of 0 is left to the three ops") {
  const auto check_empty = [](Index tq, Index tk, Index d, Index e) {
    const Sample sample{"", number({2, tq, d}, 1), number({2, tk, d}, 2), number({2, tk, e}, 3)};
    const Outcome needed(sample, Keep::needed), composed(sample, Keep::everything);
    CHECK(needed.ops == composed.ops);
    check_same(needed, composed);
  };
  check_empty(0, 3, 4, 5);
  check_empty(2, 0, 4, 5);
  check_empty(2, 3, 0, 5);
  check_empty(2, 3, 4, 0);
}

TEST_CASE("fused attention has the same bits with one thread and with three") {
  const int before = num_threads();
  const Index n = 96;
  const Sample sample{"", number({8, n, 32}, 1), number({8, n, 32}, 2), number({8, n, 32}, 3)};
  set_num_threads(1);
  const Outcome alone(sample, Keep::needed);
  set_num_threads(3);
  const Outcome shared(sample, Keep::needed);
  set_num_threads(before);
  check_same(alone, shared);
}

TEST_CASE("a recorded sweep of fused attention has the bits of a plain one") {
  for (const Sample& sample : samples()) {
    INFO(sample.name);
    check_same(Outcome(sample, Keep::needed, Record::yes), Outcome(sample, Keep::needed));
  }
}

TEST_CASE("second derivatives of fused attention are those of the three ops") {
  const auto second_of = [](Keep keep) {
    MicroTape tape(keep);
    const Var q = tape.leaf(number({2, 3, 4}, 1)), k = tape.leaf(number({2, 5, 4}, 2));
    const Var v = tape.leaf(number({2, 5, 6}, 3));
    const Var c = scaled_dot_product_attention(q, k, v, {.mask = number({5}, 4)});
    const Gradients first = backward(c, number(c.shape(), 9), Record::yes);
    const Var slope = sum(first[q] * number(q.shape(), 5)) + sum(first[k] * number(k.shape(), 6)) +
                      sum(first[v] * number(v.shape(), 7));
    const Gradients g = backward(slope);
    return std::vector<Tensor>{g[q].value(), g[k].value(), g[v].value()};
  };
  const std::vector<Tensor> fused = second_of(Keep::needed), composed = second_of(Keep::everything);
  for (std::size_t i = 0; i < fused.size(); ++i) CHECK(close(fused[i], composed[i], 1e-14));
}

TEST_CASE("fused attention leaves out what is constant, and adds up what is shared") {
  MicroTape tape(Keep::needed);
  const Tensor x = number({3, 4}, 1), y = number({3, 4}, 2);
  const Var constant = tape.constant(y), leaf = tape.leaf(x);
  const Var cross = scaled_dot_product_attention(leaf, constant, constant);
  const Var self = scaled_dot_product_attention(leaf, leaf, leaf);
  CHECK(tape.node(cross.node()).edges().size() == 1);
  CHECK(tape.node(self.node()).edges().size() == 3);
  CHECK(tape.node(self.node()).name() == "C");
  const Tensor seed = number({3, 4}, 3);
  MicroTape whole;
  const Var a = whole.leaf(x);
  const Tensor by_cross = backward(scaled_dot_product_attention(a, y, y), seed)[a].value();
  const Tensor by_self = backward(scaled_dot_product_attention(a, a, a), seed)[a].value();
  for (const Record record : {Record::no, Record::yes}) {
    CHECK(identical(backward(cross, seed, record)[leaf].value(), by_cross));
    CHECK(identical(backward(self, seed, record)[leaf].value(), by_self));
  }
}

TEST_CASE("a recorded sweep of fused attention records, even if the adjoint of C is plain") {
  // Bug: the rule asked g whether it was recorded, and second derivatives were lost in silence.
  const auto second = [](Keep keep) {
    MicroTape tape(keep);
    const Var x = tape.leaf(number({2, 3, 4}, 1));
    const Var c = scaled_dot_product_attention(x, x, x);
    const Var weight(number(c.shape(), 2));
    const Var y = record({"weigh", "@x"}, [&] { return sum(weight * c.value()).value(); },
        {{"x", c, "", [weight](const Var&) { return weight; }}});
    return backward(sum(square(backward(y, Record::yes)[x])))[x].value();
  };
  CHECK(close(second(Keep::needed), second(Keep::everything), 1e-14));
}

TEST_CASE("fused attention stands on the tape of its mask if there is no other") {
  MicroTape tape(Keep::needed);
  const Tensor x = number({3, 4}, 1);
  const Var mask = tape.constant(number({3, 3}, 2));
  CHECK(scaled_dot_product_attention(x, x, x, {.mask = mask}).tape() == &tape);
}

TEST_CASE("a mask that is learned gets its adjoint on a Keep::needed tape too") {
  const Tensor q = number({2, 3, 4}, 1), k = number({2, 5, 4}, 2), v = number({2, 5, 6}, 3);
  const auto adjoint = [&](Keep keep) {
    MicroTape tape(keep);
    const Var mask = tape.leaf(number({3, 5}, 4));
    const Var c = scaled_dot_product_attention(tape.constant(q), k, v, {.mask = mask});
    return backward(c, number(c.shape(), 9))[mask].value();
  };
  CHECK(identical(adjoint(Keep::needed), adjoint(Keep::everything)));
}

TEST_CASE("a Check::finite tape shows all three ops, and names the one that fails") {
  MicroTape tape(Keep::needed, Check::finite);
  const Var q = tape.leaf(Tensor::full({1, 2, 2}, 1e200, float64));
  CHECK_THROWS_WITH(scaled_dot_product_attention(q, q, q), Catch::StartsWith("matmul_nt: "));
}
