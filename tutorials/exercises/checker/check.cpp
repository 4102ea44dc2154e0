#include <algorithm>
#include <exception>
#include <optional>

#include <microtape/core/format.hpp>

#include "exercise.hpp"

namespace microtape {
namespace {

using Vars = std::span<const Var>;

/// Of two ways to compute the same in float64; relative.
constexpr double kTolerance = 1e-10;

/// The edge of y to input x; null if y has no rule for it.
const Edge* edge_to(const Var& x, const Var& y) {
  for (const Edge& edge : y.tape()->node(y.node()).edges())
    if (edge.is_active() && edge.input() == x.node()) return &edge;
  return nullptr;
}

/// What a rule computes.
Var pulled(const Edge& edge, const Var& g, const Var& y) {
  if (!edge.is_joint()) return edge.pull(g, y);
  for (const Part& part : edge.pull_joint(g, y))
    if (part.input == edge.position()) return part.value;
  return {};
}

/// What is wrong before any rule runs; else empty.
std::string problem_of(const Exercise& exercise) try {
  for (const std::vector<Tensor>& sample : exercise.samples) {
    MicroTape tape;
    std::vector<Var> leaves;
    for (const Tensor& x : sample) leaves.push_back(tape.leaf(x));
    const Var y = exercise.written(leaves);
    if (y.node() == kNoNode || tape.node(y.node()).op() != exercise.op)
      return cat("y does not come from ", exercise.op,
          ": leave its record() as it was, and write only the rules");
    const Var right = exercise.right(leaves);
    if (y.shape() != right.shape() || !compare("y", y.value(), right.value(), kTolerance).agrees)
      return cat("the value of ", exercise.op,
          " is wrong before any rule runs: leave it as it was, and write only the rules");
  }
  return "";
} catch (const std::exception& error) {
  return cat("before any rule ran: ", error.what());
}

/// Diagnoses the rule of input k alone, whatever those of the others do: to the student's op these
/// are constants. Input k comes first, since diagnose() tells of the first that is wrong.
Diagnosis diagnose_rule(const Exercise& exercise, std::size_t k) {
  const auto at_k = static_cast<std::ptrdiff_t>(k);
  const auto to_front = [at_k](auto list) {
    std::rotate(list.begin(), list.begin() + at_k, list.begin() + at_k + 1);
    return list;
  };
  const auto in_order = [at_k](std::vector<Var> list) {
    std::rotate(list.begin(), list.begin() + 1, list.begin() + at_k + 1);
    return list;
  };
  const auto written = [&](Vars in) {
    std::vector<Var> all(in.begin(), in.end());
    for (Var& other : std::span(all).subspan(1))
      if (other.tape()) other = other.tape()->constant(other.value());
    // What the op is given is gone when it returns: the sanitizer sees a rule that holds on to it.
    return exercise.written(in_order(std::move(all)));
  };
  const auto right = [&](Vars in) { return exercise.right(in_order({in.begin(), in.end()})); };

  std::vector<std::vector<Tensor>> samples;
  for (const auto& sample : exercise.samples) samples.push_back(to_front(sample));
  Diagnosis found = diagnose(written, right, samples, {.names = to_front(exercise.inputs)});
  if (!found.input.empty() && found.input != exercise.inputs[k]) found.right = true;
  return found;
}

/// The derivatives of what the rule of input k computes, by the inputs and by g.
GradcheckReport check_second_order(const Exercise& exercise, std::size_t k) {
  const auto rule = [&](Vars in) {
    // Differences ask for plain numbers; the rule needs a tape all the same.
    MicroTape own;
    std::vector<Var> at;
    for (const Var& x : in) at.push_back(x.tape() ? x : own.leaf(x.value()));
    const Var y = exercise.written(std::span(at).first(at.size() - 1));
    const Var adjoint = pulled(*edge_to(at[k], y), at.back(), y);
    return in[0].tape() ? adjoint : Var(adjoint.value());
  };
  std::vector<Tensor> inputs = exercise.samples[0];
  const std::vector<Var> plain(inputs.begin(), inputs.end());
  inputs.push_back(Tensor::randn(exercise.right(plain).shape(), 3, float64));
  GradcheckOptions options{.order = 1, .names = exercise.inputs};
  options.names.push_back("g");
  return gradcheck(rule, inputs, options);
}

/// What the formula of a rule says.
struct FormulaVerdict {
  bool right = false;
  std::string equation;  ///< empty if it cannot be read
  std::string problem;   ///< why it has no value; else empty
  Comparison worst;      ///< with what is right, where it is wrong
};

/// The formula of a rule with the names on the tape; in it, as in the code, the adjoint of y is g.
Formula formula_in_g(const Edge& edge, const Var& y) {
  Formula g = name_formula("g");
  g.shape = y.shape();
  const MicroTape& tape = *y.tape();
  return rule_equation(
      tape, y.node(), edge, [&](NodeId id) { return node_formula(tape, id); },
      [&](NodeId) { return g; });
}

/// Reads and evaluates the formula of input k on one sample.
FormulaVerdict check_formula(
    const Exercise& exercise, std::size_t k, const std::vector<Tensor>& sample) {
  MicroTape tape;
  std::vector<Var> leaves;
  Environment values;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    leaves.push_back(tape.leaf(sample[i], exercise.inputs[i]));
    values.emplace(exercise.inputs[i], to_array(sample[i]));
  }
  const Var y = exercise.written(leaves).named("y");
  const Tensor g = Tensor::randn(y.shape(), 4, float64);
  values.emplace("y", to_array(y.value()));
  values.emplace("g", to_array(g));

  FormulaVerdict out;
  const Edge* edge = edge_to(leaves[k], y);
  if (!edge || edge->formula().empty()) {
    out.problem = "is not written yet";
    return out;
  }
  try {
    const Formula formula = formula_in_g(*edge, y);
    out.equation = cat("d", exercise.inputs[k], " = ", to_text(formula));
    const Tensor says = to_tensor(evaluate(formula, values, sample[k].shape()));
    const Tensor right = backward(exercise.right(leaves), g)[leaves[k]].value();
    out.worst = compare("formula", says, right, kTolerance);
    out.right = out.worst.agrees;
  } catch (const Error& error) {
    out.problem = cat("has no value: ", error.what());
  }
  return out;
}

/// The first sample on which the formula is wrong; the last if there is none.
FormulaVerdict check_formula(const Exercise& exercise, std::size_t k) {
  FormulaVerdict out;
  for (const std::vector<Tensor>& sample : exercise.samples) {
    out = check_formula(exercise, k, sample);
    if (!out.right) break;
  }
  return out;
}

/// @param shape  of the input on the sample that is told
std::vector<std::string> wrong_lines(
    const Diagnosis& found, const FormulaVerdict& formula, const Shape& shape) {
  std::vector<std::string> out;
  if (found.input.empty())
    return {"y was right, and is wrong after the rules have run: they must leave it as it is."};
  const std::string dx = cat("d", found.input);
  // A rule for one shape only is right on the first sample.
  const std::string where =
      found.sample == 0 ? "" : cat(", where ", found.input, " has shape ", shape);
  if (!found.shapes.empty())
    out.push_back(found.shapes);
  else
    out.push_back(cat(dx, found.index.empty() ? "" : cat(" at ", found.index), where, ": yours is ",
        number(found.adjoint), ", right is ", number(found.expected)));
  if (!found.cause.empty())
    out.push_back(cat("The likely cause: ", found.cause));
  else if (found.shapes.empty())
    out.push_back(cat("No mistake that is known gives these numbers. Wrong: ", found.pattern));
  if (!found.look.empty()) out.push_back(cat("Look at: ", found.look));
  if (!found.broken.empty()) out.push_back(found.broken[0]);
  if (formula.right) out.push_back("Your formula is right; the code computes something else.");
  return out;
}

std::vector<std::string> formula_lines(const std::string& dx, const FormulaVerdict& formula) {
  if (!formula.problem.empty()) {
    std::vector<std::string> out{
        cat("The code of ", dx, " is right; its formula ", formula.problem)};
    if (formula.equation.empty())
      out.push_back(R"(A formula says @g \odot @y for g * y: with an @ before each name.)");
    return out;
  }
  return {cat("The code of ", dx, " is right, but its formula says ", formula.equation),
      cat("which at ", formula.worst.worst, " is ", number(formula.worst.actual),
          "; right, as in the code, is ", number(formula.worst.expected))};
}

std::vector<std::string> cut_lines(const std::string& dx, const GradcheckFailure& failure) {
  return {cat(dx, " is right, but it is cut from the tape: its own derivative by ", failure.input,
              " is ", number(failure.adjoint), " at ", failure.index, ", right is ",
              number(failure.difference)),
      "A Tensor stands where a Var belongs: look for .value() and kernels:: in the rule."};
}

RuleVerdict check_rule(const Exercise& exercise, std::size_t k) {
  RuleVerdict out;
  out.input = exercise.inputs[k];
  const std::string dx = cat("d", out.input);
  const auto told = [&](std::string_view state, const std::vector<std::string>& lines) {
    out.state = state;
    out.lines = lines;
    return out;
  };
  try {
    const FormulaVerdict formula = check_formula(exercise, k);
    out.formula = formula.right;
    out.equation = formula.equation;
    const Diagnosis found = diagnose_rule(exercise, k);
    out.first = found.right;
    if (!out.first)
      return told("wrong", wrong_lines(found, formula, exercise.samples[found.sample][k].shape()));
    const GradcheckReport report = check_second_order(exercise, k);
    out.second = report.passed();
    if (!out.second) return told("cut from the tape", cut_lines(dx, report.failures[0]));
    if (!out.formula) return told("right but for its formula", formula_lines(dx, formula));
    return told("right", {});
  } catch (const NotWritten& hole) {
    return told("not written yet", {cat("The hole is in line ", hole.line, ".")});
  } catch (const std::exception& error) {
    return told("ended with an error", {cat("The rule of ", out.input, " throws:"), error.what()});
  } catch (...) {
    return told("ended with an error",
        {cat("The rule of ", out.input, " throws what is no std::exception.")});
  }
}

}  // namespace

Var not_written_yet(const Var&, const Var&, std::source_location where) {
  throw NotWritten{where.line()};
}

bool Verdict::is_right() const {
  return problem.empty() && std::ranges::all_of(rules, &RuleVerdict::is_right);
}

int Verdict::points() const {
  int quarters = 0;
  for (const RuleVerdict& rule : rules) quarters += 2 * rule.first + rule.second + rule.formula;
  return rules.empty() ? 0 : 100 * quarters / (4 * static_cast<int>(rules.size()));
}

std::vector<std::string> Verdict::lines(const std::string& name) const {
  std::string head = cat(name, ": ", points(), " of 100 points");
  if (!problem.empty()) return {head, problem};
  std::vector<std::string> out;
  if (is_right()) {
    out.push_back(cat(name, ": right, 100 of 100 points"));
    for (const RuleVerdict& rule : rules) out.push_back(cat("  ", rule.equation));
    out.push_back("Formula, code and the code's own derivative agree on every sample.");
    return out;
  }
  for (const RuleVerdict& rule : rules)
    head += cat(&rule == &rules[0] ? ": " : ", ", "d", rule.input, " ", rule.state);
  const auto first = std::ranges::find_if_not(rules, &RuleVerdict::is_right);
  out = first->lines;
  out.insert(out.begin(), head);
  return out;
}

Verdict check(const Exercise& exercise) {
  Verdict out;
  out.problem = problem_of(exercise);
  if (out.problem.empty())
    for (std::size_t k = 0; k < exercise.inputs.size(); ++k)
      out.rules.push_back(check_rule(exercise, k));
  return out;
}

}  // namespace microtape
