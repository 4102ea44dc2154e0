// Tutorial 02: a tape. Every step of a computation, in the order in which it was made; walked once
// forward for the values, once backward for the slopes.
//
// The computation is the example in the README of micrograd: two numbers, a and b, go through sums,
// products, powers and relu, and end in g. Its README prints g = 24.7041, dg/da = 138.8338 and
// dg/db = 645.5773. Beside the tape runs another way to differentiate, which needs no tape: each
// number carries its slope along (a dual number), and every operation computes both.
//
// Source: A. Karpathy, micrograd, https://github.com/karpathy/micrograd, README.md.
//
// Try this: write pow(b, 2) for pow(b, 3). The numbers of the README no longer hold, those of the
// dual numbers do: they went through the same change.

#include "support/tutorial.hpp"

using namespace microtape;

namespace {

// --- numbers that carry their slope -------------------------------------------------------------

//! [dual]
/// A value and its derivative by one input.
struct Dual {
  double value, slope;
};
Dual operator+(Dual x, Dual y) { return {x.value + y.value, x.slope + y.slope}; }
Dual operator-(Dual x, Dual y) { return {x.value - y.value, x.slope - y.slope}; }
Dual operator*(Dual x, Dual y) {
  return {x.value * y.value, x.slope * y.value + x.value * y.slope};
}
//! [dual]
Dual operator+(Dual x, double c) { return {x.value + c, x.slope}; }
Dual operator*(double c, Dual x) { return {c * x.value, c * x.slope}; }
Dual operator/(double c, Dual x) { return {c / x.value, -c * x.slope / (x.value * x.value)}; }
Dual operator-(Dual x) { return {-x.value, -x.slope}; }
Dual relu(Dual x) { return x.value > 0 ? x : Dual{0, 0}; }
Dual pow(Dual x, double n) {
  return {std::pow(x.value, n), n * std::pow(x.value, n - 1) * x.slope};
}

// --- the computation ----------------------------------------------------------------------------

/// As in micrograd's README. What two operands compute is named first: C++ leaves open which of two
/// is computed first, but a tape has one order.
//! [g]
template <class Number>
Number g_of(const Number& a, const Number& b) {
  Number c = a + b;
  const Number product = a * b, cube = pow(b, 3);
  Number d = product + cube;
  c = c + (c + 1.0);
  const Number above = c + 1.0, below = -a;
  c = c + (above + below);
  const Number twice = 2.0 * d, sum = relu(b + a);
  d = d + (twice + sum);
  const Number thrice = 3.0 * d, difference = relu(b - a);
  d = d + (thrice + difference);
  const Number e = c - d;
  const Number f = pow(e, 2);
  const Number half = 0.5 * f, inverse = 10.0 / f;
  return half + inverse;
}
//! [g]

constexpr double kA = -4, kB = 2;

}  // namespace

int main(int argc, char** argv) {
  return tutorial::run(argc, argv, "02_tape", "A tape: forward for values, backward for slopes.",
      [](const std::string& out, show::Verdict& verdict) {
        //! [tape]
        MicroTape tape;
        const Var a = tape.leaf(Tensor::of(kA, float64), "a");
        const Var b = tape.leaf(Tensor::of(kB, float64), "b");
        const Var g = g_of(a, b).named("g");
        Sweep sweep(g, Tensor::of(1, float64));
        while (!sweep.done()) sweep.advance();
        const Gradients gradients = sweep.gradients();
        //! [tape]

        std::printf(
            "Each line is a step; it uses only lines above it. The last column is dg by\n"
            "that line, found from the bottom to the top.\n\n%s\n",
            to_text(tape, &sweep).c_str());
        std::printf("g = %.4f, dg/da = %.4f, dg/db = %.4f\n\n", g.item(), gradients[a].item(),
            gradients[b].item());

        //! [two duals]
        const Dual by_a = g_of(Dual{kA, 1}, Dual{kB, 0}), by_b = g_of(Dual{kA, 0}, Dual{kB, 1});
        //! [two duals]
        const auto off = [](double found, double wanted) {
          return std::abs(found - wanted) / std::abs(wanted);
        };
        verdict.zero("g is that of dual numbers", off(g.item(), by_a.value), 1e-12);
        verdict.zero("dg/da is that of dual numbers", off(gradients[a].item(), by_a.slope), 1e-12);
        verdict.zero("dg/db is that of dual numbers", off(gradients[b].item(), by_b.slope), 1e-12);
        verdict.zero("g = 24.7041, as micrograd prints", std::abs(g.item() - 24.7041), 5e-5);
        verdict.zero("dg/da = 138.8338", std::abs(gradients[a].item() - 138.8338), 5e-5);
        verdict.zero("dg/db = 645.5773", std::abs(gradients[b].item() - 645.5773), 5e-5);
        std::printf(
            "\nDual numbers went through the computation twice, once for a and once for b;\n"
            "the tape was walked back once for both, and would be for a million inputs.\n");
        views::write(out, "micrograd", tape, sweep, g);
      });
}
