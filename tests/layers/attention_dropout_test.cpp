#include "plain_layer.hpp"

// Dropout inside MultiHeadAttention: on P, while training; and the weights that can be read.

using namespace microtape;
using namespace microtape::testing;

namespace {

using Attention = MultiHeadAttention;

Attention make(double dropout, std::uint64_t seed = 1, bool causal = false) {
  Attention layer(8, 2, dropout, causal, {.dtype = float64, .seed = seed});
  randomize(layer, 70);
  return layer;
}

}  // namespace

TEST_CASE("weights can be read after a call only; every row sums to 1, with dropout too") {
  Attention layer = make(0.5);
  const auto none = says(
      "weights: there was no call yet, or the last one failed; call the layer or forward() "
      "first");
  CHECK_THROWS_MATCHES(layer.weights(), TapeError, none);
  const Tensor q = random({2, 3, 8}, 1), kv = random({2, 5, 8}, 2);
  layer.forward(q, kv, kv);
  CHECK(layer.weights().shape() == Shape{2, 2, 3, 5});
  CHECK(close(sum(layer.weights(), -1), Tensor::full({2, 2, 3}, 1, float64), 1e-15));
  Attention without = make(0);
  without.forward(q, kv, kv);
  CHECK(identical(layer.weights(), without.weights()));  // before dropout
  // Scores that are sums of squares: infinite, not NaN, in whatever order a product adds.
  const std::vector<Parameter> p = layer.parameters();
  for (const std::size_t i : {0u, 1u}) p[i + 2].mutable_value() = p[i].value();  // K = Q
  const Tensor huge = Tensor::full({1, 2, 8}, 1e200, float64);
  CHECK_THROWS_AS(layer.forward(huge), ValueError);
  CHECK_THROWS_MATCHES(layer.weights(), TapeError, none);
}

TEST_CASE("attention drops while training and not in eval mode") {
  Attention layer = make(0.5), without = make(0);
  const Tensor x = random({2, 3, 8}, 1);
  CHECK_FALSE(close(layer.forward(x), without.forward(x), 1e-3));
  layer.eval();
  CHECK_FALSE(layer.is_training());
  CHECK(identical(layer.forward(x), without.forward(x)));
  CHECK(identical(layer.backward(x), without.backward(x)));
  layer.train();
  CHECK_FALSE(close(layer.forward(x), without.forward(x), 1e-3));
}

TEST_CASE("each call drops others, and the same seed drops the same") {
  Attention a = make(0.5, 1), b = make(0.5, 1), c = make(0.5, 2);
  const Tensor x = random({2, 3, 8}, 1);
  const Tensor first = a.forward(x), second = a.forward(x);
  CHECK_FALSE(close(first, second, 1e-3));
  CHECK(identical(b.forward(x), first));
  CHECK(identical(b.forward(x), second));
  CHECK_FALSE(close(c.forward(x), first, 1e-3));  // equal parameters, another seed
}

TEST_CASE("dropout zeroes entries of P after softmax, scales up the rest, and C = P_drop V") {
  Attention layer = make(0.25, 1, true);
  MicroTape tape;
  layer(tape.leaf(random({2, 6, 8}, 1)));
  const Tensor p = node_named(tape, "P").value(), dropped = node_named(tape, "P_drop").value();
  Index zeros = 0;
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j)
      for (Index h = 0; h < 4; ++h) {
        const Indices at{h / 2, h % 2, i, j};
        const bool kept = dropped.at(at) != 0;
        if (kept) CHECK(dropped.at(at) == Approx(p.at(at) / 0.75).epsilon(1e-15));
        if (j > i) CHECK_FALSE(kept);  // the future stays hidden
        if (j <= i && !kept) ++zeros;
      }
  CHECK(zeros > 5);
  CHECK(zeros < 40);  // of 84, about 21
  CHECK(
      close(node_named(tape, "C"), matmul(dropped, node_named(tape, "V").value()).value(), 1e-15));
}

TEST_CASE("the gradient of attention with dropout is that of the numbers that it kept") {
  Attention layer = make(0.4);
  MicroTape tape;
  const Var x = tape.leaf(random({1, 4, 8}, 1));
  const Var y = layer(x);
  const Tensor dy = random({1, 4, 8}, 2);
  const Gradients gradients = backward(y, dy);
  const Tensor z = node_named(tape, "Z").value();

  // The same composition with Z held fixed, differentiated by differences.
  const std::vector<Parameter> w = layer.parameters();
  const auto heads = [](const Var& a) { return permute(reshape(a, {1, 4, 2, 4}), {0, 2, 1, 3}); };
  const auto fixed = [&](std::span<const Var> in) {
    const auto map = [&](const Var& a, std::size_t i) {
      return matmul_nt(a, w[2 * i].value()) + Var(w[2 * i + 1].value());
    };
    const Var q = heads(map(in[0], 0)), k = heads(map(in[0], 1)), v = heads(map(in[0], 2));
    const Var c = matmul(softmax(0.5 * matmul_nt(q, k)) * Var(z), v);
    return map(reshape(permute(c, {0, 2, 1, 3}), {1, 4, 8}), 3);
  };
  CHECK(close(fixed(std::vector<Var>{x.value()}), y.value(), 1e-14));
  const auto dot = [&](const Tensor& at) {
    return sum(fixed(std::vector<Var>{at}) * Var(dy)).item();
  };
  const double h = 1e-5;
  for (std::size_t i = 0; i < 32; ++i) {
    Tensor up = x.value(), down = x.value();
    up.mutable_data<double>()[i] += h;
    down.mutable_data<double>()[i] -= h;
    CHECK(gradients[x].value().data<double>()[i] ==
          Approx((dot(up) - dot(down)) / (2 * h)).margin(1e-8));
  }
}

TEST_CASE("backward uses the dropout of its forward, twice the same") {
  Attention layer = make(0.5);
  const Tensor x = random({2, 3, 8}, 1), dy = random({2, 3, 8}, 2);
  layer.forward(x);
  const Tensor dx = layer.backward(dy);
  CHECK(identical(layer.backward(dy), dx));
  layer.forward(x);
  CHECK_FALSE(close(layer.backward(dy), dx, 1e-3));
}
