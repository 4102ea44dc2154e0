#include <microtape/tape/gradcheck_notes.hpp>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/backward.hpp>
#include <microtape/tape/diagnose_mistakes.hpp>

namespace microtape {
namespace {

using namespace diagnosis;

/// The formula's value; nothing if it has none.
std::optional<Array> value_of(
    const std::optional<Formula>& f, const Recorded& recorded, const Shape& shape) {
  try {
    if (f) return evaluate(*f, recorded.operands.values, shape);
  } catch (const Error&) {
    // check_formulas tells what is wrong with it.
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> gradcheck_notes(FunctionRef<Var(std::span<const Var>)> f,
    std::span<const Tensor> inputs, std::span<const std::string> names, const Tensor& seed,
    const GradcheckMistake& mistake, const Tensor& own_quotients) {
  // See what f records.
  MicroTape tape;
  std::vector<Var> leaves;
  for (const Tensor& x : inputs) leaves.push_back(tape.leaf(x.contiguous()));
  const Var y = f(leaves);
  const std::size_t k = mistake.input;
  const Shape shape = inputs[k].shape();
  const bool is_swept = y.tape() == &tape && y.is_active();
  const Recorded recorded = is_swept ? recorded_adjoints(tape, leaves, names, y, seed) : Recorded{};

  // The differences are right, and if a formula agrees with them, so is that.
  Evidence e;
  e.found = to_array(mistake.adjoint);
  e.right = to_array(mistake.differences);
  e.allowed = mistake.allowed;
  e.is_reached = is_swept && backward(y, seed).reached(leaves[k]);
  e.g = to_array(seed);
  if (own_quotients.defined()) e.diagonal = to_array(own_quotients);
  if (is_swept) e.contributions = recorded.contributions[k];
  const std::optional<Formula> formula = sum_of_contributions(e.contributions, shape);
  const std::optional<Array> value = value_of(formula, recorded, shape);
  const bool formula_is_code = value && distance(*value, e.found).value <= rounding_of(*value);
  const bool formula_is_right = value && distance(*value, e.right).value <= e.allowed;
  if (formula_is_right) {
    e.right = *value;
    e.allowed = rounding_of(*value);
    e.formula = formula;
    e.operands = recorded.operands;
  }

  // Say what is known.
  std::vector<std::string> out;
  const std::optional<Fact> cause = cause_of({e}, names[k]);
  std::string line = formula_is_right ? "the recorded formula is right, the code does not follow it"
                     : formula_is_code ? "the recorded formula says the same as the code"
                                       : "";
  if (cause) line += cat(line.empty() ? "" : ": ", cause->cause);
  if (!line.empty()) out.push_back(line);
  const std::vector<std::string> broken = broken_invariants({e}, 0, names[k]);
  if (!broken.empty()) out.push_back(broken[0]);
  return out;
}

}  // namespace microtape
