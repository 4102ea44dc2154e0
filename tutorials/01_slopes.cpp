// Tutorial 01: the slope of a curve, by differences, and why no step is the right one.
//
//     forward   (f(x + h) - f(x)) / h            error = h f''(x) / 2 + ..
//     central   (f(x + h) - f(x - h)) / (2 h)    error = h^2 f'''(x) / 6 + ..
//
// A smaller step makes these errors smaller, until rounding takes over: f(x + h) and f(x - h) agree
// in ever more digits, and their difference keeps ever fewer. Rounding costs about eps |f| / h, so
// the best central step is near eps^(1/3). A tape takes no step at all.
//
// Try this: let f be 1e6 + x^3. The slope stays, rounding grows up to a millionfold, and the best
// steps with it: up to a hundredfold for the central quotient, a thousandfold for the other. Two
// checks fail.

#include "support/plot.hpp"
#include "support/tutorial.hpp"

using namespace microtape;

namespace {

//! [f]
/// f(x) = x^3 and its slope; f''' = 6, so the central error is h^2, and nothing else.
double f(double x) { return x * x * x; }
double slope(double x) { return 3 * x * x; }
//! [f]

//! [quotients]
double forward_slope(double x, double h) { return (f(x + h) - f(x)) / h; }
double central_slope(double x, double h) { return (f(x + h) - f(x - h)) / (2 * h); }
//! [quotients]

/// The error of a difference quotient, as a mean over many x: rounding is a matter of luck at one.
template <class Slope>
double error_of(Slope by_difference, double h) {
  double sum = 0;
  constexpr int kPoints = 200;
  for (int i = 0; i < kPoints; ++i) {
    const double x = 1 + (i + 0.5) / kPoints;
    sum += std::abs(by_difference(x, h) - slope(x));
  }
  return sum / kPoints;
}

/// Errors for steps from 10^-1 to 10^-14, ten for each power of ten.
template <class Slope>
std::vector<plot::Point> errors_of(Slope by_difference) {
  std::vector<plot::Point> out;
  for (int k = 10; k <= 140; ++k) {
    const double h = std::pow(10.0, -k / 10.0);
    out.push_back({h, error_of(by_difference, h)});
  }
  return out;
}

double best_step(const std::vector<plot::Point>& errors) {
  return std::min_element(errors.begin(), errors.end(),
      [](const plot::Point& a, const plot::Point& b) { return a.y < b.y; })
      ->x;
}

/// Both errors against the step, with the steps that the estimate calls best as upright lines.
void draw(const std::string& out, const std::vector<plot::Point>& forward,
    const std::vector<plot::Point>& central) {
  if (out.empty()) return;
  const double eps = std::numeric_limits<double>::epsilon();
  const auto upright = [](double h) { return std::vector<plot::Point>{{h, 1e-11}, {h, 1}}; };
  views::write_file(views::folder(out) / "errors.svg",
      plot::draw(
          {{"forward", forward, R"(stroke="#c0392b" stroke-width="2")"},
              {"eps^(1/2)", upright(std::sqrt(eps)), R"(stroke="#c0392b" stroke-dasharray="5 4")"},
              {"central", central, R"(stroke="#1f6fb2" stroke-width="2")"},
              {"eps^(1/3)", upright(std::cbrt(eps)), R"(stroke="#1f6fb2" stroke-dasharray="5 4")"}},
          {.title = "The error of a slope by differences",
              .x_label = "step h",
              .y_label = "error",
              .scale = plot::Scale::logarithmic,
              .legend = plot::Corner::bottom_left}));
  std::printf("\nWritten into %s: errors.svg\n", out.c_str());
}

void differences(const std::string& out, show::Verdict& verdict) {
  show::heading("1. Differences");
  std::printf("The mean error of the slope of x^3 between 1 and 2:\n\n");
  std::printf("  step h     forward     central\n");
  for (const double h : {1e-1, 1e-2, 1e-3, 1e-4})
    std::printf(
        "  %-8.0e   %-9.3g   %-9.3g\n", h, error_of(forward_slope, h), error_of(central_slope, h));
  std::printf("\nA step of a tenth makes the forward error a tenth, the central a hundredth.\n\n");

  const std::vector<plot::Point> forward = errors_of(forward_slope);
  const std::vector<plot::Point> central = errors_of(central_slope);
  for (const double h : {1e-2, 1e-3})
    verdict.zero(
        h == 1e-2 ? "central error / h^2 = f'''/6 = 1 at h = 0.01" : "the same at h = 0.001",
        std::abs(error_of(central_slope, h) / (h * h) - 1), 1e-3);
  const double eps = std::numeric_limits<double>::epsilon();
  const auto is_near = [](double a, double b) { return a < 10 * b && b < 10 * a; };
  verdict.add(
      "the best central step is near eps^(1/3)", is_near(best_step(central), std::cbrt(eps)));
  verdict.add(
      "the best forward step is near eps^(1/2)", is_near(best_step(forward), std::sqrt(eps)));

  draw(out, forward, central);
}

void tape(const std::string& out, show::Verdict& verdict) {
  show::heading("2. A tape");
  //! [tape]
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(2, float64), "x");
  const Var y = (x * x * x).named("y");
  Sweep sweep(y, Tensor::of(1, float64));
  show::sweep_aloud(tape, sweep);
  //! [tape]
  const double found = sweep.gradients()[x].item();
  std::printf("\nNo step, and no error but rounding: dy/dx at 2 is %.17g.\n\n", found);
  verdict.zero("dy/dx = 3 x^2", std::abs(found - slope(2)), 1e-15);
  views::write(out, "cube", tape, sweep, y);
}

}  // namespace

int main(int argc, char** argv) {
  return tutorial::run(argc, argv, "01_slopes",
      "The slope of a curve, by differences and by a tape.",
      [](const std::string& out, show::Verdict& verdict) {
        differences(out, verdict);
        tape(out, verdict);
      });
}
