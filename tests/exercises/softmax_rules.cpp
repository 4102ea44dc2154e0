// Wrong and right rules for exercise softmax_vjp: prints what a student would be told of each.

#include "tell.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

constexpr Literal kFormula = R"(@y \odot (@g - \operatorname{rowsum}_{@axis}(@g \odot @y)))";

/// The adjoint of x.
using Rule = Var (*)(const Var& x, const Var& g, const Var& y);

struct Solution {
  const char* what;
  Rule rule;
  const char* told;  ///< a part of what must be told; empty: the rule is right
  Literal formula = kFormula;
};

Var rowsum(const Var& x) { return sum(x, -1, KeepAxes::yes); }

Var right(const Var&, const Var& g, const Var& y) { return y * (g - rowsum(g * y)); }

/// Wrong: the cause is known.
const Solution kNamed[] = {
    {"the row sum is missing", [](const Var&, const Var& g, const Var& y) { return g * y; },
        "the term y * rowsum(g * y) is missing"},
    {"the first term is missing",
        [](const Var&, const Var& g, const Var& y) { return -(y * rowsum(g * y)); },
        "the term y * g is missing"},
    {"plus for minus",
        [](const Var&, const Var& g, const Var& y) { return y * (g + rowsum(g * y)); },
        "wrong sign: + where - belongs"},
    {"the negative", [](const Var&, const Var& g, const Var& y) { return y * (rowsum(g * y) - g); },
        "the sign of dx is wrong"},
    {"the sum over all",
        [](const Var&, const Var& g, const Var& y) { return y * (g - sum(g * y)); },
        "the sum of g * y is over all elements instead of each row"},
    {"the sum of each column",
        [](const Var&, const Var& g, const Var& y) {
          return y * (g - sum(g * y, 0, KeepAxes::yes));
        },
        "the sum of g * y is over each column instead of each row"},
    {"mean for sum",
        [](const Var&, const Var& g, const Var& y) {
          return y * (g - mean(g * y, -1, KeepAxes::yes));
        },
        "the mean of g * y over each row stands where the sum belongs"},
    {"x for y", [](const Var& x, const Var& g, const Var&) { return x * (g - rowsum(g * x)); },
        "x stands where y belongs: x * (g - rowsum(g * x)) instead"},
    {"x for y before the parenthesis",
        [](const Var& x, const Var& g, const Var& y) { return x * (g - rowsum(g * y)); },
        "x stands where y belongs: x * (g - rowsum(g * y)) instead"},
    {"x for y in the row sum",
        [](const Var& x, const Var& g, const Var& y) { return y * (g - rowsum(g * x)); },
        "x stands where y belongs: rowsum(g * x) instead"},
    {"y twice", [](const Var&, const Var& g, const Var& y) { return y * y * (g - rowsum(g * y)); },
        "the factor y stands twice"},
    {"only the diagonal", [](const Var&, const Var& g, const Var& y) { return g * y * (1 - y); },
        "only the diagonal of the Jacobian is there"},
    {"zero", [](const Var&, const Var& g, const Var&) { return 0 * g; }, "dx is 0 everywhere"},
    {"g passed on", [](const Var&, const Var& g, const Var&) { return g; }, "passed on unchanged"},
    {"no factor y before the parenthesis",
        [](const Var&, const Var& g, const Var& y) { return g - rowsum(g * y); },
        "the factor y is missing: g - rowsum(g * y) instead"},
    {"no factor y in the row sum",
        [](const Var&, const Var& g, const Var& y) { return y * (g - rowsum(g)); },
        "the factor y is missing: rowsum(g) instead"},
    {"no factor g in the row sum",
        [](const Var&, const Var& g, const Var& y) { return y * (g - rowsum(y)); },
        "the factor rowsum(g * y) is missing, or comes to 1"},
    {"no factor y in the second term",
        [](const Var&, const Var& g, const Var& y) { return y * g - rowsum(g * y); },
        "the factor y is missing: rowsum(g * y) instead"},
    {"twice as much", [](const Var& x, const Var& g, const Var& y) { return 2 * right(x, g, y); },
        "dx is twice the right one"},
    {"half as much", [](const Var& x, const Var& g, const Var& y) { return right(x, g, y) / 2; },
        "dx is half of the right one"},
    {"a sum that drops its axis",
        [](const Var&, const Var& g, const Var& y) { return sum(y * (g - rowsum(g * y)), -1); },
        "dx has shape [3], x has shape [3, 4]"},
    {"a Tensor for y",
        [](const Var&, const Var& g, const Var& y) { return y.value() * (g - rowsum(g * y)); },
        "cut from the tape: its own derivative by x"},
    {"a Tensor for g",
        [](const Var&, const Var& g, const Var& y) {
          return y * (Var(g.value()) - rowsum(g.value() * y));
        },
        "cut from the tape: its own derivative by g"},
    {"the formula of another rule", right, "its formula says dx = g * y", R"(@g \odot @y)"},
    {"a formula that cannot be read", right, "its formula has no value", R"(@y \dot @g)"},
    {"no formula", right, "its formula is not written yet", ""},
    {"a formula whose sum has no axis", right, "dx = y * (g - sum[all, kept](g * y))",
        R"(@y \odot (@g - \operatorname{rowsum}(@g \odot @y)))"},
    {"a formula for rows of four", right, "which at [1, 2] is",
        R"(@y \odot (@g - 4 \operatorname{rowmean}_{@axis}(@g \odot @y)))"},
    {"right for one shape only",
        [](const Var& x, const Var& g, const Var& y) {
          return x.shape() == Shape{3, 4} ? right(x, g, y) : y * g;
        },
        "dx at [0, 0], where x has shape [2, 5]: yours is"},
    {"y is overwritten",
        [](const Var& x, const Var& g, const Var& y) {
          const_cast<double&>(y.value().data<double>()[0]) = 7;
          return right(x, g, y);
        },
        "25 of 100 points: dx wrong\ny was right, and is wrong after the rules have run"},
    {"a row sum without its axis kept",
        [](const Var&, const Var& g, const Var& y) { return y * (g - sum(g * y, -1)); },
        "cannot broadcast: a [3, 4] with b [3]"},
};

/// Wrong in a way that nobody has thought of: no cause may be named.
const Solution kUnnamed[] = {
    {"exp(x) for y",
        [](const Var& x, const Var& g, const Var&) { return exp(x) * (g - rowsum(g * exp(x))); },
        "No mistake that is known"},
    {"max for sum",
        [](const Var&, const Var& g, const Var& y) {
          return y * (g - max(g * y, -1, KeepAxes::yes));
        },
        "No mistake that is known"},
    {"the rule of log_softmax",
        [](const Var&, const Var& g, const Var& y) { return g - exp(y) * rowsum(g); },
        "No mistake that is known"},
    {"a square root", [](const Var& x, const Var& g, const Var& y) { return right(x, sqrt(y), g); },
        "No mistake that is known"},
};

/// Right, in other words.
const Solution kRight[] = {
    {"the reference solution", right, ""},
    {"multiplied out",
        [](const Var&, const Var& g, const Var& y) { return y * g - y * rowsum(y * g); }, "",
        R"(@y \odot @g - @y \odot \operatorname{rowsum}_{@axis}(@y \odot @g))"},
    {"y computed again from x",
        [](const Var& x, const Var& g, const Var&) {
          const Var e = exp(x);
          const Var p = e / rowsum(e);
          return p * (g - rowsum(p * g));
        },
        ""},
    {"the sum as a product with ones",
        [](const Var&, const Var& g, const Var& y) {
          const Index n = y.shape()[-1];
          return y * (g - matmul(g * y, Tensor::full({n, n}, 1, float64)));
        },
        ""},
};

Var softmax_with(const Var& x, const Solution& solution) {
  const Rule rule = solution.rule;
  return record({"my_softmax", R"(\operatorname{softmax}_{@axis}(@x))", {{"axis", -1}}},
      [&] { return kernels::softmax(x.value(), x.rank() - 1); },
      {
          {"x", x, solution.formula,
              [x, rule](const Var& g, const Var& y) { return rule(x, g, y); }},
      });
}

Exercise exercise_of(const Solution& solution) {
  Exercise exercise = make_exercise(1);
  exercise.written = [&](std::span<const Var> in) { return softmax_with(in[0], solution); };
  return exercise;
}

}  // namespace

Var my_softmax(const Var& x) { return softmax_with(x, kRight[0]); }

int main() {
  bool holds = true;
  const auto tell_each = [&](std::span<const Solution> solutions) {
    for (const Solution& solution : solutions)
      holds &= tell("softmax_vjp", solution.what, exercise_of(solution), solution.told);
  };
  tell_each(kNamed);
  tell_each(kUnnamed);
  tell_each(kRight);

  // What is given must stay as it is.
  Exercise other = make_exercise(1);
  other.written = [](std::span<const Var> in) { return softmax(in[0]); };
  holds &= tell("softmax_vjp", "MicroTape's own softmax", other, "does not come from my_softmax");
  other.written = [](std::span<const Var> in) { return Var(softmax(Var(in[0].value())).value()); };
  holds &= tell("softmax_vjp", "no op at all", other, "does not come from my_softmax");
  other.written = [](std::span<const Var> in) { return my_softmax(2 * in[0]); };
  holds &= tell("softmax_vjp", "another value", other, "is wrong before any rule runs");
  other.written = [](std::span<const Var> in) { return my_softmax(matmul(in[0], in[0])); };
  holds &= tell("softmax_vjp", "an op that throws", other, "before any rule ran: matmul: inner");
  return holds ? 0 : 1;
}
