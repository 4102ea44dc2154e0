// Ops that choose by place, and losses: hand-computed values, extremes, and the exact error texts.

#include <microtape/tape/backward.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("gather and scatter_add are adjoint, and what is taken twice adds up") {
  MicroTape tape;
  const Var x = tape.leaf(f64({{1, 2, 3}, {4, 5, 6}}));
  const Tensor index = i64({{2, 2}, {0, 1}});
  const Var y = gather(x, 1, index);
  CHECK(is(y, {{3, 3}, {4, 5}}));
  CHECK(is(backward(y, f64({{10, 1}, {7, 5}}))[x], {{0, 0, 11}, {7, 5, 0}}));
  const Var source = tape.leaf(f64({{10, 1}, {7, 5}}));
  const Var sum = scatter_add(x, 1, index, source);
  CHECK(is(sum, {{1, 2, 14}, {11, 10, 6}}));
  CHECK(is(backward(sum, f64({{1, 2, 3}, {4, 5, 6}}))[source], {{3, 3}, {4, 5}}));
}

TEST_CASE("embedding takes rows, and a repeated row gets both adjoints") {
  MicroTape tape;
  const Var table = tape.leaf(f64({{1, 2}, {3, 4}, {5, 6}}));
  const Var y = embedding(table, i64({2, 0, 2}));
  CHECK(is(y, {{5, 6}, {1, 2}, {5, 6}}));
  CHECK(is(backward(y, f64({{1, 2}, {3, 4}, {10, 20}}))[table], {{3, 4}, {0, 0}, {11, 22}}));
  CHECK(embedding(table, Tensor::zeros({0}, int64)).shape() == Shape({0, 2}));
}

TEST_CASE("an index that is out of range is named, with its place") {
  const Tensor table = f64({{1, 2}, {3, 4}, {5, 6}});
  CHECK_THROWS_MATCHES(embedding(table, i64({0, 3})), IndexError,
      says("embedding: index 3 is out of range: number 1 of index [2]; needs 0 <= index < 3"));
  CHECK_THROWS_MATCHES(gather(table, 0, i64({{0, -1}})), IndexError,
      says("gather: index -1 is out of range: number 1 of index [1, 2]; needs 0 <= index < 3"));
  CHECK_THROWS_MATCHES(embedding(table, f64({0})), DTypeError,
      says("embedding: indices must be int64: index float64 [1]; convert them with to(int64)"));
  CHECK_THROWS_MATCHES(gather(table, 1, i64({0})), ShapeError,
      says("gather: the index does not fit: x [3, 2], index [1]; all but axis 1 must be equal"));
  CHECK_THROWS_MATCHES(scatter_add(table, 0, i64({{0, 1}}), f64({{1}})), ShapeError,
      says(
          "scatter_add: the source does not fit: source [1, 1], index [1, 2]; they must be equal"));
  CHECK_THROWS_MATCHES(embedding(f64({1, 2}), i64({0})), ShapeError,
      says("embedding: the table is no matrix: table [2]; needs [n, d]"));
  CHECK_THROWS_MATCHES(one_hot(i64({1, 4}), 3), IndexError,
      says("one_hot: index 4 is out of range: number 1 of index [2]; needs 0 <= index < 3"));
}

TEST_CASE("argmax names the first of equal ones, and is inactive") {
  MicroTape tape;
  const Var x = tape.leaf(f64({{1, 3, 3}, {2, 1, 0}}));
  const Var at = argmax(x);
  CHECK(is(at, {1, 0}));
  CHECK(is(argmax(x, 0), {1, 0, 0}));
  CHECK_FALSE(tape.node(at.node()).is_active());
  CHECK_THROWS_AS(backward(at, i64({1, 1})), TapeError);
  CHECK_THROWS_MATCHES(argmax(Tensor::zeros({2, 0})), ValueError,
      says("argmax: the maximum of zero elements does not exist: x [2, 0], axis 1; the axis needs "
           "at "
           "least one"));
}

TEST_CASE(
    "tril and triu keep their triangle, and the other gets adjoint 0 even if it is infinite") {
  MicroTape tape;
  const Var x = tape.leaf(f64({{1, kInfinity, 3}, {4, 5, kNan}}));
  CHECK(is(tril(x), {{1, 0, 0}, {4, 5, 0}}));
  CHECK(is(triu(f64({{1, 2, 3}, {4, 5, 6}}), 1), {{0, 2, 3}, {0, 0, 6}}));
  CHECK(is(tril(f64({{1, 2, 3}, {4, 5, 6}}), -1), {{0, 0, 0}, {4, 0, 0}}));
  CHECK(is(backward(sum(tril(x)))[x], {{1, 0, 0}, {1, 1, 0}}));
  CHECK_THROWS_MATCHES(tril(f64({1, 2})), ShapeError,
      says("tril: no matrix: x [2] has rank 1; needs rank 2 or more"));
}

TEST_CASE("masked_fill puts a number where the mask is not 0, and no adjoint comes from there") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2, 3}));
  const Var y = masked_fill(x, i64({0, 1, 0}), -kInfinity);
  CHECK(is(y, {1, -kInfinity, 3}));
  CHECK(is(backward(sum(y))[x], {1, 0, 1}));
}

TEST_CASE("squeeze, unsqueeze and split") {
  MicroTape tape;
  const Var x = tape.leaf(f64({{1, 2, 3, 4}}));
  CHECK(squeeze(x, 0).shape() == Shape({4}));
  CHECK(unsqueeze(x, -1).shape() == Shape({1, 4, 1}));
  CHECK(unsqueeze(x, 0).shape() == Shape({1, 1, 4}));
  const std::vector<Var> halves = split(x, 2, 1);
  REQUIRE(halves.size() == 2);
  CHECK(is(halves[1], {{3, 4}}));
  const std::vector<Index> extents{1, 3};
  const std::vector<Var> parts = split(x, extents, 1);
  CHECK(is(parts[1], {{2, 3, 4}}));
  CHECK(is(backward(sum(2 * parts[1]))[x], {{0, 2, 2, 2}}));
  CHECK_THROWS_MATCHES(squeeze(x, 1), ShapeError,
      says("squeeze: axis 1 is not of extent 1: x [1, 4]; only such an axis can be taken away"));
  CHECK_THROWS_MATCHES(split(x, 3, 1), ShapeError,
      says("split: the axis has no 3 equal pieces: x [1, 4], axis 1; needs parts >= 1 that divide "
           "4"));
  CHECK_THROWS_MATCHES(split(x, std::vector<Index>{1, 2}, 1), ShapeError,
      says("split: the pieces do not fill the axis: x [1, 4], axis 1, 2 pieces of together 3; they "
           "must sum to 4"));
}

TEST_CASE("clamp lets the adjoint pass on its bounds, and refuses bounds out of order") {
  MicroTape tape;
  const Var x = tape.leaf(f64({-2, -1, 0, 1, 2}));
  const Var y = clamp(x, -1, 1);
  CHECK(is(y, {-1, -1, 0, 1, 1}));
  CHECK(is(backward(sum(y))[x], {0, 1, 1, 1, 0}));
  const auto scope = tape.scope("here");
  CHECK_THROWS_MATCHES(clamp(x, 1, -1), ValueError,
      says("in here: clamp: the bounds are out of order: low 1, high -1; needs low <= high"));
  CHECK_THROWS_AS(clamp(x, kNan, 1), ValueError);
}

TEST_CASE("maximum and minimum leave no trace of an infinite loser") {
  MicroTape tape;
  const Var a = tape.leaf(f64({1, -kInfinity})), b = tape.leaf(f64({kInfinity, 2}));
  const Gradients up = backward(sum(maximum(a, b))), down = backward(sum(minimum(a, b)));
  CHECK(is(up[a], {0, 0}));
  CHECK(is(up[b], {1, 1}));
  CHECK(is(down[a], {1, 1}));
  CHECK(is(maximum(a, 0.5), {1, 0.5}));
  CHECK(is(minimum(0.5, b), {0.5, 0.5}));
}

TEST_CASE("mse_loss is the mean of squares, and refuses to broadcast") {
  MicroTape tape;
  const Var a = tape.leaf(f64({1, 4}));
  const Var loss = mse_loss(a, f64({3, 4}));
  CHECK(loss.item() == 2);
  CHECK(is(backward(loss)[a], {-2, 0}));
  CHECK_THROWS_MATCHES(mse_loss(a, f64({{1}, {2}})), ShapeError,
      says("mse_loss: shapes differ: a [2], b [2, 1]; they must be equal"));
}

TEST_CASE("cross_entropy: rows with the ignored label have no part, and none left is NaN") {
  MicroTape tape;
  const Var logits = tape.leaf(f64({{0, 0}, {5, -5}, {0, 0}}));
  const Var loss = cross_entropy(logits, i64({0, -100, 1}));
  CHECK(loss.item() == Approx(std::log(2.0)).epsilon(1e-15));
  CHECK(is(backward(loss)[logits], {{-0.25, 0.25}, {0, 0}, {0.25, -0.25}}));
  const CrossEntropyOptions seven{.ignore_index = 7};
  CHECK(cross_entropy(logits, i64({0, 7, 1}), seven).item() == loss.item());
  CHECK(std::isnan(cross_entropy(logits, i64({-100, -100, -100})).item()));
}

TEST_CASE("dropout of an op: one Z for forward and backward, a function of the seed") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::full({1000}, 2, float64));
  const Var y = dropout(x, 0.25, 5);
  const Tensor dx = backward(sum(y))[x].value();
  CHECK(identical((2 * Var(dx)).value(), y.value()));
  CHECK(identical(dropout(x, 0.25, 5), y.value()));
  CHECK_FALSE(identical(dropout(x, 0.25, 6), y.value()));
  CHECK(is(dropout(f64({1, 2}), 1, 0), {0, 0}));
  CHECK(is(dropout(f64({1, 2}), 0, 0), {1, 2}));
  CHECK_THROWS_MATCHES(
      dropout(x, 1.5, 0), ValueError, says("dropout: p is no probability: 1.5; needs 0 <= p <= 1"));
  CHECK_THROWS_MATCHES(dropout(i64({1, 2}), 0.5, 0), DTypeError,
      says("dropout: whole numbers do not scale: x int64 [2]; needs float32 or float64"));
}

TEST_CASE("scaled_dot_product_attention is the board example, and names S, P and C") {
  MicroTape tape;
  const double ln3 = std::log(3.0);
  const Var q = tape.leaf(f64({{2, 0, 0, 0}, {0, 2, 0, 0}}));
  const Var k = tape.leaf(f64({{ln3, 0, 0, 0}, {0, ln3, 0, 0}}));
  const Var v = tape.leaf(f64({{4, 0}, {0, 8}}));
  const Var c = scaled_dot_product_attention(q, k, v);
  CHECK(close(c, f64({{3, 2}, {1, 6}}), 1e-15));
  CHECK(tape.node(c.node()).name() == "C");
  const Var causal = scaled_dot_product_attention(q, k, v, {.causal = true});
  CHECK(close(causal, f64({{4, 0}, {1, 6}}), 1e-15));
  const Var one = slice(q, 0, 0, 1);
  const NodeId before = tape.size();
  CHECK_THROWS_AS(scaled_dot_product_attention(one, k, v, {.causal = true}), ShapeError);
  CHECK(tape.size() == before);
}

TEST_CASE("layer_norm refuses a gain that is not one number a column") {
  CHECK_THROWS_MATCHES(layer_norm(f64({{1, 2}}), f64({1, 2, 3}), f64({0, 0})), ShapeError,
      says("layer_norm: gain does not fit: gain [3], x [1, 2]; it must be one number for each "
           "column "
           "of x"));
  CHECK_THROWS_MATCHES(standardize(f64(1)), ShapeError,
      says("standardize: x has no rows of numbers: x []; needs [.., n], n >= 1"));
}
