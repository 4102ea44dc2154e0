#include <microtape/tape/view/formula_check.hpp>

#include <algorithm>
#include <utility>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/backward.hpp>
#include <microtape/tape/compare.hpp>
#include <microtape/tape/view/equation.hpp>
#include <microtape/tape/view/evaluate.hpp>

namespace microtape {
namespace {

constexpr std::uint64_t kSeed = 20;

class Checker {
 public:
  Checker(MicroTape& tape, std::optional<double> rtol) : tape_(tape), rtol_(rtol) {}

  void check_node(NodeId id) {
    const Node& node = tape_.node(id);
    compare_with(id, nullptr, node.value(), {});
    const bool has_rules = std::any_of(node.edges().begin(), node.edges().end(),
        [](const Edge& edge) { return edge.is_active(); });
    if (has_rules) check_rules(id);
  }

  std::vector<FormulaMismatch> take() && { return std::move(found_); }

 private:
  void check_rules(NodeId id) {
    const Node& node = tape_.node(id);
    const Tensor g = Tensor::randn(node.shape(), kSeed, node.dtype());
    try {
      // One step of a sweep that starts here: it runs the rules of this node alone, and records
      // nothing.
      for (const Sweep::Contribution& part : Sweep(tape_.var(id), g).step().contributions)
        compare_with(id, part.edge, part.value.value(), g);
    } catch (const Error& error) {
      found_.push_back(mismatch(id, nullptr));
      found_.back().input = "backward";
      found_.back().problem = error.what();
    }
  }

  /// @param edge  whose rule computed the value; null: the op
  void compare_with(NodeId id, const Edge* edge, const Tensor& computed, const Tensor& g) {
    FormulaMismatch result = mismatch(id, edge);
    try {
      const Formula equation = edge ? rule_equation(tape_, id, *edge, NodeNames::numbers)
                                    : forward_equation(tape_, id, NodeNames::numbers);
      result.printed = to_text(equation);
      const Array evaluated = evaluate(equation, environment(id, g), computed.shape());
      const double rtol = rtol_.value_or(tape_.node(id).dtype() == float32 ? 1e-4 : 1e-10);
      const Comparison comparison = compare("", computed, to_tensor(evaluated), rtol);
      if (comparison.agrees) return;
      result.worst = comparison.worst;
      result.computed = comparison.actual;
      result.evaluated = comparison.expected;
    } catch (const Error& error) {
      result.problem = error.what();
    }
    found_.push_back(std::move(result));
  }

  FormulaMismatch mismatch(NodeId id, const Edge* edge) const {
    const Node& node = tape_.node(id);
    FormulaMismatch result{};
    result.node = id;
    result.op = node.op();
    result.input = edge ? edge->name() : "forward";
    result.formula = edge ? edge->formula() : node.formula();
    return result;
  }

  /// The values of the node, its inputs and, in a rule, its adjoint.
  Environment environment(NodeId id, const Tensor& g) const {
    Environment out;
    const auto add = [&](NodeId node) {
      out.try_emplace(
          node_name(tape_, node, NodeNames::numbers), to_array(tape_.node(node).value()));
    };
    add(id);
    for (const Edge& edge : tape_.node(id).edges()) add(edge.input());
    if (g.defined()) out.try_emplace(cat("d#", id), to_array(g));
    return out;
  }

  MicroTape& tape_;
  std::optional<double> rtol_;
  std::vector<FormulaMismatch> found_;
};

}  // namespace

std::string FormulaMismatch::str() const {
  const std::string where = cat("#", node, " ", op, ", ", input, ": ", formula);
  if (!problem.empty()) return cat(where, ": ", problem);
  return cat(where, ", which is ", printed, ": computed ", number(computed), " at ", worst,
      ", the formula says ", number(evaluated));
}

std::vector<FormulaMismatch> check_formulas(MicroTape& tape, std::optional<double> rtol) {
  if (tape.keep() == Keep::needed)
    throw TapeError(
        "check_formulas: the tape is Keep::needed: it does not have all numbers; "
        "check on a Keep::everything tape");
  Checker checker(tape, rtol);
  for (NodeId id = 0; id < tape.size(); ++id)
    if (tape.node(id).kind() == NodeKind::op && tape.node(id).op() != "checkpoint")
      checker.check_node(id);
  return std::move(checker).take();
}

}  // namespace microtape
