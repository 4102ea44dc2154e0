#include "plain_layer.hpp"

// Linear: y = x W^T + b, its closed-form gradients, its first values, its errors.

using namespace microtape;
using namespace microtape::testing;

namespace {

Shape with_last(const Shape& shape, Index extent) { return shape.with(-1, extent); }

}  // namespace

TEST_CASE("Linear on a small example gives the numbers of the blackboard") {
  Linear layer(2, 3, {.dtype = float64});
  layer.weight().mutable_value() = f64({{1, 2}, {3, 4}, {5, 6}});
  layer.bias().mutable_value() = f64({10, 20, 30});
  CHECK(
      is(layer.forward(f64({{1, 0}, {0, 1}, {1, -1}})), {{11, 23, 35}, {12, 24, 36}, {9, 19, 29}}));
  CHECK(is(layer.backward(f64({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}})), {{1, 2}, {3, 4}, {5, 6}}));
  CHECK(is(layer.gradients()[layer.weight()], {{1, 0}, {0, 1}, {1, -1}}));
  CHECK(is(layer.gradients()[layer.bias()], {1, 1, 1}));
}

TEST_CASE("Linear's gradients on the tape are the closed form, for inputs of rank 1 to 4") {
  const Shape shape =
      GENERATE(Shape{5}, Shape{4, 5}, Shape{2, 3, 5}, Shape{2, 3, 2, 5}, Shape{1, 5});
  Linear layer(5, 3, {.dtype = float64, .seed = 1});
  randomize(layer, 2);
  const Tensor x = random(shape, 4), dy = random(with_last(shape, 3), 5);
  plain::Affine closed{matrix_of(layer.weight().value()), matrix_of(layer.bias().value()), {}, {}};
  const Tensor y = tensor_of(closed.forward(matrix_of(x)), with_last(shape, 3));
  const Tensor dx = tensor_of(closed.backward(matrix_of(x), matrix_of(dy)), shape);  // dY W
  const Tensor dw = tensor_of(closed.dw, {3, 5});                                    // dY^T X
  const Tensor db = tensor_of(closed.db, {3});                                       // colsum(dY)

  CHECK(close(layer.forward(x), y, 1e-14));
  CHECK(close(layer.backward(dy), dx, 1e-14));
  CHECK(close(layer.gradients()[layer.weight()], dw, 1e-14));
  CHECK(close(layer.gradients()[layer.bias()], db, 1e-14));

  const Keep keep = GENERATE(Keep::everything, Keep::needed);
  MicroTape tape(keep);
  const Var leaf = tape.leaf(x);
  const Gradients gradients = backward(layer(leaf), dy);
  CHECK(identical(gradients[leaf], layer.backward(dy)));
  CHECK(identical(gradients[layer.weight()], layer.gradients()[layer.weight()].value()));
  CHECK(identical(gradients[layer.bias()], layer.gradients()[layer.bias()].value()));
}

TEST_CASE("Linear takes strided input as it takes a copy") {
  Linear layer(5, 3, {.dtype = float64, .seed = 1});
  const Tensor x = random({5, 4}, 1).transpose(), dy = random({3, 4}, 2).transpose();
  CHECK_FALSE(x.is_contiguous());
  const Tensor y = layer.forward(x);
  const Tensor dx = layer.backward(dy);
  CHECK(identical(layer.forward(x.contiguous()), y));
  CHECK(close(layer.backward(dy.contiguous()), dx, 1e-15));
}

TEST_CASE("Linear's first weights are uniform in Xavier's range, and its bias is 0") {
  const DType dtype = GENERATE(float32, float64);
  Linear layer(300, 100, {.dtype = dtype, .seed = 9});
  const double bound = std::sqrt(6.0 / 400);
  const Tensor w = layer.weight().value().to(float64);
  CHECK(w.shape() == Shape{100, 300});
  CHECK(layer.weight().value().dtype() == dtype);
  double low = 0, high = 0, sum = 0, squares = 0;
  for (const double v : w.data<double>()) {
    low = std::min(low, v);
    high = std::max(high, v);
    sum += v;
    squares += v * v;
  }
  CHECK(low >= -bound);
  CHECK(low < -0.999 * bound);
  CHECK(high <= bound);
  CHECK(high > 0.999 * bound);
  // Of 30,000 numbers: mean 0, variance bound^2 / 3, each within four of its standard deviations.
  CHECK(std::abs(sum / 30000) < 4 * bound / std::sqrt(3.0 * 30000));
  CHECK(squares / 30000 ==
        Approx(bound * bound / 3).margin(4 * bound * bound * std::sqrt(4.0 / 45 / 30000)));
  CHECK(identical(layer.bias().value(), Tensor::zeros({100}, dtype)));
}

TEST_CASE("the same seed makes the same Linear, another seed another") {
  Linear a(3, 2, {.seed = 1}), b(3, 2, {.seed = 1}), c(3, 2, {.seed = 2});
  CHECK(identical(a.weight().value(), b.weight().value()));
  CHECK_FALSE(identical(a.weight().value(), c.weight().value()));
}

TEST_CASE("Linear says what it refuses, to the letter") {
  CHECK_THROWS_MATCHES(
      Linear(0, 3), ValueError, says("Linear: no such map: in 0, out 3; both must be 1 or more"));
  CHECK_THROWS_MATCHES(
      Linear(3, -1), ValueError, says("Linear: no such map: in 3, out -1; both must be 1 or more"));
  CHECK_THROWS_AS(Linear(3, 2, {.dtype = int64}), DTypeError);

  Linear layer(3, 2);
  CHECK_THROWS_MATCHES(layer(Tensor::zeros({4, 2})), ShapeError,
      says("Linear: x does not fit: x [4, 2], weight [2, 3]; x must be [.., 3]"));
  CHECK_THROWS_MATCHES(layer(Tensor::zeros({})), ShapeError,
      says("Linear: x does not fit: x [], weight [2, 3]; x must be [.., 3]"));
  CHECK_THROWS_MATCHES(layer(Tensor::zeros({4, 3}, float64)), DTypeError,
      says("Linear: dtypes differ: x float64, weight float32; convert x with to(float32)"));
  CHECK_THROWS_MATCHES(layer(Tensor::zeros({4, 3}, int64)), DTypeError,
      says("Linear: dtypes differ: x int64, weight float32; convert x with to(float32)"));
  CHECK_THROWS_MATCHES(layer.forward(Tensor::zeros({4, 2})), ShapeError,
      says("in linear: Linear: x does not fit: x [4, 2], weight [2, 3]; x must be [.., 3]"));
}

TEST_CASE("Linear on no rows is empty, and its gradients are zeros") {
  Linear layer(3, 2);
  CHECK(layer.forward(Tensor::zeros({0, 3})).shape() == Shape{0, 2});
  CHECK(layer.backward(Tensor::zeros({0, 2})).shape() == Shape{0, 3});
  CHECK(identical(layer.gradients()[layer.weight()], Tensor::zeros({2, 3})));
  CHECK(identical(layer.gradients()[layer.bias()], Tensor::zeros({2})));
}

TEST_CASE("Linear records its parameters first, in one scope of its own, whatever the rank of x") {
  const Shape shape = GENERATE(Shape{3}, Shape{4, 3});
  Linear layer(3, 2, {.name = "proj", .symbol = "Q"});
  MicroTape tape;
  layer(tape.leaf(Tensor::zeros(shape)));
  CHECK(tape.node(1).name() == "W_Q");
  CHECK(tape.node(2).name() == "b_Q");
  for (NodeId id = 1; id < tape.size(); ++id)
    CHECK(tape.scope_path(tape.node(id).scope()) == "proj");  // a single row once had proj/proj
}
