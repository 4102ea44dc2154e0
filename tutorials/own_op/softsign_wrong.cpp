// An op that MicroTape does not have, softsign: y = x / (1 + |x|). Twice, each time with a mistake.
//
// The first takes the slope of x alone, as if |x| in the divisor did not move: gradcheck compares
// the rule with differences. The second computes the right thing and writes down another:
// check_formulas evaluates what is written, on the numbers of the tape.

#include <iostream>

#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/microtape.hpp>

using namespace microtape;

//! [wrong_rule]
Var softsign_a(const Var& x) {
  return record({"softsign", R"(\frac{@x}{1 + \operatorname{abs}(@x)})"},
      [&] { return kernels::div(x.value(), kernels::add(kernels::abs(x.value()), 1)); },
      {
          {"x", x, R"(\frac{@g}{1 + \operatorname{abs}(@x)})",
              [x](const Var& g) { return g / (1 + abs(x)); }},
      });
}
//! [wrong_rule]

//! [wrong_formula]
Var softsign_b(const Var& x) {
  return record({"softsign", R"(\frac{@x}{1 + \operatorname{abs}(@x)})"},
      [&] { return kernels::div(x.value(), kernels::add(kernels::abs(x.value()), 1)); },
      {
          {"x", x, R"(\frac{@g}{1 + \operatorname{abs}(@x)})",
              [x](const Var& g) { return g / square(1 + abs(x)); }},
      });
}
//! [wrong_formula]

int main() {
  const Tensor x = Tensor::of({{0.5, -1, 2}, {-3, 1, 0.25}}, float64);
  //! [gradcheck]
  const GradcheckReport report =
      gradcheck([](std::span<const Var> in) { return softsign_a(in[0]); }, {x});
  std::cout << report.str() << '\n';
  //! [gradcheck]

  //! [check_formulas]
  MicroTape tape;
  softsign_b(tape.leaf(x, "X"));
  const std::vector<FormulaMismatch> mismatches = check_formulas(tape);
  for (const FormulaMismatch& mismatch : mismatches) std::cout << mismatch.str() << '\n';
  //! [check_formulas]
  return !report.passed() && !mismatches.empty() ? 0 : 1;  // both are meant to be found
}
