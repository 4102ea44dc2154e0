// Cases C of cases.json, elementwise and reductions: kinks, poles, overflow, ties, NaN.

#include <microtape/tape/ops.hpp>

#include "cases/case_file.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

/// A leaf, f of it, and the gradient of the sum of f.
struct Derived {
  Tensor y, dx;
};

template <class F>
Derived derive(const Tensor& x, F f) {
  MicroTape tape;
  const Var leaf = tape.leaf(x);
  const Var y = f(leaf);
  return {y.value(), backward(sum(y))[leaf].value()};
}

}  // namespace

TEST_CASE("C04: logsumexp of -inf throughout is -inf and its gradient is zero, not NaN") {
  const Case c("C04");
  const auto f = [](const Var& x) { return logsumexp(x); };
  for (const std::string n : {"1", "2", "3"}) {
    const Derived d = derive(c.input("x" + n), f);
    CHECK(identical(d.y, c.expected("v" + n)) | c.holds("v" + n, d.y));
    CHECK(c.holds("g" + n, d.dx));
  }
}

TEST_CASE("C07: what a where() did not choose sends no NaN back, through sqrt and otherwise") {
  const Case c("C07");
  const auto careless = [](const Var& x) {
    const Var n = sqrt(sum(x * x, 1));
    const Tensor half = Tensor::full(n.shape(), 0.5, float64);
    return where(greater(n, half), n, 1);
  };
  const auto careful = [](const Var& x) {
    const Var s = sum(x * x, 1);
    const Var is_large = greater(s, Tensor::full(s.shape(), 0.25, float64));
    return where(is_large, sqrt(where(is_large, s, 1)), 1);
  };
  const Derived a = derive(c.input("X"), careless), b = derive(c.input("X"), careful);
  CHECK(c.holds("y", sum(a.y)));
  CHECK(c.holds("grad.X", a.dx));
  CHECK(c.holds("y", sum(b.y)));
  CHECK(c.holds("grad.X", b.dx));
}

TEST_CASE("C08: a zero adjoint stays zero on its way through the pole of sqrt") {
  const Case c("C08");
  const auto f = [](const Var& p) {
    const Var r = sqrt(sum(p * p));
    return maximum(r, 1e-10);
  };
  const Derived at0 = derive(c.input("p0"), f), at1 = derive(c.input("p1"), f);
  CHECK(c.holds("s0", at0.y));
  CHECK(c.holds("g0", at0.dx));
  CHECK(c.holds("s1", at1.y));
  CHECK(c.holds("g1", at1.dx));
}

TEST_CASE("C09: the norm has gradient 0 at 0, and neither overflows nor vanishes") {
  const Case c("C09");
  const auto f = [](const Var& x) { return norm(x); };
  CHECK(c.holds("grad", derive(c.input("x"), f).dx));
  const Derived d = derive(c.input("x2"), f);
  CHECK(c.holds("norm2", d.y));
  CHECK(c.holds("grad2", d.dx));
  const auto squared = [](const Var& x) { return square(norm(x)); };
  CHECK(c.holds("grad_sq", derive(f64({0, 0}), squared).dx));
  CHECK(norm(f64({1e-200, 0})).item() == 1e-200);
  CHECK(norm(f64({1e200, 1e200})).item() == Approx(1.414213562373095e200).epsilon(1e-14));
}

TEST_CASE("C10: pow at a zero and at a negative base, by base and by exponent") {
  const auto by_exponent = [](double a, double b) {
    return derive(f64(b), [a](const Var& x) { return pow(Var(f64(a)), x); }).dx.item();
  };
  CHECK(by_exponent(0, 1) == 0);
  CHECK(by_exponent(2, 1) == Approx(1.3862943611198906).epsilon(1e-14));
  CHECK(std::isnan(by_exponent(-2, 2)));  // documented
  // Both forms of pow, the fixed exponent and the Var, say the same.
  const auto by_base = [](double a, double p) {
    const Derived fixed = derive(f64(a), [p](const Var& x) { return pow(x, p); });
    const Derived taped = derive(f64(a), [p](const Var& x) { return pow(x, Var(f64(p))); });
    CHECK(identical(fixed.y, taped.y));
    CHECK(identical(fixed.dx, taped.dx));
    return std::pair(fixed.y.item(), fixed.dx.item());
  };
  CHECK(by_base(0, 3).second == 0);
  CHECK(by_base(0, 1).second == 1);
  CHECK(by_base(0, 0).second == 0);
  CHECK(by_base(-2, 2) == std::pair(4.0, -4.0));
  CHECK(by_base(-2, 3) == std::pair(-8.0, 12.0));
  CHECK(by_base(-2, 1) == std::pair(-2.0, 1.0));
  CHECK(std::isnan(pow(f64(-8), 1.0 / 3).item()));
  CHECK(by_base(0, 0.5).second == kInfinity);
  CHECK(by_base(0, -1) == std::pair(kInfinity, -kInfinity));
}

TEST_CASE("C12: equal largest numbers share the adjoint, and their parts sum to 1") {
  const Case c("C12");
  const Derived d = derive(c.input("x"), [](const Var& x) { return max(x); });
  CHECK(c.holds("max", d.y));
  CHECK(is(d.dx, {0, 0.5, 0.5, 0}));
  const Derived rows = derive(f64({{2, 2}, {1, 3}}), [](const Var& x) { return max(x, 1); });
  CHECK(is(rows.dx, {{0.5, 0.5}, {0, 1}}));
  MicroTape tape;
  const Var a = tape.leaf(f64(2)), b = tape.leaf(f64(2));
  const Gradients g = backward(maximum(a, b)), h = backward(minimum(a, b));
  CHECK(g[a].item() + g[b].item() == 1);
  CHECK(h[a].item() + h[b].item() == 1);
}

TEST_CASE("C14: a NaN comes through relu, max, maximum, minimum, clamp and argmax") {
  const Case c("C14");
  CHECK(identical(relu(c.input("x")), c.expected("relu")));
  CHECK(std::isnan(max(f64({kNan, 1})).item()));
  CHECK(std::isnan(max(f64({1, kNan})).item()));
  for (const bool first : {true, false}) {
    const Var a = f64(first ? kNan : 1), b = f64(first ? 1 : kNan);
    CHECK(std::isnan(maximum(a, b).item()));
    CHECK(std::isnan(minimum(a, b).item()));
  }
  CHECK(std::isnan(clamp(f64(kNan), 0, 1).item()));
  CHECK(argmax(f64({1, kNan, 2})).item() == 1);
}

TEST_CASE("C15: softplus and sigmoid far out keep their digits") {
  const Case c("C15");
  const Derived p = derive(c.input("x"), [](const Var& x) { return softplus(x); });
  const Derived s = derive(c.input("x"), [](const Var& x) { return sigmoid(x); });
  CHECK(c.holds("softplus", p.y));
  CHECK(c.holds("sigmoid", p.dx));
  CHECK(c.holds("sigmoid", s.y));
  CHECK(c.holds("d_sigmoid", s.dx));
  CHECK(is(derive(f64({-1000, 1000}), [](const Var& x) { return sigmoid(x); }).dx, {0, 0}));
  CHECK(softplus(Tensor::of(89)).item() == 89);
  CHECK(sigmoid(Tensor::of(-89)).item() < 1e-38);
}

TEST_CASE("C16: cross-entropy of yes and no, composed from softplus, at certainty") {
  const Case c("C16");
  const Tensor targets = c.input("targets");
  MicroTape tape;
  const Var x = tape.leaf(c.input("logits"));
  const Var loss = softplus(x) - Var(targets) * x;
  CHECK(c.holds("loss", loss));
  CHECK(c.holds("grad", backward(sum(loss))[x]));
}

TEST_CASE("C22: sums of a million terms, and counts beyond 2^24, in float32") {
  const Case c("C22", float32);
  const double a = sum(Tensor::full({1000000}, 0.1)).item();
  CHECK(std::abs(a - c.expected("A").item()) <= 1e-5 * a);
  const Tensor ones = Tensor::full({}, 1).broadcast_to({20000000});
  CHECK(sum(ones).item() == 2e7);
  CHECK(mean(ones).item() == 1);
  const Tensor two = Tensor::full({}, 1).broadcast_to({10000000, 2});
  CHECK(is(mean(two, 0), {1, 1}));
  CHECK(is(sum(two, 0), {1e7, 1e7}));
}

TEST_CASE(
    "C23: a float32 sum that cancels keeps the small terms, but for a block of the pairwise sum") {
  std::vector<double> numbers(1024, 1.0);
  numbers.front() = 1e8;
  numbers.back() = -1e8;
  const double found = sum(Tensor::of({1024}, numbers)).item();
  CHECK(found >= 700);
  CHECK(found <= 1022);
}

TEST_CASE("C24: gelu says which of its forms it is, and each has its values and slopes") {
  const Case c("C24");
  const Derived e = derive(c.input("x"), [](const Var& x) { return gelu(x); });
  const Derived t = derive(c.input("x"), [](const Var& x) { return gelu(x, Gelu::tanh); });
  CHECK(c.holds("gelu_erf", e.y));
  CHECK(c.holds("d_gelu_erf", e.dx));
  CHECK(c.holds("gelu_tanh", t.y));
  CHECK(c.holds("d_gelu_tanh", t.dx));
}

TEST_CASE("C28: division and log at the edge follow IEEE 754, and so do their gradients") {
  const Tensor q = div(f64({1, -1, 1, 0}), f64({0, 0, -0.0, 0})).value();
  CHECK(identical(q, f64({kInfinity, -kInfinity, -kInfinity, kNan})));
  CHECK(log(f64(0)).item() == -kInfinity);
  CHECK(std::isnan(log(f64(-1)).item()));
  MicroTape tape;
  const Var a = tape.leaf(f64(1)), b = tape.leaf(f64(0));
  const Gradients g = backward(a / b);
  CHECK(g[a].item() == kInfinity);
  CHECK(g[b].item() == -kInfinity);
  CHECK(derive(f64(0), [](const Var& x) { return log(x); }).dx.item() == kInfinity);
}
