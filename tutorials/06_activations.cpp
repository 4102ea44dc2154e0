// Tutorial 06: functions of one number: slopes, kinks, and a NaN out of a branch that is not taken.
//
//     GELU(x) = x Phi(x)      GELU'(x) = Phi(x) + x phi(x)
//     SiLU(x) = x s(x)        SiLU'(x) = s (1 + x (1 - s))
//     relu(x) = max(x, 0)     relu'(0) = 0, by convention
//
// Phi and phi are the distribution function and the density of the normal distribution, s is the
// sigmoid.
//
// Sources: D. Hendrycks, K. Gimpel, "Gaussian Error Linear Units (GELUs)", arXiv:1606.08415, 2016;
// S. Elfwing, E. Uchibe, K. Doya, "Sigmoid-weighted linear units for neural network function
// approximation in reinforcement learning", Neural Networks 107, 2018.
//
// Try this: take gelu(x, Gelu::tanh) in the table, the approximation. It is off by up to 5e-4, and
// its slope by up to 9e-4, so two comparisons fail.

#include <numbers>

#include "support/plot.hpp"
#include "support/tutorial.hpp"

using namespace microtape;

namespace {

// --- by hand ------------------------------------------------------------------------------------

//! [by hand]
double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
double distribution(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }
//! [by hand]

struct Activation {
  const char* name;
  Var (*op)(const Var&);
  double (*value)(double);
  double (*slope)(double);
};

//! [table]
const Activation kActivations[] = {
    {"relu", relu, [](double x) { return x > 0 ? x : 0; },
        [](double x) { return x > 0 ? 1.0 : 0; }},
    {"tanh", tanh, [](double x) { return std::tanh(x); },
        [](double x) { return 1 - std::tanh(x) * std::tanh(x); }},
    {"SiLU", silu, [](double x) { return x * logistic(x); },
        [](double x) { return logistic(x) * (1 + x * (1 - logistic(x))); }},
    {"GELU", [](const Var& x) { return gelu(x); }, [](double x) { return x * distribution(x); },
        [](double x) { return distribution(x) + x * density(x); }},
};
//! [table]

/// Of each number, on its own.
Tensor each(const Tensor& x, double (*f)(double)) {
  std::vector<double> out;
  for (const double v : x.data<double>()) out.push_back(f(v));
  return Tensor::of(x.shape(), out, float64);
}

//! [slopes]
/// The slope of an op at each number of x.
Tensor slopes(Var (*op)(const Var&), const Tensor& x) {
  MicroTape tape;
  const Var leaf = tape.leaf(x);
  return backward(sum(op(leaf)))[leaf].value();
}
//! [slopes]

double slope_at(Var (*op)(const Var&), double x) {
  return slopes(op, Tensor::of(x, float64)).item();
}

// --- what is shown ------------------------------------------------------------------------------

plot::Line line(const char* name, const Tensor& x, const Tensor& y, const char* style) {
  plot::Line out{name, {}, style};
  for (Index i = 0; i < x.size(); ++i) out.points.push_back({x.at({i}), y.at({i})});
  return out;
}

void curves(const std::string& out, show::Verdict& verdict) {
  show::heading("1. Values and slopes");
  const Tensor x = Tensor::arange(-4, 4.01, 0.05, float64);
  std::vector<Comparison> comparisons;
  for (const Activation& a : kActivations) {
    const Tensor y = a.op(Var(x)).value(), slope = slopes(a.op, x);
    comparisons.push_back(compare(a.name, y, each(x, a.value), 1e-14));
    comparisons.push_back(compare(std::string(a.name) + "'", slope, each(x, a.slope), 1e-14));
    if (out.empty()) continue;
    views::write_file(views::folder(out) / (std::string(a.name) + ".svg"),
        plot::draw({line("value", x, y, R"(stroke="#1f6fb2" stroke-width="2")"),
                       line("slope", x, slope, R"(stroke="#c0392b" stroke-width="2")")},
            {.title = a.name, .x_label = "x", .y_label = "", .legend = plot::Corner::top_left}));
  }
  verdict.add(comparisons);
  if (!out.empty()) std::printf("\nWritten into %s: relu, tanh, SiLU, GELU .svg\n", out.c_str());
}

void kinks(show::Verdict& verdict) {
  show::heading("2. At a kink, and far out");
  std::printf("  relu'(0) = %g, abs'(0) = %g: a convention, between the slopes of the sides\n",
      slope_at(relu, 0), slope_at(abs, 0));
  std::printf("  relu'(-5) = %g: a unit below 0 for all data learns nothing more; it is dead\n",
      slope_at(relu, -5));
  std::printf("  tanh'(10) = %.3g, GELU'(-6) = %.3g: flat too, but not quite\n\n",
      slope_at(tanh, 10), slope_at([](const Var& v) { return gelu(v); }, -6));
  verdict.add("relu'(0) = 0 and abs'(0) = 0", slope_at(relu, 0) == 0 && slope_at(abs, 0) == 0);
  verdict.add("a dead unit gets 0", slope_at(relu, -5) == 0);
}

//! [sinc]
/// sin(x) / x; where is_zero, the quotient has no value, and it is 1.
Var sinc(const Var& x, const Var& is_zero) { return where(is_zero, 1.0, sin(x) / x); }
//! [sinc]

void nan_behind_where(const std::string& out, show::Verdict& verdict) {
  show::heading("3. A NaN behind a where");
  std::printf("where(x == 0, 1, sin(x) / x) at 0: the value is 1, and the slope?\n\n");
  const Tensor x = Tensor::of({0, 2}, float64);
  MicroTape naive;
  const Var a = naive.leaf(x, "x");
  const Tensor is_zero = Tensor::of({1, 0}, int64);
  const double wrong = backward(sum(sinc(a, is_zero)))[a].value().at({0});
  std::printf("  as written: NaN; the branch that is not taken gives 0 / 0 on the way back\n");

  MicroTape tape;
  const Var b = tape.leaf(x, "x");
  //! [safe]
  const Var m = tape.constant(is_zero, "m");
  const Var safe = where(m, 1.0, b).named("safe");
  const Var y = sinc(safe, m).named("y");
  //! [safe]
  Sweep sweep(y, Tensor::full({2}, 1, float64));
  while (!sweep.done()) sweep.advance();
  const Tensor slope = sweep.gradients()[b].value();
  std::printf("  of safe = where(x == 0, 1, x) instead: %g, and %.4g at 2\n\n", slope.at({0}),
      slope.at({1}));
  const double at_2 = (2 * std::cos(2) - std::sin(2)) / 4;
  verdict.add(
      "the first is NaN: keep bad numbers from the op, not from its result", std::isnan(wrong));
  verdict.add("the second is 0, as it should be", slope.at({0}) == 0);
  verdict.zero("and (x cos x - sin x) / x^2 at 2", std::abs(slope.at({1}) - at_2), 1e-15);
  views::write(out, "where", tape, sweep, y);
}

}  // namespace

int main(int argc, char** argv) {
  return tutorial::run(argc, argv, "06_activations",
      "Slopes, kinks, dead units, and a NaN behind a where.",
      [](const std::string& out, show::Verdict& verdict) {
        curves(out, verdict);
        kinks(verdict);
        nan_behind_where(out, verdict);
      });
}
