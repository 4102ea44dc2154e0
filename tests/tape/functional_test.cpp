// Derivatives of functions against closed forms.

#include <microtape/tape/functional.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

using Vars = std::span<const Var>;

/// tanh(A x) for a fixed A [2, 3]; its Jacobian is diag(1 - y^2) A.
const Tensor kA = f64({{0.5, -1, 2}, {1.5, 0.25, -0.5}});
/// Numbers between -1 and 1. -> [2, 3]
Tensor mixed_input(std::uint64_t seed) { return Tensor::uniform({2, 3}, -1, 1, seed, float64); }
Var layer(const Var& x) { return tanh(reshape(matmul(Var(kA), reshape(x, {3, 1})), {2})); }

}  // namespace

TEST_CASE("jvp is the Jacobian times the direction, and gives the value too") {
  const Tensor x = f64({0.3, -0.2, 0.1}), v = f64({1, 2, -1});
  const Tangent t = jvp([](Vars in) { return layer(in[0]); }, std::vector{x}, std::vector{v});
  CHECK(close(t.value, layer(x).value(), 1e-15));
  for (Index i = 0; i < 2; ++i) {
    double a_v = 0;
    for (Index j = 0; j < 3; ++j) a_v += kA.at({i, j}) * v.at(j);
    const double y = t.value.at(i);
    CHECK(t.tangent.at(i) == Approx((1 - y * y) * a_v).epsilon(1e-13));
  }
}

TEST_CASE("jvp and the pullback are adjoint: <u, J v> = <J^T u, v>, for two inputs") {
  const std::vector<Tensor> x{mixed_input(1), mixed_input(2)}, v{mixed_input(3), mixed_input(4)};
  const auto f = [](Vars in) { return softmax(in[0] * in[1]) + sum(in[1], 0, KeepAxes::yes); };
  const Tangent t = jvp(f, x, v);
  const Tensor u = mixed_input(5);
  MicroTape tape;
  const Var a = tape.leaf(x[0]), b = tape.leaf(x[1]);
  const std::vector<Var> in{a, b};
  const Gradients d = backward(f(in), u);
  const double left = sum(Var(u) * Var(t.tangent)).item();
  const double right = sum(d[a] * Var(v[0])).item() + sum(d[b] * Var(v[1])).item();
  CHECK(left == Approx(right).epsilon(1e-13));
}

TEST_CASE("the Hessian of a cubic, whole and times a vector") {
  // f = sum of x^3 + x_0 x_1: H = diag(6 x) + the exchange of 0 and 1.
  const auto f = [](const Var& x) {
    return sum(pow(x, 3)) + sum(slice(x, 0, 0, 1) * slice(x, 0, 1, 2));
  };
  const Tensor x = f64({1, 2, 3}), v = f64({1, -1, 2});
  CHECK(close(hessian(f, x), f64({{6, 1, 0}, {1, 12, 0}, {0, 0, 18}}), 1e-14));
  const auto product =
      hessian_vector_product([&](Vars in) { return f(in[0]); }, std::vector{x}, std::vector{v});
  CHECK(close(product[0], f64({5, -11, 36}), 1e-14));
}

TEST_CASE("the Hessian times a vector is the difference of gradients") {
  const Tensor x = f64({0.4, -0.3, 0.8}), v = f64({0.5, 1, -2});
  const auto f = [](Vars in) { return sum(square(layer(in[0]))); };
  const auto gradient = [&](double step) {
    MicroTape tape;
    const Var at = tape.leaf((Var(x) + step * Var(v)).value());
    const std::vector<Var> in{at};
    return backward(f(in))[at].value();
  };
  const double h = 1e-4;
  const Tensor difference = ((Var(gradient(h)) - Var(gradient(-h))) / (2 * h)).value();
  CHECK(close(hessian_vector_product(f, std::vector{x}, std::vector{v})[0], difference, 1e-7));
}

TEST_CASE("the Jacobian has the axes of the result, then those of x") {
  const Tensor x = f64({0.3, -0.2, 0.1});
  const Tensor j = jacobian(layer, x);
  const Tensor y = layer(x).value();
  CHECK(j.shape() == Shape({2, 3}));
  for (Index i = 0; i < 2; ++i)
    for (Index k = 0; k < 3; ++k)
      CHECK(j.at({i, k}) == Approx((1 - y.at(i) * y.at(i)) * kA.at({i, k})).epsilon(1e-13));
  const Tensor t = jacobian([](const Var& m) { return transpose(m); }, f64({{1, 2, 3}, {4, 5, 6}}));
  CHECK(t.shape() == Shape({3, 2, 2, 3}));
  CHECK(t.at({2, 1, 1, 2}) == 1);
  CHECK(sum(t).item() == 6);
}

TEST_CASE("a function that ignores its input, or is linear in it, has derivatives that are zero") {
  const Tensor x = f64({1, 2});
  const auto constant = [](const Var&) { return Var(f64({3, 4})); };
  CHECK(is(jacobian(constant, x), {{0, 0}, {0, 0}}));
  const Tangent t = jvp([&](Vars in) { return constant(in[0]); }, std::vector{x}, std::vector{x});
  CHECK(is(t.tangent, {0, 0}));
  CHECK(is(hessian([](const Var& a) { return sum(a); }, x), {{0, 0}, {0, 0}}));
}

TEST_CASE("directions that do not fit the inputs are refused") {
  const auto f = [](Vars in) { return in[0]; };
  const std::vector<Tensor> x{f64({1, 2})}, none, longer{f64({1, 2, 3})},
      single{Tensor::of({1, 2})};
  CHECK_THROWS_MATCHES(jvp(f, x, none), ValueError,
      says("jvp: not a direction for each input: 1 inputs, 0 directions; there must be as many"));
  CHECK_THROWS_MATCHES(jvp(f, x, longer), ShapeError,
      says("jvp: direction 0 does not fit: x [2], v [3]; they must be equal"));
  CHECK_THROWS_MATCHES(hessian_vector_product(f, x, single), DTypeError,
      says(
          "hessian_vector_product: direction 0 does not fit: x float64, v float32; convert it with "
          "to(float64)"));
  CHECK_THROWS_AS(hessian([](const Var& a) { return a; }, f64({1, 2})), ShapeError);
}

TEST_CASE("the Hessian of what is no scalar is refused, also if it is constant") {
  const Tensor x = f64({1, 2});
  const auto says_of = [](const std::string& op) {
    return says(
        op + ": f(x) is not a scalar: y [2] has 2 elements; reduce it with sum() or mean()");
  };
  CHECK_THROWS_MATCHES(
      hessian([](const Var& v) { return exp(v); }, x), ShapeError, says_of("hessian"));
  CHECK_THROWS_MATCHES(
      hessian([](const Var&) { return Var(f64({1, 2})); }, x), ShapeError, says_of("hessian"));
  CHECK_THROWS_MATCHES(hessian_vector_product(
                           [](std::span<const Var>) { return Var(f64({1, 2})); }, {&x, 1}, {&x, 1}),
      ShapeError, says_of("hessian_vector_product"));
}

TEST_CASE("a Jacobian of more than eight axes is refused") {
  const Tensor x = Tensor::zeros({1, 1, 1, 1, 1}, float64);
  CHECK_THROWS_AS(jacobian([](const Var& v) { return exp(v); }, x), ShapeError);
}
