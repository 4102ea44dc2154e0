// An op of your own, first wrong: softmax whose rule forgets that every row must sum to 1.
//
// The value is right. The rule lets each number move on its own, dX = dY * Y: the classic mistake.
// gradcheck compares it with differences and names an element in which the two disagree.

#include <iostream>

#include <microtape/core/kernels/softmax.hpp>
#include <microtape/microtape.hpp>

using namespace microtape;

Var my_softmax(const Var& x) {
  return record({"my_softmax", R"(\operatorname{softmax}_{@axis}(@x))", {{"axis", -1}}},
      [&] { return kernels::softmax(x.value(), x.rank() - 1); },
      {
          // The first trap: a rule runs long after my_softmax has returned. It captures Vars,
          // shapes and numbers by name; [&] would leave it with a reference to something that is
          // gone.
          {"x", x, R"(@g \odot @y)", [](const Var& g, const Var& y) { return g * y; }},
      });
}

int main() {
  const Tensor x = Tensor::of({{1, 2, 3}, {0, -1, 1}}, float64);
  const GradcheckReport report =
      gradcheck([](std::span<const Var> in) { return my_softmax(in[0]); }, {x});
  std::cout << report.str() << '\n';
  return report.passed() ? 1 : 0;  // this one is meant to fail
}
