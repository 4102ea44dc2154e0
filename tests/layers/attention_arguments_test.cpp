#include "layer_testing.hpp"

// What MultiHeadAttention refuses, to the letter: arguments of the constructor, and inputs.

using namespace microtape;
using namespace microtape::testing;

namespace {

using Attention = MultiHeadAttention;

Tensor zeros(const Shape& shape) { return Tensor::zeros(shape); }

}  // namespace

TEST_CASE("attention checks the number of heads before it divides by it") {
  CHECK_THROWS_MATCHES(Attention(4, 0), ValueError,
      says("MultiHeadAttention: num_heads out of range: embed 4, num_heads 0; needs num_heads >= "
           "1"));
  CHECK_THROWS_MATCHES(Attention(4, -2), ValueError,
      says("MultiHeadAttention: num_heads out of range: embed 4, num_heads -2; needs num_heads >= "
           "1"));
  CHECK_THROWS_MATCHES(Attention(0, 0), ValueError,
      says("MultiHeadAttention: num_heads out of range: embed 0, num_heads 0; needs num_heads >= "
           "1"));
  constexpr Index kLeast = std::numeric_limits<Index>::min();  // / -1 would trap
  CHECK_THROWS_AS(Attention(kLeast, -1), ValueError);
}

TEST_CASE("attention refuses a width that the heads do not divide") {
  CHECK_THROWS_MATCHES(Attention(10, 3), ValueError,
      says("MultiHeadAttention: the heads do not divide embed: embed 10, num_heads 3; embed must "
           "be a positive multiple of num_heads"));
  CHECK_THROWS_MATCHES(Attention(4, 8), ValueError,
      says("MultiHeadAttention: the heads do not divide embed: embed 4, num_heads 8; embed must be "
           "a positive multiple of num_heads"));
  CHECK_THROWS_MATCHES(Attention(0, 4), ValueError,
      says("MultiHeadAttention: the heads do not divide embed: embed 0, num_heads 4; embed must be "
           "a positive multiple of num_heads"));
  CHECK_THROWS_AS(Attention(-4, 2), ValueError);
  CHECK_NOTHROW(Attention(4, 4));
  CHECK_NOTHROW(Attention(4, 1));
}

TEST_CASE("attention refuses a dropout below 0, of 1 or more, or NaN") {
  CHECK_THROWS_MATCHES(Attention(4, 2, 1.0), ValueError,
      says("MultiHeadAttention: dropout out of range: 1; needs 0 <= dropout < 1"));
  CHECK_THROWS_MATCHES(Attention(4, 2, -0.1), ValueError,
      says("MultiHeadAttention: dropout out of range: -0.1; needs 0 <= dropout < 1"));
  CHECK_THROWS_MATCHES(Attention(4, 2, kNan), ValueError,
      says("MultiHeadAttention: dropout out of range: nan; needs 0 <= dropout < 1"));
  CHECK_THROWS_AS(Attention(4, 2, kInfinity), ValueError);
  CHECK_NOTHROW(Attention(4, 2, 0.0));
  CHECK_NOTHROW(Attention(4, 2, 0.999));
}

TEST_CASE("attention has no parameters of whole numbers") {
  CHECK_THROWS_AS(Attention(4, 2, 0, false, {.dtype = int64}), DTypeError);
}

TEST_CASE("attention refuses inputs that are not [B, T, E] and names the one") {
  Attention layer(4, 2);
  const Tensor good = zeros({2, 3, 4});
  CHECK_THROWS_MATCHES(layer(zeros({3, 4}), good, good), ShapeError,
      says("MultiHeadAttention: query does not fit: query [3, 4], key [2, 3, 4], value [2, 3, 4]; "
           "query must be [B, T, 4]"));
  CHECK_THROWS_MATCHES(layer(good, zeros({2, 3, 3}), good), ShapeError,
      says("MultiHeadAttention: key does not fit: query [2, 3, 4], key [2, 3, 3], value [2, 3, 4]; "
           "key must be [B, T, 4]"));
  CHECK_THROWS_MATCHES(layer(good, good, zeros({2, 1, 3, 4})), ShapeError,
      says("MultiHeadAttention: value does not fit: query [2, 3, 4], key [2, 3, 4], value "
           "[2, 1, 3, 4]; value must be [B, T, 4]"));
  CHECK_THROWS_AS(layer(zeros({})), ShapeError);
  CHECK_THROWS_AS(layer(zeros({4})), ShapeError);
}

TEST_CASE("attention refuses other batches, and keys and values of two lengths") {
  Attention layer(4, 2);
  const Tensor q = zeros({2, 3, 4});
  CHECK_THROWS_MATCHES(layer(q, zeros({1, 5, 4}), zeros({1, 5, 4})), ShapeError,
      says("MultiHeadAttention: batches differ: query [2, 3, 4], key [1, 5, 4], value [1, 5, 4]; "
           "all need the same B"));
  CHECK_THROWS_MATCHES(layer(q, zeros({2, 5, 4}), zeros({1, 5, 4})), ShapeError,
      says("MultiHeadAttention: batches differ: query [2, 3, 4], key [2, 5, 4], value [1, 5, 4]; "
           "all need the same B"));
  CHECK_THROWS_MATCHES(layer(q, zeros({2, 6, 4}), zeros({2, 7, 4})), ShapeError,
      says("MultiHeadAttention: lengths differ: query [2, 3, 4], key [2, 6, 4], value [2, 7, 4]; "
           "key and value need the same length, got 6 and 7"));
  CHECK_THROWS_MATCHES(layer(q, zeros({2, 0, 4}), zeros({2, 0, 4})), ShapeError,
      says("MultiHeadAttention: there is no key to attend to: query [2, 3, 4], key [2, 0, 4], "
           "value [2, 0, 4]; Tk must be 1 or more"));
}

TEST_CASE("causal attention refuses another number of keys than of queries") {
  Attention layer(4, 2, 0, true);
  CHECK_THROWS_MATCHES(layer(zeros({2, 3, 4}), zeros({2, 5, 4}), zeros({2, 5, 4})), ShapeError,
      says("MultiHeadAttention: causal attention needs as many queries as keys: query [2, 3, 4], "
           "key [2, 5, 4], value [2, 5, 4]; Tq is 3, Tk is 5"));
  CHECK_NOTHROW(Attention(4, 2)(zeros({2, 3, 4}), zeros({2, 5, 4}), zeros({2, 5, 4})));
}

TEST_CASE("attention refuses inputs of another dtype than its parameters") {
  Attention layer(4, 2);
  const Tensor good = zeros({2, 3, 4});
  CHECK_THROWS_MATCHES(layer(good, good.to(float64), good), DTypeError,
      says("MultiHeadAttention: dtypes differ: key is float64, the parameters float32; convert it "
           "with to(float32)"));
  CHECK_THROWS_MATCHES(layer(good.to(int64), good, good), DTypeError,
      says("MultiHeadAttention: dtypes differ: query is int64, the parameters float32; convert it "
           "with to(float32)"));
  CHECK_THROWS_AS(layer(Var()), ValueError);
}

TEST_CASE("an error inside attention says in which scope it happened, and leaves the tape usable") {
  Attention layer(4, 2, 0, false, {.name = "attn"});
  const std::string text =
      "MultiHeadAttention: query does not fit: query [2, 3, 5], key [2, 3, 5], value [2, 3, 5]; "
      "query must be [B, T, 4]";
  CHECK_THROWS_MATCHES(layer.forward(zeros({2, 3, 5})), ShapeError, says("in attn: " + text));
  CHECK_THROWS_MATCHES(layer(zeros({2, 3, 5})), ShapeError, says(text));
  MicroTape tape;
  const Var x = tape.leaf(zeros({2, 3, 5}));
  {
    const auto scope = tape.scope("encoder");
    CHECK_THROWS_MATCHES(layer(x), ShapeError, says("in encoder/attn: " + text));
  }
  CHECK(tape.size() == 1);  // nothing was added
  CHECK(tape.current_scope() == 0);
  CHECK_NOTHROW(layer(tape.leaf(zeros({2, 3, 4}))));
}

TEST_CASE("attention on an empty batch or an empty sequence is empty") {
  Attention layer(4, 2);
  for (const Shape& shape : {Shape{0, 3, 4}, Shape{2, 0, 4}, Shape{0, 0, 4}}) {
    CHECK(layer.forward(zeros(shape)).shape() == shape);
    CHECK(layer.backward(zeros(shape)).shape() == shape);
    for (const auto& [name, gradient] : attention_gradients(layer, layer.gradients()))
      CHECK(identical(gradient, zeros(gradient.shape())));
  }
}
