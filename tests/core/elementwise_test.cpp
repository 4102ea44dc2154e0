#include <microtape/core/kernels/elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <microtape/core/error.hpp>

#include "kernel_testing.hpp"

using namespace microtape;
using namespace microtape::testing;
namespace k = microtape::kernels;

namespace {

using Real = long double;

Real normal_cdf(Real x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }
Real logistic(Real x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

/// A function of one number beside its formula in long double.
struct Unary {
  std::string name;
  Tensor (*kernel)(const Tensor&);
  Real (*formula)(Real);
  /// How many times the relative error of an intermediate number counts in the result.
  Real (*condition)(Real) = [](Real) { return 0.0L; };
};

const std::vector<Unary> kUnaries{
    {"neg", k::neg, [](Real x) { return -x; }},
    {"exp", k::exp, [](Real x) { return std::exp(x); }},
    {"log", k::log, [](Real x) { return std::log(x); }},
    {"sqrt", k::sqrt, [](Real x) { return std::sqrt(x); }},
    {"sin", k::sin, [](Real x) { return std::sin(x); }},
    {"cos", k::cos, [](Real x) { return std::cos(x); }},
    {"tanh", k::tanh, [](Real x) { return std::tanh(x); }},
    {"sigmoid", k::sigmoid, logistic},
    {"erf", k::erf, [](Real x) { return std::erf(x); }},
    {"abs", k::abs, [](Real x) { return std::abs(x); }},
    {"sign", k::sign, [](Real x) { return x > 0   ? 1
                                          : x < 0 ? -1
                                                  : x; }},
    {"relu", k::relu, [](Real x) { return x < 0 ? 0 : x; }},
    {"step", k::step, [](Real x) { return Real(x > 0); }},
    {"silu", k::silu, [](Real x) { return x == -kInf ? 0 : x * logistic(x); }},
    {"gelu", k::gelu, [](Real x) { return x == -kInf ? 0 : x * normal_cdf(x); },
        // erfc(z) falls like e^-z^2: an error in z = x / sqrt(2) counts 2 z^2 times.
        [](Real x) { return x < 0 ? x * x : 0; }},
    {"gelu_tanh", k::gelu_tanh,
        [](Real x) {
          const Real u = std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x);
          return x == -kInf ? 0 : x * logistic(2 * u);
        },
        // e^2u: an error in u counts 2u times; some four roundings make u.
        [](Real x) { return x < 0 ? 8 * (std::abs(x) + 0.05L * std::abs(x * x * x)) : 0; }},
};

const std::vector<double> kArguments{0, 1e-300, 1e-40, 1e-20, 1e-5, 0.1, 0.5, 0.75, 1, 1.5, 2, 3,
    4.5, 6, 9, 13, 17, 30, 80, 87, 88, 89, 100, 103, 104, 300, 700, 708, 709, 710, 740, 745, 746,
    1000, 1e10, 1e19, 1e38, 3e38, 1e200, 1e308, 5e-324, 1e-45, kInf};

/// Both signs of the arguments, in the dtype, and NaN.
Tensor arguments(DType dtype) {
  std::vector<double> numbers{kNaN};
  for (const double x : kArguments) numbers.insert(numbers.end(), {x, -x});
  return Tensor::of({static_cast<Index>(numbers.size())}, numbers, dtype);
}

double to_dtype(Real value, DType dtype) {
  return dtype == float32 ? static_cast<float>(value) : static_cast<double>(value);
}

Tensor numbers(const Shape& shape, std::uint64_t seed, DType dtype) {
  return Tensor::uniform(shape, -3, 3, seed, dtype);
}

/// Checks a kernel against the operation done in the dtype, one pair after the other.
template <class F>
void check_zip(
    Tensor (*kernel)(const Tensor&, const Tensor&), const Tensor& a, const Tensor& b, F f) {
  const Tensor y = kernel(a, b);
  REQUIRE(y.shape() == a.shape());
  REQUIRE(y.is_contiguous());
  for (Index i = 0; i < a.size(); ++i) {
    const double s = element(a, i), t = element(b, i);
    // Of two floats the double result, rounded to float, is the float result.
    REQUIRE(same(element(y, i), to_dtype(f(s, t), a.dtype())));
  }
}

void check_arithmetic(const Tensor& a, const Tensor& b) {
  check_zip(k::add, a, b, [](double s, double t) { return s + t; });
  check_zip(k::sub, a, b, [](double s, double t) { return s - t; });
  check_zip(k::mul, a, b, [](double s, double t) { return s * t; });
  check_zip(k::div, a, b, [](double s, double t) { return s / t; });
}

}  // namespace

TEST_CASE("every function of one number agrees with long double from end to end") {
  for (const DType dtype : {float32, float64})
    for (const Unary& op : kUnaries) {
      const Tensor x = arguments(dtype);
      const Tensor y = op.kernel(x);
      REQUIRE(y.dtype() == dtype);
      for (Index i = 0; i < x.size(); ++i) {
        const double v = x.at({i}), got = y.at({i});
        const Real exact = op.formula(v);
        const double wanted = op.name == "step" && v != v ? 0 : to_dtype(exact, dtype);
        INFO(op.name << "(" << v << ") = " << got << ", wanted " << wanted << ", " << name(dtype));
        if (!std::isfinite(wanted) || std::isnan(v)) {
          CHECK(same(got, wanted));
          continue;
        }
        // Below the smallest normal number the steps, not the digits, count; x multiplies them.
        const double tiny =
            (dtype == float32 ? 0x1p-149 : 0x1p-1074) * std::clamp(std::abs(v), 1.0, 1000.0);
        const double digits = epsilon(dtype) * static_cast<double>(4 + op.condition(v));
        CHECK(std::abs(got - wanted) <= std::min(digits, 1.0) * std::abs(wanted) + 4 * tiny);
      }
    }
}

TEST_CASE("every function of one number takes any layout") {
  for (const Unary& op : kUnaries) {
    const Tensor x = numbers({3, 4, 5}, 1, float32);
    const Tensor y = op.kernel(x);
    for (const Tensor& view : layouts_of(x)) check_same(op.kernel(view), y);
    check_same(op.kernel(x.slice(1, 2, 3).broadcast_to({3, 4, 5})),
        k::copy(y.slice(1, 2, 3).broadcast_to({3, 4, 5})));
    CHECK(op.kernel(Tensor::zeros({2, 0, 3})).shape() == Shape{2, 0, 3});
    CHECK(op.kernel(Tensor::of(0.5, float64)).rank() == 0);
  }
}

TEST_CASE("the gates are zero and not NaN at the far left") {
  for (const DType dtype : {float32, float64}) {
    const Tensor x = Tensor::of({-1000, -1e30, -kInf}, dtype);
    for (const auto kernel : {k::silu, k::gelu, k::gelu_tanh})
      check_same(kernel(x), Tensor::zeros({3}, dtype));
    check_same(k::sigmoid(x), Tensor::zeros({3}, dtype));
  }
}

TEST_CASE("arithmetic takes every pair of layouts") {
  for (const DType dtype : {float32, float64}) {
    const Shape shape{3, 4, 5};
    std::vector<Tensor> left = layouts_of(numbers(shape, 1, dtype));
    std::vector<Tensor> right = layouts_of(numbers(shape, 2, dtype));
    for (const Shape& narrow : {Shape{5}, {4, 1}, {3, 1, 1}, {1, 4, 5}, {}, {3, 1, 5}}) {
      left.push_back(numbers(narrow, 3, dtype).broadcast_to(shape));
      right.push_back(numbers(narrow, 4, dtype).broadcast_to(shape));
    }
    for (const Tensor& a : left)
      for (const Tensor& b : right) check_arithmetic(a, b);
  }
}

TEST_CASE("arithmetic is right at every length from zero on") {
  for (Index n = 0; n < 70; ++n) {
    check_arithmetic(numbers({n}, 1, float32), numbers({n}, 2, float32));
    check_arithmetic(
        numbers({n}, 1, float64), numbers({n, 2}, 2, float64).slice(1, 1, 2).reshape({n}));
  }
  check_arithmetic(Tensor::of(2), Tensor::of(3));
  check_arithmetic(Tensor::zeros({0, 3}), Tensor::zeros({3, 0}).transpose());
  check_arithmetic(arguments(float64), arguments(float64).slice(0, 0, 1).broadcast_to({87}));
}

TEST_CASE("arithmetic takes eight axes") {
  const Tensor a = numbers({2, 3, 1, 2, 2, 1, 3, 2}, 1, float64);
  const Tensor b = numbers({2, 3, 1, 2, 2, 1, 2, 3}, 2, float64);
  check_arithmetic(a, b.transpose());
  check_arithmetic(a.permute({7, 6, 5, 4, 3, 2, 1, 0}),
      numbers({2, 1, 1, 2, 1, 1, 3, 1}, 3, float64).broadcast_to({2, 3, 1, 2, 2, 1, 3, 2}));
}

TEST_CASE("a number meets each element on its own side") {
  const Tensor x = Tensor::of({{1, 2}, {-4, 0.5}});
  for (const Tensor& view : layouts_of(x)) {
    check_same(k::add(view, 3), Tensor::of({{4, 5}, {-1, 3.5}}));
    check_same(k::sub(3, view), Tensor::of({{2, 1}, {7, 2.5}}));
    check_same(k::scale(view, -2), Tensor::of({{-2, -4}, {8, -1}}));
    check_same(k::div(view, 2), Tensor::of({{0.5, 1}, {-2, 0.25}}));
    check_same(k::div(2, view), Tensor::of({{2, 1}, {-0.5, 4}}));
  }
  check_same(k::div(1, Tensor::of({0, kInf, kNaN})), Tensor::of({kInf, 0, kNaN}));
  // A float64 keeps all digits of the number.
  CHECK(k::add(Tensor::of(0, float64), 0.1).item() == 0.1);
}

TEST_CASE("pow agrees with long double for every exponent") {
  for (const DType dtype : {float32, float64})
    for (const double n :
        {0.0, 1.0, 2.0, 3.0, -1.0, 0.5, -0.5, 4.0, -2.0, 1.0 / 3, 2.5, 7.0, -3.5}) {
      const Tensor x = arguments(dtype);
      const Tensor y = k::pow(x, n);
      for (Index i = 0; i < x.size(); ++i) {
        const double wanted =
            to_dtype(std::pow(static_cast<Real>(x.at({i})), static_cast<Real>(n)), dtype);
        INFO(x.at({i}) << " ^ " << n << " = " << y.at({i}) << ", wanted " << wanted);
        if (std::isfinite(wanted))
          CHECK(std::abs(y.at({i}) - wanted) <= 2 * epsilon(dtype) * std::abs(wanted));
        else
          CHECK(same(y.at({i}), wanted));
      }
    }
  check_same(k::pow(Tensor::of({0, kNaN, -2}), 0), Tensor::of({1, 1, 1}));
  check_same(k::pow(Tensor::of({-2, 3}), 3), Tensor::of({-8, 27}));
  check_same(k::pow(Tensor::of({-8}), 1.0 / 3), Tensor::of({kNaN}));
}

TEST_CASE("relu and sign keep NaN and step takes it for not positive") {
  const Tensor x = Tensor::of({kNaN, -1, 0, 2});
  check_same(k::relu(x), Tensor::of({kNaN, 0, 0, 2}));
  check_same(k::sign(x), Tensor::of({kNaN, -1, 0, 1}));
  check_same(k::step(x), Tensor::of({0, 0, 0, 1}));
  CHECK_FALSE(std::signbit(k::relu(Tensor::of(-0.0)).item()));
}

TEST_CASE("where takes nothing from what it does not choose") {
  const Tensor mask = Tensor::of({{1, 0, -3}, {0, 7, 0}}, int64);
  const Tensor a = Tensor::of({{1, kNaN, 3}, {kNaN, 5, kInf}}),
               b = Tensor::of({{kNaN, 20, kInf}, {40, kNaN, 60}});
  const Tensor wanted = Tensor::of({{1, 20, 3}, {40, 5, 60}});
  for (const Tensor& m : layouts_of(mask))
    for (const Tensor& s : layouts_of(a))
      for (const Tensor& t : layouts_of(b)) check_same(k::where(m, s, t), wanted);
  const Tensor row = Tensor::of({1, 0, 1}, int64).broadcast_to({2, 3});
  check_same(
      k::where(row, Tensor::of(8, float64).broadcast_to({2, 3}), Tensor::zeros({2, 3}, float64)),
      Tensor::of({{8, 0, 8}, {8, 0, 8}}, float64));
  CHECK(k::where(Tensor::zeros({0}, int64), Tensor::zeros({0}), Tensor::zeros({0})).size() == 0);
}

TEST_CASE("operands that do not go together are named") {
  const Tensor a = Tensor::zeros({2, 3}), b = Tensor::zeros({2, 3}, float64),
               i = Tensor::zeros({2}, int64);
  CHECK_THROWS_MATCHES(k::add(a, b), DTypeError,
      says("add: dtypes differ: a float32 [2, 3], b float64 [2, 3]; both must be the same; convert "
           "one "
           "with to(float64)"));
  CHECK_THROWS_MATCHES(k::mul(i, i), DTypeError,
      says("mul: needs float32 or float64: a int64 [2]; convert it with to(float32)"));
  CHECK_THROWS_MATCHES(k::sub(b, i), DTypeError,
      says("sub: needs float32 or float64: b int64 [2]; convert it with to(float64)"));
  CHECK_THROWS_MATCHES(k::div(a, Tensor::zeros({3})), ShapeError,
      says("div: shapes differ: a [2, 3], b [3]; both must be the same; widen one with "
           "broadcast_to"));
  CHECK_THROWS_MATCHES(k::gelu(i), DTypeError,
      says("gelu: needs float32 or float64: x int64 [2]; convert it with to(float32)"));
  CHECK_THROWS_MATCHES(k::scale(i, 2), DTypeError,
      says("scale: needs float32 or float64: x int64 [2]; convert it with to(float32)"));
  CHECK_THROWS_MATCHES(k::where(a, a, a), DTypeError,
      says("where: needs an int64 mask: mask float32 [2, 3]; convert it with to(int64)"));
  CHECK_THROWS_MATCHES(k::where(i, a, a), ShapeError,
      says("where: shapes differ: mask [2], a [2, 3]; both must be the same; widen one with "
           "broadcast_to"));
}

TEST_CASE("a result has the strides of its shape, whatever those of an axis of extent 1 were") {
  const Tensor column = Tensor::randn({1, 3}, 1).transpose();  // [3, 1], strides 1 and 3
  REQUIRE(column.is_contiguous());
  REQUIRE(column.strides() == Indices{1, 3});
  CHECK(k::exp(column).strides() == Indices{1, 1});
  CHECK(k::add(column, column).strides() == Indices{1, 1});
  CHECK(
      Tensor::uninitialized_like(Tensor::randn({2, 3}, 1).transpose()).strides() == Indices{2, 1});
}
