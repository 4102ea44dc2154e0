// Tutorial 07: softmax, and why it is never taken as it is written.
//
//     y = e^x / sum(e^x)              dx = y * (g - <g, y>)
//     loss = mean(-ln y[label])       d logits = (y - onehot) / N
//
// e^x overflows soon, so the row's maximum is taken off first; that changes nothing but the
// rounding. ln y loses what e^x has rounded to 0, so the logarithm is taken before the exponential:
// a loss that knows it is of logits has a gradient that is a difference of probabilities.
//
// Try this: forget "- whole" in pullback_by_hand, the classic mistake. Both comparisons of dx fail.
// Then take row_sum(expected) for row_sum(dx): the rows of that dx do not sum to 0 either.

#include "support/tutorial.hpp"

using namespace microtape;

namespace {

// --- by hand ------------------------------------------------------------------------------------

/// The softmax of each row, by loops over plain numbers.
std::vector<std::vector<double>> softmax_by_hand(const Tensor& x) {
  std::vector<std::vector<double>> y;
  for (Index i = 0; i < x.extent(0); ++i) {
    double top = -INFINITY, sum = 0;
    for (Index j = 0; j < x.extent(1); ++j) top = std::max(top, x.at({i, j}));
    y.emplace_back();
    for (Index j = 0; j < x.extent(1); ++j) {
      y.back().push_back(std::exp(x.at({i, j}) - top));
      sum += y.back().back();
    }
    for (double& v : y.back()) v /= sum;
  }
  return y;
}

Tensor tensor(const std::vector<std::vector<double>>& rows) {
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return Tensor::of(
      {static_cast<Index>(rows.size()), static_cast<Index>(rows[0].size())}, all, float64);
}

//! [pullback]
/// dx = y * (g - <g, y>), row by row.
Tensor pullback_by_hand(const std::vector<std::vector<double>>& y, const Tensor& g) {
  auto dx = y;
  for (std::size_t i = 0; i < y.size(); ++i) {
    double whole = 0;
    const auto at = [&](std::size_t j) {
      return g.at({static_cast<Index>(i), static_cast<Index>(j)});
    };
    for (std::size_t j = 0; j < y[i].size(); ++j) whole += at(j) * y[i][j];
    for (std::size_t j = 0; j < y[i].size(); ++j) dx[i][j] = y[i][j] * (at(j) - whole);
  }
  return tensor(dx);
}
//! [pullback]

/// The largest |sum| of a row.
double row_sum(const Tensor& x) {
  double worst = 0;
  for (Index i = 0; i < x.extent(0); ++i) {
    double sum = 0;
    for (Index j = 0; j < x.extent(1); ++j) sum += x.at({i, j});
    worst = std::max(worst, std::abs(sum));
  }
  return worst;
}

// --- what is shown ------------------------------------------------------------------------------

//! [naive]
/// As it is written in the book.
Var naive_softmax(const Var& x) {
  const Var e = exp(x);
  return e / sum(e, -1, KeepAxes::yes);
}
//! [naive]

void stability(show::Verdict& verdict) {
  show::heading("1. Large numbers");
  const Var x = Tensor::of({{1000, 1001}}, float64);
  std::printf(
      "softmax of 1000 and 1001\n  as written:              %s\n"
      "  shifted by the maximum:  %s\n\n",
      naive_softmax(x).value().str().c_str(), softmax(x).value().str().c_str());
  verdict.add("as written it is NaN", std::isnan(naive_softmax(x).value().at({0, 0})));
  const double right = 1 / (1 + std::exp(-1.0));
  verdict.zero(
      "shifted it is 1 / (1 + e^-1)", std::abs(softmax(x).value().at({0, 1}) - right), 1e-15);
}

void rule(const std::string& out, show::Verdict& verdict) {
  show::heading("2. The rule, fused and composed");
  const Tensor data = Tensor::uniform({2, 4}, -2, 2, 1, float64);
  const Tensor g = Tensor::uniform({2, 4}, -1, 1, 2, float64);
  MicroTape fused, composed;
  const Var x = fused.leaf(data, "x"), again = composed.leaf(data, "x");
  const Var y = softmax(x).named("y"), same = naive_softmax(again).named("y");
  Sweep sweep(y, g), sweep_composed(same, g);
  while (!sweep.done()) sweep.advance();
  while (!sweep_composed.done()) sweep_composed.advance();
  std::printf("%s\nThe same from exp, sum and a quotient:\n\n%s\n%s\n",
      to_text(derivation(fused, y)).c_str(), to_text(derivation(composed, same)).c_str(),
      to_text(diff(fused, composed)).c_str());
  const auto by_hand = softmax_by_hand(data);
  const Tensor dx = sweep.gradients()[x].value();
  const Tensor dx_composed = sweep_composed.gradients()[again].value();
  const Tensor expected = pullback_by_hand(by_hand, g);
  verdict.add({compare("y", y.value(), tensor(by_hand), 1e-14),
      compare("dx = y * (g - <g, y>)", dx, expected, 1e-14),
      compare("dx, composed", dx_composed, expected, 1e-14)});
  verdict.zero("rows of dx sum to 0: rows of y sum to 1", row_sum(dx), 1e-15);
  views::write(out, "softmax", fused, sweep, y, {.seed = g});
  views::write(out, "composed", composed, sweep_composed, same, {.seed = g});
  views::write_graph(out, "difference", to_dot(diff(fused, composed)));
}

void loss(const std::string& out, show::Verdict& verdict) {
  show::heading("3. With a loss on top");
  const Tensor data = Tensor::uniform({3, 4}, -2, 2, 3, float64);
  const std::int64_t labels[] = {2, 0, 3};
  MicroTape tape;
  //! [loss]
  const Var logits = tape.leaf(data, "L");
  const Var targets = tape.constant(Tensor::of({2, 0, 3}, int64), "labels");
  const Var loss = cross_entropy(logits, targets).named("loss");
  //! [loss]
  Sweep sweep(loss, Tensor::of(1, float64));
  while (!sweep.done()) sweep.advance();
  const Tensor found = sweep.gradients()[logits].value();

  auto expected = softmax_by_hand(data);
  double mean = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    double& right = expected[i][static_cast<std::size_t>(labels[i])];
    mean -= std::log(right) / 3;
    right -= 1;
    for (double& v : expected[i]) v /= 3;
  }
  std::printf("%s\n", to_text(derivation(tape, loss)).c_str());
  verdict.add({compare("loss = mean(-ln y)", loss.value(), Tensor::of(mean, float64), 1e-14),
      compare("dL = (y - onehot) / N", found, tensor(expected), 1e-14)});
  verdict.zero("rows of dL sum to 0", row_sum(found), 1e-15);
  views::write(out, "loss", tape, sweep, loss);
}

}  // namespace

int main(int argc, char** argv) {
  return tutorial::run(argc, argv, "07_softmax", "Softmax: large numbers, its rule, and its loss.",
      [](const std::string& out, show::Verdict& verdict) {
        stability(verdict);
        rule(out, verdict);
        loss(out, verdict);
      });
}
