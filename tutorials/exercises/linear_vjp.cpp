// Exercise: the backward pass of a linear layer.
//
// y = x w^T + b, where x is [rows, in], w is [out, in] and b is [out]; b is added to every row.
//
// Given is g, the derivative of the loss by y, of y's shape [rows, out]. Find dx, dw and db, each
// of the shape of x, w and b, and write each twice: as a formula, and as code in Vars. For y = a +
// c x, with a number c, the rule of x would be
//
//   {"x", x, R"(@c @g)", [c](const Var& g) { return c * g; }},
//
//   code                formula
//   matmul(a, b)        @a @b
//   matmul_nt(a, b)     @a @b^\top
//   matmul_tn(a, b)     @a^\top @b
//   sum(a, 0)           \operatorname{sum}_{@axis}(@a)     the sum of each column
//
// A rule runs after my_linear has returned: it captures what it needs by name, [w], never by [&].
// Then ask:  ./run.sh linear_vjp

#include "exercise.hpp"

using namespace microtape;

Var my_linear(const Var& x, const Var& w, const Var& b) {
  return record({"my_linear", R"(@x @w^\top + @b)", {{"axis", 0}}},
      [&] { return (matmul_nt(x.value(), w.value()) + b.value()).value(); },
      {
          // The holes: write dx, dw and db in place of "" and of not_written_yet(g).
          {"x", x, "", [](const Var& g) { return not_written_yet(g); }},
          {"w", w, "", [](const Var& g) { return not_written_yet(g); }},
          {"b", b, "", [](const Var& g) { return not_written_yet(g); }},
      });
}
