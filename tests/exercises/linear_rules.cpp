// Wrong and right rules for exercise linear_vjp: prints what a student would be told of each.

#include "tell.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

/// The adjoint of one input.
using Rule = Var (*)(const Var& x, const Var& w, const Var& g);

Var right_dx(const Var&, const Var& w, const Var& g) { return matmul(g, w); }
Var right_dw(const Var& x, const Var&, const Var& g) { return matmul_tn(g, x); }
Var right_db(const Var&, const Var&, const Var& g) { return sum(g, 0); }

struct Solution {
  const char* what;
  const char* told;  ///< a part of what must be told; empty: the rules are right
  Rule dx = right_dx;
  Rule dw = right_dw;
  Rule db = right_db;
};

const Solution kSolutions[] = {
    {"dw the wrong way round", "dw has shape [4, 2], w has shape [2, 4]", right_dx,
        [](const Var& x, const Var&, const Var& g) { return matmul_tn(x, g); }},
    {"db a mean", "mean", right_dx, right_dw,
        [](const Var&, const Var&, const Var& g) { return mean(g, 0); }},
    {"db not summed", "db has shape [3, 2], b has shape [2]", right_dx, right_dw,
        [](const Var&, const Var&, const Var& g) { return g; }},
    {"dx wrong, dw not written", "50 of 100 points: dx wrong, dw not written yet, db right",
        [](const Var&, const Var& w, const Var& g) { return -matmul(g, w); },
        [](const Var&, const Var&, const Var& g) { return not_written_yet(g); }},
    {"dx and dw swapped", "The likely cause: this is dw, where dx belongs",
        [](const Var& x, const Var&, const Var& g) { return matmul_tn(g, x); },
        [](const Var&, const Var& w, const Var& g) { return matmul(g, w); }},
    {"dw throws a number", "75 of 100 points: dx right, dw ended with an error, db right", right_dx,
        [](const Var&, const Var&, const Var&) -> Var { throw 1; }},
    {"dw without its g", "dw", right_dx,
        [](const Var& x, const Var& w, const Var& g) {
          return matmul_tn(Tensor::full(g.shape(), 1, float64), x) + 0 * w;
        }},
    {"dx cut from w", "dx cut from the tape",
        [](const Var&, const Var& w, const Var& g) { return matmul(g, w.value()); }},
    {"the reference solution", ""},
    {"dx with a transpose, dw one row at a time", "",
        [](const Var&, const Var& w, const Var& g) { return matmul_nt(g, transpose(w)); },
        [](const Var& x, const Var&, const Var& g) {
          Var out = matmul_tn(slice(g, 0, 0, 1), slice(x, 0, 0, 1));
          for (Index i = 1; i < x.shape()[0]; ++i)
            out = out + matmul_tn(slice(g, 0, i, i + 1), slice(x, 0, i, i + 1));
          return out;
        }},
};

Var linear_with(const Var& x, const Var& w, const Var& b, const Solution& solution) {
  const auto rule = [&](Rule f) { return [f, x, w](const Var& g) { return f(x, w, g); }; };
  return record({"my_linear", R"(@x @w^\top + @b)", {{"axis", 0}}},
      [&] { return (matmul_nt(x.value(), w.value()) + b.value()).value(); },
      {
          {"x", x, R"(@g @w)", rule(solution.dx)},
          {"w", w, R"(@g^\top @x)", rule(solution.dw)},
          {"b", b, R"(\operatorname{sum}_{@axis}(@g))", rule(solution.db)},
      });
}

/// One rule for all inputs.
Var linear_with_joint_rule(const Var& x, const Var& w, const Var& b) {
  const auto rule = [x, w](const Var& g) {
    return std::vector<Part>{{0, matmul(g, w)}, {1, matmul_tn(g, x)}, {2, sum(g, 0)}};
  };
  return record({"my_linear", R"(@x @w^\top + @b)", {{"axis", 0}}},
      [&] { return (matmul_nt(x.value(), w.value()) + b.value()).value(); },
      {
          {"x", x, R"(@g @w)", rule},
          {"w", w, R"(@g^\top @x)", rule},
          {"b", b, R"(\operatorname{sum}_{@axis}(@g))", rule},
      });
}

/// The same; dw is cut from the tape.
Var linear_with_cut_joint_rule(std::span<const Var> in) {
  const Var x = in[0], w = in[1], b = in[2];
  const auto rule = [x, w](const Var& g) {
    return std::vector<Part>{{0, matmul(g, w)}, {1, matmul_tn(g, x.value())}, {2, sum(g, 0)}};
  };
  return record({"my_linear", R"(@x @w^\top + @b)", {{"axis", 0}}},
      [&] { return (matmul_nt(x.value(), w.value()) + b.value()).value(); },
      {
          {"x", x, R"(@g @w)", rule},
          {"w", w, R"(@g^\top @x)", rule},
          {"b", b, R"(\operatorname{sum}_{@axis}(@g))", rule},
      });
}

/// b has no rule.
Var linear_without_db(std::span<const Var> in) {
  const Var x = in[0], w = in[1], b = in[2];
  return record({"my_linear", R"(@x @w^\top + @b)"},
      [&] { return (matmul_nt(x.value(), w.value()) + b.value()).value(); },
      {
          {"x", x, R"(@g @w)", [w](const Var& g) { return matmul(g, w); }},
          {"w", w, R"(@g^\top @x)", [x](const Var& g) { return matmul_tn(g, x); }},
          {"b", b},
      });
}

}  // namespace

Var my_linear(const Var& x, const Var& w, const Var& b) { return linear_with_joint_rule(x, w, b); }

int main() {
  bool holds = true;
  for (const Solution& solution : kSolutions) {
    Exercise exercise = make_exercise(1);
    exercise.written = [&](std::span<const Var> in) {
      return linear_with(in[0], in[1], in[2], solution);
    };
    holds &= tell("linear_vjp", solution.what, exercise, solution.told);
  }
  holds &= tell("linear_vjp", "a joint rule", make_exercise(1), "");
  Exercise other = make_exercise(1);
  other.written = linear_with_cut_joint_rule;
  holds &= tell("linear_vjp", "a joint rule, cut in one part", other,
      "dx right, dw cut from the tape, db right");
  other.written = linear_without_db;
  holds &= tell("linear_vjp", "db has no rule", other, "b gets no adjoint at all");
  return holds ? 0 : 1;
}
