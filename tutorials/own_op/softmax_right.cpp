// The same op, now right: what would move a whole row is taken out of the adjoint first.
//
// dX = Y * (dY - rowsum(dY * Y)). gradcheck agrees at first and second order, because the rule is
// written in Vars, and check_formulas finds that formula and code say the same.

#include <iostream>

#include <microtape/core/kernels/softmax.hpp>
#include <microtape/microtape.hpp>

using namespace microtape;

Var my_softmax(const Var& x) {
  return record({"my_softmax", R"(\operatorname{softmax}_{@axis}(@x))", {{"axis", -1}}},
      [&] { return kernels::softmax(x.value(), x.rank() - 1); },
      {
          {"x", x, R"(@y \odot (@g - \operatorname{rowsum}_{@axis}(@g \odot @y)))",
              [](const Var& g, const Var& y) { return y * (g - sum(g * y, -1, KeepAxes::yes)); }},
      });
}

int main() {
  const Tensor x = Tensor::of({{1, 2, 3}, {0, -1, 1}}, float64);
  const GradcheckReport report =
      gradcheck([](std::span<const Var> in) { return my_softmax(in[0]); }, {x});
  std::cout << report.str() << '\n';

  MicroTape tape;
  const Var X = tape.leaf(x, "X");
  const Var Y = my_softmax(X).named("Y");
  const bool formulas_agree = check_formulas(tape).empty();
  std::cout << "Y = " << forward_text(tape, Y.node()) << '\n'
            << "dX = " << rule_text(tape, Y.node(), tape.node(Y.node()).edges()[0]) << '\n'
            << "formulas and code " << (formulas_agree ? "agree" : "DISAGREE") << '\n';
  return report.passed() && formulas_agree ? 0 : 1;
}
