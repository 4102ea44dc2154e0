#include "layer_testing.hpp"

// Masks of MultiHeadAttention: added to the scores, with or without causal; what is refused.

using namespace microtape;
using namespace microtape::testing;

namespace {

using Attention = MultiHeadAttention;

Attention make(DType dtype, bool causal = false) {
  Attention layer(4, 2, 0, causal, {.dtype = dtype});
  randomize(layer, 5);
  return layer;
}

/// Softmax of every row, from the definition.
std::vector<double> softmax_rows(const Tensor& scores, const Tensor& added) {
  std::vector<double> out;
  for (Index i = 0; i < added.extent(0); ++i) {
    double sum = 0;
    const auto e = [&](Index j) { return std::exp(scores.at({i, j}) + added.at({i, j})); };
    for (Index j = 0; j < added.extent(1); ++j) sum += e(j);
    for (Index j = 0; j < added.extent(1); ++j) out.push_back(e(j) / sum);
  }
  return out;
}

Tensor matrix(const Tensor& x, Index b, Index h) {  // [B, H, t, s] -> [t, s]
  return x.slice(0, b, b + 1).slice(1, h, h + 1).reshape({x.extent(2), x.extent(3)});
}

/// Scores of the layer, before any mask. [B, H, t, s]
Tensor scores_of(Attention& layer, const Tensor& x) {
  MicroTape tape;
  layer(tape.constant(x));
  return node_named(tape, "S").value();
}

}  // namespace

TEST_CASE("a mask is added to the scores of every head and every batch, and never boolean") {
  Attention layer = make(float64);
  const Tensor x = random({2, 3, 4}, 1);
  const Tensor mask = f64({{0, 1, -2}, {0.5, -1e9, 0}, {-kInfinity, 0, 3}});
  layer.forward(x, x, x, &mask);
  const Tensor weights = layer.weights(), scores = scores_of(layer, x);
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 2; ++h) {
      const Tensor expected = Tensor::of({3, 3}, softmax_rows(matrix(scores, b, h), mask), float64);
      CHECK(close(matrix(weights, b, h), expected, 1e-14));
    }
  CHECK(weights.at({1, 1, 2, 0}) == 0);  // -inf
  CHECK(weights.at({1, 1, 1, 1}) == 0);  // -1e9 underflows
}

TEST_CASE("mask [Tq, Tk] is not transposed, and a mask of zeros is none") {
  Attention layer = make(float64);
  const Tensor q = random({2, 2, 4}, 1), kv = random({2, 3, 4}, 2);
  const Tensor mask = f64({{0, -kInfinity, 0}, {0, 0, -kInfinity}});
  layer.forward(q, kv, kv, &mask);
  for (Index b = 0; b < 2; ++b) {
    CHECK(layer.weights().at({b, 0, 0, 1}) == 0);
    CHECK(layer.weights().at({b, 0, 1, 2}) == 0);
    CHECK(layer.weights().at({b, 0, 1, 1}) > 0);
    CHECK(layer.weights().at({b, 0, 0, 2}) > 0);
  }
  const Tensor none = Tensor::zeros({2, 3}, float64);
  CHECK(identical(layer.forward(q, kv, kv, &none), layer.forward(q, kv, kv)));
}

TEST_CASE("causal attention sees no later position, and the diagonal is allowed") {
  Attention layer = make(float64, true);
  const Tensor x = random({2, 4, 4}, 1);
  layer.forward(x);
  const Tensor weights = layer.weights();
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 4; ++j) CHECK((weights.at({1, 0, i, j}) > 0) == (j <= i));
  CHECK(weights.at({1, 0, 0, 0}) == 1);
  // The first outputs do not depend on the last position, nor does its own gradient on them.
  Tensor changed = x;
  for (Index e = 12; e < 16; ++e) changed.mutable_data<double>()[static_cast<std::size_t>(e)] += 1;
  const Tensor y = layer.forward(x), y2 = layer.forward(changed);
  CHECK(identical(y.slice(1, 0, 3), y2.slice(1, 0, 3)));
  CHECK_FALSE(close(y.slice(1, 3, 4), y2.slice(1, 3, 4), 1e-3));
  Tensor dy = Tensor::zeros({2, 4, 4}, float64);
  for (std::size_t i = 0; i < 12; ++i) dy.mutable_data<double>()[i] = 1;  // not the last position
  layer.forward(x);
  const Tensor dx = layer.backward(dy);
  CHECK(is(dx.slice(0, 0, 1).slice(1, 3, 4), {{{0, 0, 0, 0}}}));
  CHECK(dx.at({0, 2, 0}) != 0);
}

TEST_CASE("causal adds -1e9 above the diagonal, on top of a mask, and nothing elsewhere") {
  Attention layer = make(float64, true);
  const Tensor x = random({1, 3, 4}, 1);
  MicroTape tape, other;
  layer(tape.leaf(x));
  CHECK(is(node_named(tape, "M"), {{0, -1e9, -1e9}, {0, 0, -1e9}, {0, 0, 0}}));
  layer(other.leaf(x), x, x, f64({{1, 2, -3}, {4, 5, 6}, {7, 8, -kInfinity}}));
  CHECK(is(node_named(other, "M"), {{1, 2 - 1e9, -3 - 1e9}, {4, 5, 6 - 1e9}, {7, 8, -kInfinity}}));
}

TEST_CASE("causal goes together with a mask: both are added") {
  Attention causal = make(float64, true), plain = make(float64);
  const Tensor x = random({2, 3, 4}, 1), dy = random({2, 3, 4}, 2);
  const Tensor mask = f64({{-1, 0, 2}, {0, -1e9, 1}, {-kInfinity, 3, 0}});
  const Tensor both = f64({{-1, -1e9, 2 - 1e9}, {0, -1e9, 1 - 1e9}, {-kInfinity, 3, 0}});
  CHECK(identical(causal.forward(x, x, x, &mask), plain.forward(x, x, x, &both)));
  CHECK(identical(causal.backward(dy), plain.backward(dy)));
  CHECK(causal.weights().at({0, 0, 2, 0}) == 0);
  CHECK(causal.weights().at({0, 0, 1, 2}) == 0);
}

TEST_CASE("a row of -inf throughout is an error that names the row") {
  Attention layer = make(float64);
  const Tensor x = random({2, 3, 4}, 1);
  const Tensor mask = f64({{0, 0, 0}, {-kInfinity, -kInfinity, -kInfinity}, {0, 0, 0}});
  const std::string text =
      "MultiHeadAttention: no key is left: row 1 of mask [3, 3] is -inf at every key; each row "
      "must keep an allowed key";
  CHECK_THROWS_MATCHES(layer(x, x, x, mask), ValueError, says(text));
  CHECK_THROWS_MATCHES(layer.forward(x, x, x, &mask), ValueError, says("in attention: " + text));
  CHECK_THROWS_AS(layer.backward(x), TapeError);
}

TEST_CASE("a causal row whose allowed keys are all -inf is an error: it would see the future") {
  Attention layer = make(float64, true);
  const Tensor x = random({2, 3, 4}, 1);
  const auto message = [](int row) {
    return "MultiHeadAttention: no key is left: row " + std::to_string(row) +
           " of mask [3, 3] is -inf at every key that is not in the future; each row must keep an "
           "allowed key";
  };
  CHECK_THROWS_MATCHES(layer(x, x, x, f64({{-kInfinity, 0, 0}, {0, 0, 0}, {0, 0, 0}})), ValueError,
      says(message(0)));
  CHECK_THROWS_MATCHES(layer(x, x, x, f64({{0, 0, 0}, {-kInfinity, -kInfinity, 0}, {0, 0, 0}})),
      ValueError, says(message(1)));
  CHECK_NOTHROW(layer(x, x, x,
      f64({{0, -kInfinity, -kInfinity}, {-kInfinity, 0, -kInfinity}, {-kInfinity, 0, 0}})));
  // Without causal the same rows are fine.
  Attention plain = make(float64);
  CHECK_NOTHROW(plain(x, x, x, f64({{-kInfinity, 0, 0}, {0, 0, 0}, {0, 0, 0}})));
}

TEST_CASE("a row of -1e9 throughout is finite: the softmax of the scores in float64") {
  Attention layer = make(float64);
  const Tensor x = random({2, 3, 4}, 1);
  const Tensor mask = f64({{0, 0, 0}, {-1e9, -1e9, -1e9}, {0, 0, 0}});
  layer.forward(x);
  const Tensor free = layer.weights();
  layer.forward(x, x, x, &mask);
  CHECK(close(layer.weights(), free, 1e-7));  // a score beside 1e9 keeps 1.2e-7
  CHECK(close(
      layer.backward(x),
      [&] {
        layer.forward(x);
        return layer.backward(x);
      }(),
      1e-6));
}

TEST_CASE("a row of -1e9 throughout is finite: uniform in float32") {
  Attention layer = make(float32);
  const Tensor x = random({2, 4, 4}, 1, float32);
  const Tensor mask = Tensor::full({4, 4}, -1e9);
  const Tensor y = layer.forward(x, x, x, &mask);
  CHECK(identical(layer.weights(), Tensor::full({2, 2, 4, 4}, 0.25)));
  for (const float v : y.data<float>()) CHECK(std::isfinite(v));
}

TEST_CASE("attention refuses a mask of another dtype: it is added, not boolean") {
  Attention layer = make(float32);
  const Tensor x = random({2, 3, 4}, 1, float32);
  const auto text = [](const std::string& dtype) {
    return "MultiHeadAttention: the mask is " + dtype +
           ", the inputs float32; a mask is added to the scores (0 allows, a large negative number "
           "suppresses; it is not boolean): convert it with to(float32)";
  };
  CHECK_THROWS_MATCHES(
      layer(x, x, x, i64({{1, 0, 0}, {1, 1, 0}, {1, 1, 1}})), DTypeError, says(text("int64")));
  CHECK_THROWS_MATCHES(
      layer(x, x, x, Tensor::zeros({3, 3}, float64)), DTypeError, says(text("float64")));
}

TEST_CASE("attention refuses a mask of any shape but [Tq, Tk]") {
  Attention layer = make(float64);
  const Tensor q = random({2, 3, 4}, 1), kv = random({2, 4, 4}, 2);
  for (const Shape& shape : {Shape{4, 3}, Shape{3, 3}, Shape{2, 4}, Shape{4}, Shape{1, 4}, Shape{},
           Shape{2, 3, 4}, Shape{2, 2, 3, 4}, Shape{2, 1, 1, 4}})
    CHECK_THROWS_MATCHES(layer(q, kv, kv, Tensor::zeros(shape, float64)), ShapeError,
        says("MultiHeadAttention: the mask does not fit: mask " + shape.str() +
             "; it must be [Tq, Tk] = [3, 4]"));
  CHECK_NOTHROW(layer(q, kv, kv, Tensor::zeros({3, 4}, float64)));
}

TEST_CASE("attention refuses a mask with NaN or +inf, and one without a value") {
  Attention layer = make(float64);
  const Tensor x = random({1, 2, 4}, 1);
  CHECK_THROWS_MATCHES(layer(x, x, x, f64({{0, 0}, {0, kNan}})), ValueError,
      says("MultiHeadAttention: the mask holds nan: row 1, column 1 of mask [2, 2]; entries are "
           "finite or -inf"));
  CHECK_THROWS_MATCHES(layer(x, x, x, f64({{0, kInfinity}, {0, 0}})), ValueError,
      says("MultiHeadAttention: the mask holds inf: row 0, column 1 of mask [2, 2]; entries are "
           "finite or -inf"));
  // A pointer to a Tensor that was moved from once passed for "no mask".
  const Tensor nothing;
  CHECK_THROWS_MATCHES(layer.forward(x, x, x, &nothing), ValueError,
      says("Tensor: it has no value: it was default-constructed or moved from; give it one first"));
}

TEST_CASE("a mask may be a view of any strides") {
  Attention layer = make(float64);
  const Tensor x = random({1, 3, 4}, 1);
  const Tensor mask = f64({{0, 1, -2}, {0.5, -1e9, 0}, {-kInfinity, 0, 3}});
  const Tensor y = layer.forward(x, x, x, &mask);
  const Tensor view = mask.transpose().contiguous().transpose();
  CHECK_FALSE(view.is_contiguous());
  CHECK(identical(layer.forward(x, x, x, &view), y));
  const Tensor row = f64({{0, -1, 2}}).broadcast_to({3, 3});
  const Tensor full = f64({{0, -1, 2}, {0, -1, 2}, {0, -1, 2}});
  CHECK(identical(layer.forward(x, x, x, &row), layer.forward(x, x, x, &full)));
}
