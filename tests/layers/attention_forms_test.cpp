#include "layer_testing.hpp"

// forward() and backward() of MultiHeadAttention on Tensors: self or cross, what backward returns,
// and the order of calls.

using namespace microtape;
using namespace microtape::testing;

namespace {

using Attention = MultiHeadAttention;

Attention make(std::uint64_t seed = 1, double dropout = 0, bool causal = false) {
  Attention layer(8, 2, dropout, causal, {.dtype = float64, .seed = seed});
  randomize(layer, 10 * seed);
  return layer;
}

Tensor sum_of(const Tensor& a, const Tensor& b, const Tensor& c) {
  return (Var(a) + Var(b) + Var(c)).value();
}

constexpr const char* kNotCross =
    "the last backward was not of cross attention; call forward() with three Tensors, then "
    "backward()";

}  // namespace

TEST_CASE("self-attention returns dq + dk + dv, which cross attention of copies tells apart") {
  Attention layer = make();
  const Tensor x = random({2, 3, 8}, 1), dy = random({2, 3, 8}, 2);
  const Tensor y = layer.forward(x);
  const Tensor dx = layer.backward(dy);

  const Tensor copy = x, other = x;  // handles on the same numbers, but other objects
  CHECK(identical(layer.forward(x, copy, other), y));
  const Tensor dq = layer.backward(dy);
  const Tensor dk = layer.grad_key_input(), dv = layer.grad_value_input();
  CHECK(close(sum_of(dq, dk, dv), dx, 1e-14));
  CHECK_FALSE(close(dq, dx, 1e-3));
  CHECK_FALSE(close(dk, dq, 1e-3));
  CHECK_FALSE(close(dv, dq, 1e-3));
}

TEST_CASE("forward(x), forward(x, x, x) and attn(x) are one computation") {
  Attention layer = make();
  const Tensor x = random({2, 3, 8}, 1), dy = random({2, 3, 8}, 2);
  const Tensor y = layer.forward(x);
  const Tensor dx = layer.backward(dy);
  CHECK(identical(layer.forward(x, x, x), y));
  CHECK(identical(layer.backward(dy), dx));
  CHECK(identical(layer(x).value(), y));
  CHECK(identical(layer(x, x, x).value(), y));
}

TEST_CASE("two of three inputs being one object is cross attention") {
  Attention layer = make();
  const Tensor x = random({2, 3, 8}, 1), z = random({2, 3, 8}, 2), dy = random({2, 3, 8}, 3);
  const Tensor z2 = add(z, 0.0).value();  // the same numbers in other memory
  const auto compare_with_copies = [&](const Tensor& q, const Tensor& k, const Tensor& v,
                                       const Tensor& q2, const Tensor& k2, const Tensor& v2) {
    const Tensor y = layer.forward(q, k, v);
    const Tensor dq = layer.backward(dy);
    const Tensor dk = layer.grad_key_input(), dv = layer.grad_value_input();
    CHECK(identical(layer.forward(q2, k2, v2), y));
    CHECK(identical(layer.backward(dy), dq));
    CHECK(identical(layer.grad_key_input(), dk));
    CHECK(identical(layer.grad_value_input(), dv));
  };
  compare_with_copies(x, z, z, x, z, z2);
  compare_with_copies(z, z, x, z, z2, x);
  compare_with_copies(z, x, z, z2, x, z);
}

TEST_CASE("the gradients of key and value exist only after a backward of cross attention") {
  Attention layer = make();
  const auto refused = [&] {
    CHECK_THROWS_MATCHES(
        layer.grad_key_input(), TapeError, says(std::string("grad_key_input: ") + kNotCross));
    CHECK_THROWS_MATCHES(
        layer.grad_value_input(), TapeError, says(std::string("grad_value_input: ") + kNotCross));
  };
  const Tensor x = random({2, 3, 8}, 1), z = random({2, 5, 8}, 2), dy = random({2, 3, 8}, 3);
  refused();
  layer.forward(x, z, z);
  refused();  // no backward yet
  layer.backward(dy);
  CHECK(layer.grad_key_input().shape() == z.shape());
  CHECK(layer.grad_value_input().shape() == z.shape());
  CHECK(layer.backward(dy).shape() == x.shape());
  layer.forward(x);
  CHECK_NOTHROW(layer.grad_key_input());  // still those of the last backward
  layer.backward(dy);
  refused();
}

TEST_CASE("backward before forward, and gradients before backward, are TapeErrors") {
  Attention layer = make();
  const Tensor x = random({2, 3, 8}, 1);
  CHECK_THROWS_MATCHES(layer.backward(x), TapeError,
      says("attention: backward before forward: there is no result to go back from; call forward() "
           "first"));
  CHECK_THROWS_MATCHES(layer.gradients(), TapeError,
      says("attention: no gradients yet: there was no backward; call forward() and backward() "
           "first"));
  layer.forward(x);
  CHECK_THROWS_AS(layer.gradients(), TapeError);
  layer(x);  // a call without forward() changes nothing here
  CHECK_NOTHROW(layer.backward(x));
  CHECK_NOTHROW(layer.gradients());
}

TEST_CASE("backward refuses a dy of another shape or dtype and can then be given the right one") {
  Attention layer = make();
  const Tensor x = random({2, 3, 8}, 1), dy = random({2, 3, 8}, 2);
  layer.forward(x);
  CHECK_THROWS_MATCHES(layer.backward(random({2, 4, 8}, 1)), ShapeError,
      says("backward: dy does not fit: dy [2, 4, 8], y [2, 3, 8]; the adjoint of y has y's "
           "shape"));
  CHECK_THROWS_MATCHES(layer.backward(dy.to(float32)), DTypeError,
      says("backward: dy does not fit: dy float32, y float64; convert it with "
           "to(float64)"));
  CHECK_THROWS_AS(layer.gradients(), TapeError);  // nothing was computed
  const Tensor dx = layer.backward(dy);
  Attention fresh = make();
  fresh.forward(x);
  CHECK(identical(fresh.backward(dy), dx));
}

TEST_CASE("a second backward computes the same again: gradients are replaced, never added") {
  Attention layer = make();
  const Tensor x = random({2, 3, 8}, 1), dy = random({2, 3, 8}, 2);
  layer.forward(x);
  const Tensor dx = layer.backward(dy);
  const TensorMap first = attention_gradients(layer, layer.gradients());
  CHECK(identical(layer.backward(dy), dx));
  for (const auto& [name, gradient] : attention_gradients(layer, layer.gradients()))
    CHECK(identical(gradient, first.at(name)));
  // Backward is linear in dy.
  layer.backward(scale(dy, {2}).value());
  for (const auto& [name, gradient] : attention_gradients(layer, layer.gradients()))
    CHECK(identical(gradient, scale(first.at(name), {2}).value()));
}

TEST_CASE("gradients survive the next forward until the next backward replaces them") {
  Attention layer = make();
  const Tensor x = random({2, 3, 8}, 1), z = random({4, 5, 8}, 3);
  layer.forward(x);
  layer.backward(x);
  const TensorMap first = attention_gradients(layer, layer.gradients());
  layer.forward(z);
  for (const auto& [name, gradient] : attention_gradients(layer, layer.gradients()))
    CHECK(identical(gradient, first.at(name)));
  layer.backward(z);
  const TensorMap second = attention_gradients(layer, layer.gradients());
  CHECK_FALSE(close(second.at("v_proj.weight"), first.at("v_proj.weight"), 1e-3));
  CHECK(second.at("v_proj.weight").shape() == Shape{8, 8});
}

TEST_CASE("a failed forward leaves the parameters as they were, and backward refused") {
  Attention layer = make();
  const Tensor x = random({2, 3, 8}, 1), dy = random({2, 3, 8}, 2);
  layer.forward(x);
  layer.backward(dy);
  const Unchanged parameters(layer);
  const auto refused = [&] {
    CHECK_THROWS_MATCHES(layer.backward(dy), TapeError,
        says("attention: backward before forward: there is no result to go back from; call "
             "forward() first"));
  };
  const TensorMap gradients = attention_gradients(layer, layer.gradients());
  CHECK_THROWS_AS(layer.forward(random({2, 3, 7}, 1)), ShapeError);
  CHECK(parameters.holds());
  refused();
  for (const auto& [name, gradient] : attention_gradients(layer, layer.gradients()))
    CHECK(identical(gradient, gradients.at(name)));
  layer.forward(x);
  CHECK_NOTHROW(layer.backward(dy));
  // A failure deep inside, in softmax: the scores of row 0 are infinite. In heads of width 1 they
  // are single products; a sum of some, of either sign, would be NaN or not as the kernel orders
  // it.
  Attention narrow(8, 8, 0, false, {.dtype = float64});
  narrow.forward(x);
  const Unchanged narrow_parameters(narrow);
  CHECK_THROWS_AS(narrow.forward(Tensor::full({1, 2, 8}, 1e300, float64)), ValueError);
  CHECK(narrow_parameters.holds());
  CHECK_THROWS_AS(narrow.backward(dy), TapeError);
}

TEST_CASE("forward and backward change neither inputs nor parameters") {
  Attention layer = make();
  const Unchanged parameters(layer);
  const Tensor x = random({2, 3, 8}, 1), dy = random({2, 3, 8}, 2);
  layer.forward(x);
  layer.backward(dy);
  CHECK(identical(x, random({2, 3, 8}, 1)));
  CHECK(identical(dy, random({2, 3, 8}, 2)));
  CHECK(parameters.holds());
}

TEST_CASE("a layer that moves between forward and backward goes on") {
  const Tensor x = random({2, 3, 8}, 1), dy = random({2, 3, 8}, 2);
  Attention still = make();
  const Tensor y = still.forward(x);
  const Tensor dx = still.backward(dy);

  Attention from = make();
  from.forward(x);
  Attention to = std::move(from);
  CHECK(identical(to.backward(dy), dx));
  CHECK(identical(to.weights(), still.weights()));
  const TensorMap expected = attention_gradients(still, still.gradients());
  Attention assigned(8, 2, 0, false, {.dtype = float64});
  assigned = std::move(to);
  for (const auto& [name, gradient] : attention_gradients(assigned, assigned.gradients()))
    CHECK(identical(gradient, expected.at(name)));
  CHECK(identical(assigned.forward(x), y));
  CHECK(identical(assigned.backward(dy), dx));

  std::vector<Attention> grows;  // moves on its own account
  for (int i = 0; i < 5; ++i) {
    grows.push_back(make());
    grows.back().forward(x);
  }
  for (Attention& layer : grows) CHECK(identical(layer.backward(dy), dx));
}
