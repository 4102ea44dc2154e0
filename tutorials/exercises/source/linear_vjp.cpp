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
          // SOLUTION-BEGIN
          {"x", x, R"(@g @w)", [w](const Var& g) { return matmul(g, w); }},
          {"w", w, R"(@g^\top @x)", [x](const Var& g) { return matmul_tn(g, x); }},
          {"b", b, R"(\operatorname{sum}_{@axis}(@g))", [](const Var& g) { return sum(g, 0); }},
          // INSTEAD // The holes: write dx, dw and db in place of "" and of not_written_yet(g).
          // INSTEAD {"x", x, "", [](const Var& g) { return not_written_yet(g); }},
          // INSTEAD {"w", w, "", [](const Var& g) { return not_written_yet(g); }},
          // INSTEAD {"b", b, "", [](const Var& g) { return not_written_yet(g); }},
          // SOLUTION-END
      });
}

// SAMPLE-BEGIN
#include "exercise.hpp"

using namespace microtape;

Var my_linear(const Var& x, const Var& w, const Var& b);

Exercise make_exercise(std::uint64_t seed) {
  const auto random = [&](const Shape& shape) { return Tensor::randn(shape, seed++, float64); };
  return {
      .op = "my_linear",
      .written = [](std::span<const Var> in) { return my_linear(in[0], in[1], in[2]); },
      .right = [](std::span<const Var> in) { return matmul_nt(in[0], in[1]) + in[2]; },
      .inputs = {"x", "w", "b"},
      .samples = {{random({3, 4}), random({2, 4}), random({2})},
          {random({2, 3}), random({5, 3}), random({5})},
          {random({3, 3}), random({3, 3}), random({3})}},
  };
}
// SAMPLE-END
