// Tutorial 09: layer normalization, and the three terms of its derivative.
//
//     m = mean(x)     s = sqrt(mean((x - m)^2) + eps)     n = (x - m) / s     y = n * gain + bias
//
//     dn = dy * gain     dx = (dn - mean(dn) - n mean(dn * n)) / s
//
// Every mean is over a row. x reaches n along three paths: by itself, through m and through s. Each
// brings one term back. The second takes off what would move the whole row, the third what would
// stretch it, because n sees neither: sum(dx) = 0, and sum(dx * n) = 0 but for eps.
//
// Try this: in composed(), divide by detach(s) instead of s. The path through s is gone, and with
// it the third term: sum(dx) = 0 still holds, sum(dx * n) = 0 does not.
//
// Source: Ba, Kiros, Hinton, "Layer Normalization", arXiv:1607.06450, 2016, equation 4.

#include "support/cost.hpp"
#include "support/heads.hpp"
#include "support/tutorial.hpp"

using namespace microtape;
using closed_form::Matrix;

namespace {

constexpr double kEps = 1e-5;

// --- the closed form, by plain loops -----------------------------------------------------------

/// All that flows back, and the three terms of dx.
struct ByHand {
  Matrix n, by_itself, through_m, through_s, dx, dgain;
};

ByHand by_hand(const Matrix& x, const Matrix& gain, const Matrix& dy) {
  const Matrix z(x.rows, x.columns);
  ByHand out{z, z, z, z, z, Matrix(1, x.columns)};
  const double width = static_cast<double>(x.columns);
  for (std::size_t i = 0; i < x.rows; ++i) {
    double mean = 0, variance = 0, mean_dn = 0, mean_dn_n = 0;
    for (std::size_t j = 0; j < x.columns; ++j) mean += x(i, j) / width;
    for (std::size_t j = 0; j < x.columns; ++j)
      variance += (x(i, j) - mean) * (x(i, j) - mean) / width;
    const double s = std::sqrt(variance + kEps);
    for (std::size_t j = 0; j < x.columns; ++j) {
      out.n(i, j) = (x(i, j) - mean) / s;
      mean_dn += dy(i, j) * gain(0, j) / width;
      mean_dn_n += dy(i, j) * gain(0, j) * out.n(i, j) / width;
      out.dgain(0, j) += dy(i, j) * out.n(i, j);
    }
    for (std::size_t j = 0; j < x.columns; ++j) {
      out.by_itself(i, j) = dy(i, j) * gain(0, j) / s;
      out.through_m(i, j) = -mean_dn / s;
      out.through_s(i, j) = -out.n(i, j) * mean_dn_n / s;
      out.dx(i, j) = out.by_itself(i, j) + out.through_m(i, j) + out.through_s(i, j);
    }
  }
  return out;
}

Tensor tensor(const Matrix& m) {
  return Tensor::of(
      {static_cast<Index>(m.rows), static_cast<Index>(m.columns)}, m.numbers, float64);
}

// --- on the board ------------------------------------------------------------------------------

void board(show::Verdict& verdict) {
  show::heading("1. On the board: one row of four numbers");
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of({{10, 10, 30, 30}}, float64), "x");
  const Var n = standardize(x, kEps).named("n");
  const Tensor dn = Tensor::of({{4, 0, 0, 0}}, float64);
  const Var dx = backward(n, dn)[x];
  std::printf("The mean is 20, s is 10. The loss asks for more of the first number:\n\n");
  show::matrix("x", x.value());
  show::matrix("n = (x - 20) / 10", n.value());
  show::matrix("dn", dn);
  show::matrix("  - mean(dn)", Tensor::of({{-1, -1, -1, -1}}, float64));
  show::matrix("  - n mean(dn * n)", n.value());
  show::matrix("dx = the sum / 10", dx.value());
  std::printf(
      "\nAsking is not getting. The first number can only leave its twin behind: what\n"
      "would move all four, or stretch all four, the normalization takes back.\n\n");
  const Tensor on_paper = Tensor::of({{0.2, -0.2, 0, 0}}, float64);
  verdict.zero(
      "dx is 1/5 -1/5 0 0, as by hand", compare("", dx.value(), on_paper, 0).max_abs, 1e-6);
}

// --- from primitives ---------------------------------------------------------------------------

Var composed(const Var& x, const Var& gain, const Var& bias) {
  const Var m = mean(x, -1, KeepAxes::yes).named("m");          // [rows, 1]
  const Var c = (x - m).named("c");                             // [rows, width]
  const Var v = mean(square(c), -1, KeepAxes::yes).named("v");  // [rows, 1]
  const Var s = sqrt(v + kEps).named("s");                      // [rows, 1]
  const Var n = (c / s).named("n");                             // [rows, width]
  return (n * gain + bias).named("y");
}

/// A normalization on a tape of its own, about to be swept.
struct Run {
  explicit Run(Var (*f)(const Var& x, const Var& gain, const Var& bias))
      : x(tape.leaf(Tensor::uniform({3, 4}, -20, 20, 10, float64), "x")),
        gain(tape.leaf(Tensor::uniform({4}, 0.5, 2, 2, float64), "gain")),
        bias(tape.leaf(Tensor::uniform({4}, -1, 1, 3, float64), "bias")),
        y(f(x, gain, bias).named("y")),
        dy(Tensor::randn({3, 4}, 4, float64)),
        sweep(y, dy) {}

  MicroTape tape;
  Var x, gain, bias, y;
  Tensor dy;
  Sweep sweep;
};

void primitives(Run& run, const ByHand& expected, show::Verdict& verdict) {
  show::heading("2. From primitives: three paths, three terms");
  std::printf("The tape's own equations:\n\n%s", to_text(derivation(run.tape, run.y)).c_str());
  // Walk back, and catch what arrives along each path.
  const Tensor none = Tensor::zeros({3, 4}, float64);
  Tensor by_itself = none, through_s = none, through_m = none;
  while (!run.sweep.done()) {
    const Sweep::Step step = run.sweep.step();
    for (const Sweep::Contribution& c : step.contributions) {
      const std::string from = node_name(run.tape, step.node),
                        to = node_name(run.tape, c.edge->input());
      if (to == "c") (from == "n" ? by_itself : through_s) = c.value.value();
      if (to == "x" && from == "m") through_m = c.value.value();
    }
  }
  const Tensor dx = run.sweep.gradients()[run.x].value();
  std::printf("\nWhat came back to the first row of x:\n\n");
  for (const auto& [name, term] : {std::pair{"by itself", by_itself}, {"through m", through_m},
           {"through s", through_s}, {"dx, their sum", dx}}) {
    std::printf("  %-14s", name);
    for (Index j = 0; j < 4; ++j) std::printf("%10.4f", term.at({0, j}));
    std::printf("\n");
  }

  std::printf("\nBeside the closed form, by plain loops:\n\n");
  verdict.add({compare("n", heads::find(run.tape, "n").value(), tensor(expected.n), 1e-12),
      compare("dn / s", by_itself, tensor(expected.by_itself), 1e-12),
      compare("-mean(dn) / s", through_m, tensor(expected.through_m), 1e-12),
      compare("-n mean(dn * n) / s", through_s, tensor(expected.through_s), 1e-12),
      compare("dx", dx, tensor(expected.dx), 1e-12)});
  std::printf("\n");
  verdict.zero("sum(dx) = 0: no row is moved", heads::largest_sum(dx, -1), 1e-14);
  verdict.zero("sum(dx * n) = 0 but for eps: none stretched",
      heads::largest_sum(mul(dx, tensor(expected.n)).value(), -1), 0.1 * kEps);
}

// --- fused -------------------------------------------------------------------------------------

void fused(Run& run, const Run& primitive, const ByHand& expected, show::Verdict& verdict) {
  show::heading("3. Fused: the three terms as one rule");
  while (!run.sweep.done()) run.sweep.advance();
  const Gradients d = run.sweep.gradients();
  std::string equations = to_text(derivation(run.tape, run.y));
  equations.insert(equations.rfind(" / sqrt("), "\n    ");  // longer than a line
  std::printf(
      "standardize() is one op, and its rule is the whole formula:\n\n%s\n", equations.c_str());
  verdict.add({compare("y, as composed", run.y.value(), primitive.y.value(), 1e-12),
      compare("dx", d[run.x].value(), tensor(expected.dx), 1e-12),
      compare("dgain", d[run.gain].value().reshape({1, 4}), tensor(expected.dgain), 1e-12),
      compare("dbias", d[run.bias].value(), sum(run.dy, 0).value(), 1e-12)});

  std::printf("\nWhat the tape keeps, composed:\n\n");
  cost::print(primitive.tape);
  std::printf("\nand fused:\n\n");
  cost::print(run.tape);
  const cost::Cost all = cost::total(run.tape), before = cost::total(primitive.tape);
  std::printf("\n");
  verdict.add("fused, it keeps fewer nodes and fewer bytes",
      all.nodes < before.nodes && all.bytes < before.bytes);
}

}  // namespace

int main(int argc, char** argv) {
  return tutorial::run(argc, argv, "09_normalization",
      "Layer normalization: the three terms of its derivative.",
      [](const std::string& out, show::Verdict& verdict) {
        board(verdict);
        Run primitive(composed), op([](const Var& x, const Var& gain, const Var& bias) {
          return standardize(x, kEps).named("n") * gain + bias;  // layer_norm(), but for the name
        });
        const ByHand expected = by_hand(heads::matrix(primitive.x.value(), 0),
            heads::matrix(primitive.gain.value().reshape({1, 4}), 0),
            heads::matrix(primitive.dy, 0));
        primitives(primitive, expected, verdict);
        fused(op, primitive, expected, verdict);
        if (out.empty()) return;
        views::write(out, "layer_norm", primitive.tape, primitive.sweep, primitive.y,
            {.seed = primitive.dy});
        views::write(out, "layer_norm_fused", op.tape, op.sweep, op.y, {.seed = op.dy});
        views::write_graph(out, "layer_norm_difference", to_dot(diff(primitive.tape, op.tape)));
        views::write_file(views::folder(out) / "layer_norm.profile.txt", profile(primitive.tape));
        views::write_file(views::folder(out) / "layer_norm_fused.profile.txt", profile(op.tape));
      });
}
