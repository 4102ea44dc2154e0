#include <microtape/layers/leaks.hpp>

#include <microtape/layers/sequential.hpp>
#include <microtape/layers/transformer.hpp>

#include "layer_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

/// One line for each leak: "3 -> 1" if the output at 1 changes with the token at 3.
std::string pairs(const std::vector<Leak>& leaks) {
  std::string out;
  for (const Leak& leak : leaks)
    out += std::to_string(leak.changed) + " -> " + std::to_string(leak.seen) + "\n";
  return out;
}

/// Self-attention of one head whose mask is -1e9 from this diagonal on.
auto attention_masked_from(Index diagonal) {
  return [diagonal](const Var& x) {
    const Index t = x.shape()[1];
    const Tensor mask = triu(Tensor::full({t, t}, -1e9, x.dtype()), diagonal).value();
    return scaled_dot_product_attention(x, x, x, {.mask = mask});
  };
}

Tensor tokens(const Shape& shape, const std::vector<double>& ids) {
  return Tensor::of(shape, ids, int64);
}

/// What it adds to x fails in eval mode.
class FailsInEval : public Layer {
 public:
  FailsInEval() : Layer({}, "fails") {}
  Var operator()(const Var& x) override {
    if (!is_training()) throw ValueError("fails: in eval mode");
    return x;
  }
  std::vector<Member> members() override { return {first_, second_}; }
  Dropout first_{0.5}, second_{0.5};
};

}  // namespace

TEST_CASE("causal layers of both dtypes leak nothing, and no layer that is not causal is trusted") {
  // Bug: the numbers put in were those of seed 1, so that an x of seed 1 did not change at all.
  for (const DType dtype : {float32, float64}) {
    const Tensor x = random({2, 5, 8}, 1, dtype);
    const LayerOptions options{.dtype = dtype, .seed = 2};
    CHECK(pairs(leaks(MultiHeadAttention(8, 2, 0, true, options), x)) == "");
    CHECK(pairs(leaks(TransformerBlock(8, 2, 0.5, true, options), x)) == "");
    CHECK(pairs(leaks(Sequential(TransformerBlock(8, 2, 0.5, true, options), LayerNorm(8, options)),
              x)) == "");
    CHECK(leaks(MultiHeadAttention(8, 2, 0, false, options), x).size() == 10);
    CHECK(leaks(TransformerBlock(8, 2, 0.5, false, options), x).size() == 10);
  }
}

TEST_CASE("a leak names the token and the output, the first pair first, and how much it is") {
  // Attention by the mean of all values: an output is the mean of the tokens.
  const auto mean_of_all = [](const Var& x) {
    return broadcast_to(mean(x, 1, KeepAxes::yes), x.shape());
  };
  const Tensor x = Tensor::zeros({1, 3, 1}, float64);
  const std::vector<Leak> found = leaks(mean_of_all, x);
  CHECK(pairs(found) == "1 -> 0\n2 -> 0\n2 -> 1\n");
  CHECK(Leak{3, 1, 0.02}.str() ==
        "the output at position 1 changes with the token at position 3 (by 0.02)");
}

TEST_CASE("the change that a leak tells is the largest one at that output") {
  // Output t is half of token t + 1; of x, which is 0, nothing remains but what is put in.
  std::vector<Tensor> put_in;
  const auto peeks = [&](const Var& x) {
    put_in.push_back(x.value());
    return 0.5 * concat({slice(x, 1, 1, x.shape()[1]), slice(x, 1, 0, 1)}, 1);
  };
  const std::vector<Leak> found = leaks(peeks, Tensor::zeros({2, 3, 2}, float64));
  REQUIRE(pairs(found) == "1 -> 0\n2 -> 1\n");
  for (const Leak& leak : found) {
    const Tensor& x = put_in[static_cast<std::size_t>(leak.changed)];
    double largest = 0;
    for (const Index b : {0, 1})
      for (const Index e : {0, 1})
        largest = std::max(largest, std::abs(x.at({b, leak.changed, e})) / 2);
    CHECK(largest > 0);
    CHECK(leak.by == largest);
  }
}

TEST_CASE("a mask whose diagonal is off by one is caught") {
  const Tensor x = random({1, 4, 3}, 4);
  CHECK(pairs(leaks(attention_masked_from(1), x)) == "");
  CHECK(pairs(leaks(attention_masked_from(2), x)) == "1 -> 0\n2 -> 1\n3 -> 2\n");
  CHECK(pairs(leaks(attention_masked_from(0), x.slice(1, 0, 2))) == "1 -> 0\n");  // row 0 all -1e9
}

TEST_CASE("an output that becomes or stays NaN is compared too") {
  // Output 0 is log of the sum of all tokens: NaN for some, a number for others.
  const auto log_of_sum = [](const Var& x) {
    return broadcast_to(log(sum(x, 1, KeepAxes::yes)), x.shape());
  };
  const Tensor above = Tensor::of({1, 2, 1}, {50, -60}, float64);  // a sum below 0, above it later
  const Tensor below = Tensor::of({1, 2, 1}, {-50, 0}, float64);
  CHECK(pairs(leaks(log_of_sum, above)) == "1 -> 0\n");
  CHECK(pairs(leaks(log_of_sum, below)) == "");  // NaN before and after
  const auto nan_at_0 = [](const Var& x) {
    const Var next = slice(x, 1, 1, 2);
    return concat({concat({next, 0 / next, next}, 2), concat({next, next, next}, 2)}, 1);
  };
  const std::vector<Leak> found = leaks(nan_at_0, Tensor::zeros({1, 2, 1}, float64));
  REQUIRE(found.size() == 1);
  CHECK(found[0].str() == "the output at position 0 changes with the token at position 1 (by nan)");
}

TEST_CASE("models of tokens exchange one for another that stands in x") {
  Gpt gpt({.vocabulary = 5, .context = 4, .width = 8, .num_heads = 2, .depth = 2, .dropout = 0.5},
      {.seed = 3});
  CHECK(pairs(leaks(gpt, tokens({2, 4}, {4, 3, 4, 4, 0, 0, 1, 2}))) == "");
  // The sum of all tokens in each place.
  Embedding table(5, 2, {.dtype = float64});
  const auto bag = [&](const Var& x) {
    return broadcast_to(sum(table(x), 1, KeepAxes::yes), {x.shape()[0], x.shape()[1], 2});
  };
  CHECK(pairs(leaks(bag, tokens({1, 3}, {4, 4, 2}))) == "1 -> 0\n2 -> 0\n2 -> 1\n");
  CHECK_THROWS_MATCHES(leaks(gpt, tokens({1, 3}, {4, 4, 4})), ValueError,
      says("leaks: no token can be changed: x [1, 3] holds only 4; it must hold two different "
           "ones, to exchange them"));
}

TEST_CASE("where there is no earlier output there is nothing to leak") {
  MultiHeadAttention attention(4, 1);
  CHECK(leaks(attention, Tensor::zeros({2, 1, 4})).empty());
  CHECK(leaks(attention, Tensor::zeros({0, 3, 4})).empty());
  CHECK(leaks(Embedding(3, 2), tokens({2, 1}, {1, 1})).empty());
}

TEST_CASE("leaks leaves a layer as it was: every mode, the numbers, what forward() remembers") {
  TransformerBlock block(4, 1, 0.5);
  const std::vector<Member> members = block.members();
  Layer& attention = *members[1].layer;
  Layer& inner_dropout = *attention.members().back().layer;
  attention.eval();
  inner_dropout.train();
  const Tensor x = random({1, 3, 4}, 1, float32);
  block.forward(x);
  const Unchanged unchanged(block);
  CHECK(leaks(block, x).empty());
  CHECK(block.is_training());
  CHECK_FALSE(attention.is_training());
  CHECK(inner_dropout.is_training());
  for (const Member& part : attention.members())
    CHECK(part.layer->is_training() == (part.layer == &inner_dropout));
  CHECK(members[4].layer->is_training());
  CHECK(unchanged.holds());
  CHECK_NOTHROW(block.backward(x));

  // The draws of dropout go on as if nothing had happened.
  Dropout tested(0.5, {.seed = 7}), other(0.5, {.seed = 7});
  tested(x), other(x);
  CHECK(leaks(tested, x).empty());
  CHECK(identical(tested(x), other(x).value()));

  MultiHeadAttention causal(4, 1, 0, true);
  const Tensor weights = (causal(x), causal.weights());
  leaks(causal, x);
  CHECK(identical(causal.weights(), weights));
}

TEST_CASE("leaks restores every mode when the layer throws") {
  FailsInEval layer;
  layer.second_.eval();
  CHECK_THROWS_AS(leaks(layer, Tensor::zeros({1, 2, 1})), ValueError);
  CHECK(layer.is_training());
  CHECK(layer.first_.is_training());
  CHECK_FALSE(layer.second_.is_training());
}

TEST_CASE("leaks refuses what has no positions and what draws anew in each call") {
  MultiHeadAttention attention(4, 1);
  CHECK_THROWS_MATCHES(leaks(attention, Tensor::zeros({4})), ShapeError,
      says("leaks: x has no positions: x [4]; needs [B, T, ..], positions in axis 1"));
  const auto sum_of_all = [](const Var& x) { return sum(x, 1); };
  CHECK_THROWS_MATCHES(leaks(sum_of_all, Tensor::zeros({2, 3, 4})), ShapeError,
      says("leaks: there is no output for each position: x [2, 3, 4], the result [2, 4]; both "
           "must begin with [2, 3]"));
  const auto of_another_batch = [](const Var& x) { return concat({x, x}, 0); };
  CHECK_THROWS_MATCHES(leaks(of_another_batch, Tensor::zeros({2, 3, 4})), ShapeError,
      says("leaks: there is no output for each position: x [2, 3, 4], the result [4, 3, 4]; both "
           "must begin with [2, 3]"));
  const auto grows = [](const Var& x) {
    return x.value().at({0, 1, 0}) == 0 ? x : concat({x, x}, 2);
  };
  CHECK_THROWS_MATCHES(leaks(grows, Tensor::zeros({2, 3, 4})), ShapeError,
      says("leaks: the shape of the result depends on the numbers: [2, 3, 4], then [2, 3, 8]; it "
           "must stay"));
  Dropout dropout(0.5);
  const auto draws = [&](const Var& x) { return dropout(x); };
  CHECK_THROWS_MATCHES(leaks(draws, Tensor::full({2, 3, 4}, 1)), ValueError,
      says("leaks: f(x) differs from one call to the next: it draws random numbers; a layer in "
           "eval mode draws none"));
}
