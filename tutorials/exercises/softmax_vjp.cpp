// Exercise: the backward pass of softmax.
//
// y = softmax(x) turns each row of x into positive numbers whose sum is 1:
//
//   y_j = exp(x_j) / sum_k exp(x_k)
//
// Given is g, the derivative of the loss by y. Find dx, the derivative of the loss by x, and write
// it twice: as a formula, and as code in Vars. For y = tanh(x) that would be
//
//   {"x", x, R"(@g \odot (1 - @y^{2}))",
//       [](const Var& g, const Var& y) { return g * (1 - y * y); }},
//
//   code                         formula
//   a * b, a - b                 @a \odot @b, @a - @b                  element by element
//   sum(a, -1, KeepAxes::yes)    \operatorname{rowsum}_{@axis}(@a)     the sum of each row
//
// Then ask:  ./run.sh softmax_vjp

#include "exercise.hpp"

using namespace microtape;

Var my_softmax(const Var& x) {
  return record({"my_softmax", R"(\operatorname{softmax}_{@axis}(@x))", {{"axis", -1}}},
      [&] { return kernels::softmax(x.value(), x.rank() - 1); },
      {
          // The hole: write dx in place of "" and of not_written_yet(g, y).
          {"x", x, "", [](const Var& g, const Var& y) { return not_written_yet(g, y); }},
      });
}
