#include <sstream>

#include "plain_layer.hpp"

// The README's program of a layer that keeps its own tape, and its numbers.

using namespace microtape;
using namespace microtape::testing;

namespace {

/// Compares all that a forward and backward of self-attention left in the layer.
void check_against_plain_loops(MultiHeadAttention& layer, Index heads, bool causal, const Tensor& x,
    const Tensor& dy, const Tensor& y, const Tensor& dx, double rtol) {
  const Index t = x.extent(1);
  const TensorMap plain = plain_attention(
      layer.state_dict(), heads, x, x, x, causal ? future(t) : Tensor::zeros({t, t}, float64), dy);
  CHECK(close(y, plain.at("y"), rtol, "y"));
  CHECK(close(layer.weights(), plain.at("weights"), rtol, "weights"));
  const Var total = Var(plain.at("query")) + Var(plain.at("key")) + Var(plain.at("value"));
  CHECK(close(dx, total.value(), rtol, "dx"));
  const TensorMap found = packed(attention_gradients(layer, layer.gradients()));
  const TensorMap expected = packed(plain);
  for (const auto& [name, gradient] : found) CHECK(close(gradient, expected.at(name), rtol, name));
}

}  // namespace

TEST_CASE("the README program runs to the letter, with the numbers of plain loops over doubles") {
  std::ostringstream out;
  MultiHeadAttention attn(64, 4, 0.f, true);  // 64 features, 4 heads, causal
  auto x = Tensor::randn({4, 32, 64}, 1);
  auto y = attn.forward(x);
  auto dx = attn.backward(Tensor::full({4, 32, 64}, 1.f));  // the gradient by x
  for (const Parameter& p : attn.parameters())              // and by each parameter
    out << p.symbol() << ' ' << attn.gradients()[p].shape().str() << '\n';
  CHECK(out.str() ==
        "W_Q [64, 64]\nb_Q [64]\nW_K [64, 64]\nb_K [64]\nW_V [64, 64]\nb_V [64]\nW_O [64, 64]\n"
        "b_O [64]\n");
  check_against_plain_loops(attn, 4, true, x, Tensor::full({4, 32, 64}, 1.f), y, dx, 5e-6);
}

TEST_CASE("the README program on zeros: zeros out, and the gradients of zeros") {
  MultiHeadAttention attention(64, 4, 0.f, true);
  const Tensor x = Tensor::zeros({4, 32, 64});
  const Tensor y = attention.forward(x);
  const Tensor dy = Tensor::full({4, 32, 64}, 1.f);
  const Tensor dx = attention.backward(dy);

  CHECK(identical(y, Tensor::zeros({4, 32, 64})));
  CHECK(dx.shape() == Shape{4, 32, 64});
  // All scores are 0: row i spreads over its i + 1 keys.
  for (Index i = 0; i < 32; ++i) {
    CHECK(attention.weights().at({3, 2, i, 0}) ==
          Approx(1.0 / static_cast<double>(i + 1)).epsilon(1e-6));
    CHECK(attention.weights().at({3, 2, i, i}) == attention.weights().at({3, 2, i, 0}));
    if (i < 31) CHECK(attention.weights().at({3, 2, i, i + 1}) == 0);
  }
  // What x multiplies gets no gradient; the output bias gets one from each of 4 * 32 rows.
  const TensorMap gradients = attention_gradients(attention, attention.gradients());
  for (const char* name : {"q_proj.weight", "q_proj.bias", "k_proj.weight", "k_proj.bias",
           "v_proj.weight", "out_proj.weight"}) {
    INFO(name);
    CHECK(identical(gradients.at(name), Tensor::zeros(gradients.at(name).shape())));
  }
  CHECK(identical(gradients.at("out_proj.bias"), Tensor::full({64}, 128)));
  check_against_plain_loops(attention, 4, true, x, dy, y, dx, 2e-6);
}

TEST_CASE("self-attention of random numbers, causal or not, agrees with plain loops over doubles") {
  const bool causal = GENERATE(true, false);
  const DType dtype = GENERATE(float64, float32);
  MultiHeadAttention attention(64, 4, 0.0, causal, {.dtype = dtype, .seed = 7});
  const Tensor x = random({4, 32, 64}, 1, dtype);
  const Tensor y = attention.forward(x);
  const Tensor dy = random({4, 32, 64}, 2, dtype);
  const Tensor dx = attention.backward(dy);
  check_against_plain_loops(attention, 4, causal, x, dy, y, dx, dtype == float64 ? 1e-13 : 5e-6);
}

TEST_CASE("cross attention with a mask agrees with plain loops over doubles") {
  MultiHeadAttention attention(12, 3, 0.0, false, {.dtype = float64, .seed = 7});
  randomize(attention, 40);
  const Tensor q = random({2, 3, 12}, 1), k = random({2, 5, 12}, 2), v = random({2, 5, 12}, 3);
  const Tensor dy = random({2, 3, 12}, 4);
  const Tensor mask =
      f64({{0, 1, -1e9, 0.5, -2}, {-1e9, -1e9, 0, -1e9, -1e9}, {-1, 0, 0, -1e9, 3}});
  const TensorMap plain = plain_attention(attention.state_dict(), 3, q, k, v, mask, dy);
  CHECK(close(attention.forward(q, k, v, &mask), plain.at("y"), 1e-13));
  CHECK(close(attention.backward(dy), plain.at("query"), 1e-13));
  CHECK(close(attention.grad_key_input(), plain.at("key"), 1e-13));
  CHECK(close(attention.grad_value_input(), plain.at("value"), 1e-13));
  CHECK(close(attention.weights(), plain.at("weights"), 1e-13));
  const TensorMap expected = packed(plain);
  for (const auto& [name, gradient] : packed(attention_gradients(attention, attention.gradients())))
    CHECK(close(gradient, expected.at(name), 1e-13, name));
}
