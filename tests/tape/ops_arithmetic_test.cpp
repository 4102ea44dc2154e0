#include "tape/op_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

struct Pair {
  Var y, da, db;
};

template <class F>
Pair pull(F f, const Tensor& a, const Tensor& b, const Tensor& seed) {
  MicroTape tape;
  const Var x = tape.leaf(a), z = tape.leaf(b);
  const Var y = f(x, z);
  const Gradients gradients = backward(y, seed);
  return {y.value(), gradients[x], gradients[z]};
}

}  // namespace

TEST_CASE("add and sub pass the adjoint on, and sub turns its sign for b") {
  const Tensor a = f64({5, 7}), b = f64({3, 10}), g = f64({2, -4});
  const Pair sum = pull([](const Var& x, const Var& z) { return x + z; }, a, b, g);
  CHECK(is(sum.y, {8, 17}));
  CHECK(is(sum.da, {2, -4}));
  CHECK(is(sum.db, {2, -4}));
  const Pair difference = pull([](const Var& x, const Var& z) { return x - z; }, a, b, g);
  CHECK(is(difference.y, {2, -3}));
  CHECK(is(difference.da, {2, -4}));
  CHECK(is(difference.db, {-2, 4}));
}

TEST_CASE("mul and div follow the product and the quotient rule") {
  const Tensor a = f64({6, -8}), b = f64({2, 4}), g = f64({1, 16});
  const Pair product = pull([](const Var& x, const Var& z) { return x * z; }, a, b, g);
  CHECK(is(product.y, {12, -32}));
  CHECK(is(product.da, {2, 64}));
  CHECK(is(product.db, {6, -128}));
  const Pair quotient = pull([](const Var& x, const Var& z) { return x / z; }, a, b, g);
  CHECK(is(quotient.y, {3, -2}));
  CHECK(is(quotient.da, {0.5, 4}));
  CHECK(is(quotient.db, {-1.5, 8}));  // -a / b^2
}

TEST_CASE("the adjoint of what was repeated is the sum over the repetitions, in its own shape") {
  const Tensor a = f64({{1}, {2}}), b = f64({10, 20, 30}), g = f64({{1, 2, 3}, {4, 5, 6}});
  const Pair sum = pull([](const Var& x, const Var& z) { return x + z; }, a, b, g);
  CHECK(is(sum.y, {{11, 21, 31}, {12, 22, 32}}));
  CHECK(is(sum.da, {{6}, {15}}));
  CHECK(is(sum.db, {5, 7, 9}));
  const Pair product = pull([](const Var& x, const Var& z) { return x * z; }, a, b, g);
  CHECK(is(product.y, {{10, 20, 30}, {20, 40, 60}}));
  CHECK(is(product.da, {{140}, {320}}));
  CHECK(is(product.db, {9, 12, 15}));
}

TEST_CASE("numbers on either side take the dtype of the Var") {
  for (const DType dtype : {float32, float64}) {
    const Var x = Tensor::of({4, -2}, dtype);
    CHECK((x + 0.5).dtype() == dtype);
    CHECK(is(x + 0.5, {4.5, -1.5}));
    CHECK(is(0.5 + x, {4.5, -1.5}));
    CHECK(is(x - 0.5, {3.5, -2.5}));
    CHECK(is(0.5 - x, {-3.5, 2.5}));
    CHECK(is(x * 3, {12, -6}));
    CHECK(is(3 * x, {12, -6}));
    CHECK(is(x / 8, {0.5, -0.25}));
    CHECK(is(8 / x, {2, -4}));
    CHECK(is(-x, {-4, 2}));
  }
}

TEST_CASE("the adjoints of arithmetic with a number have the sign and size of the closed form") {
  const Tensor x = f64({4, -2}), g = f64({1, 10});
  CHECK(is(pull([](const Var& v) { return v + 0.5; }, x, g).dx, {1, 10}));
  CHECK(is(pull([](const Var& v) { return 0.5 - v; }, x, g).dx, {-1, -10}));
  CHECK(is(pull([](const Var& v) { return 3 * v; }, x, g).dx, {3, 30}));
  CHECK(is(pull([](const Var& v) { return v / 8; }, x, g).dx, {0.125, 1.25}));
  CHECK(is(pull([](const Var& v) { return 8 / v; }, x, g).dx, {-0.5, -20}));
  CHECK(is(pull([](const Var& v) { return -v; }, x, g).dx, {-1, -10}));
  CHECK(is(
      pull([](const Var& v) { return scale(v, {0.25, R"(\frac{1}{4})"}); }, x, g).dx, {0.25, 2.5}));
}

TEST_CASE("a scale keeps its number and its symbol on the tape, also in the recorded rule") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}));
  const Var y = scale(x, {0.5, R"(\frac{1}{\sqrt{d}})"});
  const Var dx = backward(y, f64({1, 1}), Record::yes)[x];
  for (const Var& v : {y, dx}) {
    const Node& node = tape.node(v.node());
    CHECK(node.op() == "scale");
    REQUIRE(node.attributes().size() == 1);
    CHECK(node.attributes()[0].number() == 0.5);
    CHECK(node.attributes()[0].symbol() == R"(\frac{1}{\sqrt{d}})");
  }
}

TEST_CASE("division by zero follows IEEE 754 in the value and in the adjoint") {
  const Pulled y = pull([](const Var& x) { return 1 / x; }, f64({0}));
  CHECK(y.y.item() == kInfinity);
  CHECK(y.dx.item() == -kInfinity);
  CHECK(std::isnan((Var(f64({0})) / f64({0})).item()));
  CHECK((Var(f64({-3})) / f64({0})).item() == -kInfinity);
}

TEST_CASE("products of extreme numbers overflow and underflow as float32 and float64 do") {
  CHECK((Var(Tensor::of({0x1p100})) * 0x1p100).item() == kInfinity);
  CHECK((Var(f64({0x1p100})) * 0x1p100).item() == 0x1p200);
  CHECK((Var(Tensor::of({1e-30})) * 1e-30).item() == 0);
}

TEST_CASE("the derivative of x to the 0 is 0 everywhere, at 0 too") {
  const Pulled y = pull([](const Var& x) { return pow(x, 0); }, f64({0, 2, kInfinity}));
  CHECK(is(y.y, {1, 1, 1}));
  CHECK(is(y.dx, {0, 0, 0}));
}

TEST_CASE("powers at 0 keep finite derivatives of every order where they exist") {
  MicroTape tape;
  const Var x = tape.leaf(f64(0));
  Var y = pow(x, 2);
  const double wanted[] = {0, 2, 0};  // of x^2 at 0: 2x, 2, 0
  for (const double w : wanted) {
    y = backward(y, Record::yes)[x];
    CHECK(y.item() == w);
  }
}

TEST_CASE("pow follows its documentation for negative and fractional exponents") {
  CHECK(pow(Var(f64(0)), -1).item() == kInfinity);
  CHECK(std::isnan(pow(Var(f64(-1)), 0.5).item()));
  const Pulled cube = pull([](const Var& x) { return pow(x, 3); }, f64({2, -3}));
  CHECK(is(cube.y, {8, -27}));
  CHECK(is(cube.dx, {12, 27}));
  const Pulled root = pull([](const Var& x) { return pow(x, 0.5); }, f64({4, 0.25}));
  CHECK(is(root.y, {2, 0.5}));
  CHECK(is(root.dx, {0.25, 1}));
}

TEST_CASE("where chooses by the mask and sends the adjoint to what was chosen alone") {
  const Tensor mask = i64({1, 0, 1});
  MicroTape tape;
  const Var a = tape.leaf(f64({1, 2, 3})), b = tape.leaf(f64({10, 20, 30}));
  const Var y = where(mask, a, b);
  CHECK(is(y, {1, 20, 3}));
  const Gradients gradients = backward(y, f64({5, 6, 7}));
  CHECK(is(gradients[a], {5, 0, 7}));
  CHECK(is(gradients[b], {0, 6, 0}));
}

TEST_CASE("where lets no NaN or infinity through from what was not chosen") {
  const Tensor mask = i64({1, 0, 1, 0});
  MicroTape tape;
  const Var x = tape.leaf(f64({4, 0, 1, -1}));
  // Both are worth nothing where x <= 0: 1/sqrt(x), and ln(x).
  const Var y = where(mask, 1 / sqrt(x), 0) + where(mask, log(x), 7);
  CHECK(is(y, {0.5 + std::log(4), 7, 1, 7}));
  // What is not chosen gets adjoint 0 at once ..
  const Var a = tape.leaf(f64({1, kNan, 1, kInfinity}));
  CHECK(is(backward(where(mask, a, 0), f64({2, kInfinity, 3, kNan}))[a], {2, 0, 3, 0}));
  const Var b = tape.leaf(f64({kNan, 1, kInfinity, 1}));
  CHECK(is(backward(where(mask, 0, b), f64({kNan, 2, kInfinity, 3}))[b], {0, 2, 0, 3}));
}

TEST_CASE("where broadcasts its mask and takes numbers on either side") {
  const Tensor mask = i64({{1, 0}});
  const Var x = f64({{1, 2}, {3, 4}, {5, 6}});
  CHECK(is(where(mask, x, -1), {{1, -1}, {3, -1}, {5, -1}}));
  CHECK(is(where(mask, -1, x), {{-1, 2}, {-1, 4}, {-1, 6}}));
  CHECK(is(where(i64({{1}, {0}, {1}}), Var(f64({7, 8})), Var(f64(0))), {{7, 8}, {0, 0}, {7, 8}}));
  CHECK(where(mask, Var(Tensor::of({1, 2})), 0.1).dtype() == float32);
}
