// Softsign, now right: y = x / (1 + |x|), y' = 1 / (1 + |x|)^2.
//
// gradcheck agrees at first and second order, and check_formulas finds that formulas and code say
// the same. From then on the op is like any other: it stands in derivations, in the graph, on the
// page to step through.

#include <iostream>

#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/microtape.hpp>

using namespace microtape;

//! [op]
Var my_softsign(const Var& x) {
  return record({"softsign", R"(\frac{@x}{1 + \operatorname{abs}(@x)})"},
      [&] { return kernels::div(x.value(), kernels::add(kernels::abs(x.value()), 1)); },
      {
          {"x", x, R"(\frac{@g}{(1 + \operatorname{abs}(@x))^{2}})",
              [x](const Var& g) { return g / square(1 + abs(x)); }},
      });
}
//! [op]

int main() {
  //! [checks]
  const Tensor x = Tensor::of({{0.5, -1, 2}, {-3, 1, 0.25}}, float64);
  const GradcheckReport report =
      gradcheck([](std::span<const Var> in) { return my_softsign(in[0]); }, {x});
  std::cout << report.str() << '\n';

  MicroTape tape;
  const Var X = tape.leaf(x, "X"), W = tape.leaf(Tensor::randn({4, 3}, 1, float64), "W");
  const Var H = my_softsign(matmul_nt(X, W).named("Z")).named("H");
  const bool formulas_agree = check_formulas(tape).empty();
  std::cout << "formulas and code " << (formulas_agree ? "agree" : "DISAGREE") << "\n\n"
            << to_text(derivation(tape, H));
  //! [checks]
  return report.passed() && formulas_agree ? 0 : 1;
}
