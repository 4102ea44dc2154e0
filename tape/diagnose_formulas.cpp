#include <algorithm>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/diagnose_evidence.hpp>
#include <microtape/tape/view/equation.hpp>
#include <microtape/tape/view/formula_rules.hpp>
#include <microtape/tape/view/formula_traits.hpp>

// The adjoints that a tape computes, as formulas.

namespace microtape::diagnosis {
namespace {

/// Formulas grow where an adjoint is used more than once; of more ops nobody reads them anyway.
constexpr NodeId kMostOps = 24;

class Recorder {
 public:
  Recorder(const MicroTape& tape, const Var& y) : tape_(tape), y_(y) {
    names_.resize(y.node() + 1);
  }

  void add_leaf(const Var& leaf, const std::string& name) {
    if (leaf.node() > y_.node()) return;
    names_[leaf.node()] = named(unused(name), leaf.value());
    out_.operands.names.push_back(*names_[leaf.node()]);
  }

  Recorded run(std::span<const Var> leaves, const Tensor& g) {
    out_.contributions.resize(leaves.size());
    try {
      name_values();
      adjoint_ = named(unused("g"), g);
      out_.operands.names.push_back(*names_[y_.node()]);
      out_.operands.names.push_back(adjoint_);
      const std::vector<std::vector<Formula>> found = adjoints();
      for (std::size_t k = 0; k < leaves.size(); ++k)
        if (leaves[k].node() < found.size()) out_.contributions[k] = found[leaves[k].node()];
    } catch (const Error&) {
      // A formula that cannot be read: the mistake is to be found without.
    }
    return std::move(out_);
  }

 private:
  /// Names what stands between the leaves and y. A broadcast or a reshape needs no name.
  void name_values() {
    for (NodeId id = 0; id <= y_.node(); ++id) {
      const Node& node = tape_.node(id);
      if (names_[id]) continue;
      const bool moves_only =
          node.op() == "broadcast_to" || node.op() == "reshape" || node.op() == "transpose";
      if (id == y_.node())
        names_[id] = named(unused("y"), node.value());
      else if (moves_only)
        names_[id] = forward_equation(tape_, id, [&](NodeId input) { return *names_[input]; });
      else
        names_[id] =
            named(unused(node.name().empty() ? called(id) : node_name(tape_, id)), node.value());
    }
  }

  /// "(1 + x * x)", or "standardize(x)" if its formula is long or cannot be read; "#2" for a
  /// constant.
  std::string called(NodeId id) const {
    constexpr std::size_t kLong = 24;
    if (tape_.node(id).edges().empty()) return node_name(tape_, id);
    try {
      const Formula f = forward_equation(tape_, id, [&](NodeId input) { return *names_[input]; });
      const std::string text =
          f.kind == Formula::Kind::call ? to_text(f) : cat("(", to_text(f), ")");
      if (text.size() <= kLong) return text;
    } catch (const Error&) {
      // check_formulas tells what is wrong with it.
    }
    std::string inputs;
    for (const Edge& edge : tape_.node(id).edges())
      inputs += cat(inputs.empty() ? "" : ", ", to_text(*names_[edge.input()]));
    return inputs.size() <= kLong ? cat(tape_.node(id).op(), "(", inputs, ")")
                                  : node_name(tape_, id);
  }

  std::string unused(std::string name) const {
    while (out_.operands.values.contains(name)) name += '_';
    return name;
  }

  Formula named(const std::string& name, const Tensor& value) {
    Formula result = name_formula(name);
    result.shape = value.shape();
    const std::uint64_t seed = 1000 + out_.operands.values.size();
    out_.operands.values.emplace(name, to_array(value));
    // Labels and masks must stay what they are.
    out_.operands.others.emplace(
        name, to_array(is_floating(value.dtype())
                           ? Tensor::uniform(value.shape(), 0.5, 1.5, seed, float64)
                           : value));
    return result;
  }

  /// Walks the tape backwards, as a sweep does, with formulas.
  /// @return [node]: the contributions to its adjoint
  std::vector<std::vector<Formula>> adjoints() const {
    std::vector<std::vector<Formula>> found(y_.node() + 1);
    found[y_.node()] = {adjoint_};
    NodeId ops = 0;
    for (NodeId id = y_.node() + 1; id-- > 0;) {
      if (found[id].empty() || tape_.node(id).edges().empty()) continue;
      if (++ops > kMostOps) throw ValueError("diagnose: too many ops for a formula");
      const Formula adjoint = sum_of(found[id]);
      for (const Edge& edge : tape_.node(id).edges())
        if (edge.is_active())
          found[edge.input()].push_back(rule_equation(
              tape_, id, edge, [&](NodeId node) { return *names_[node]; },
              [&](NodeId) { return adjoint; }));
    }
    return found;
  }

  const MicroTape& tape_;
  const Var& y_;
  Recorded out_;
  Formula adjoint_;
  std::vector<std::optional<Formula>> names_;  // [node]
};

}  // namespace

Recorded recorded_adjoints(const MicroTape& tape, std::span<const Var> leaves,
    std::span<const std::string> names, const Var& y, const Tensor& g) {
  if (!y.is_active()) return {std::vector<std::vector<Formula>>(leaves.size()), {}};
  Recorder recorder(tape, y);
  for (std::size_t k = 0; k < leaves.size(); ++k) recorder.add_leaf(leaves[k], names[k]);
  return recorder.run(leaves, g);
}

std::optional<Formula> sum_of_contributions(
    std::span<const Formula> contributions, const Shape& shape) {
  if (contributions.empty()) return std::nullopt;
  return literal_form(with_shape(sum_of(contributions), shape));
}

}  // namespace microtape::diagnosis
