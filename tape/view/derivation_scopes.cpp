#include <algorithm>
#include <set>

#include <microtape/tape/view/derivation_graph.hpp>

namespace microtape {
namespace {

using Scopes = std::vector<std::uint32_t>;

bool contains(const Scopes& scopes, std::uint32_t scope) {
  return std::find(scopes.begin(), scopes.end(), scope) != scopes.end();
}

/// What goes in and out of a scope.
struct Border {
  std::set<NodeId> inputs, results;
  bool is_whole = true;  ///< y was computed from every op inside
};

class Borders {
 public:
  Borders(const MicroTape& tape, NodeId y) : tape_(tape), y_(y) {
    for (const ScopeInfo& scope : tape.scopes()) {
      const auto number = static_cast<std::uint32_t>(nearest_.size());
      const std::uint32_t outer = number == 0 ? 0 : nearest_[scope.parent];
      nearest_.push_back(scope.formula.empty() ? outer : number);
    }
  }

  /// The scopes with a formula around an op, the innermost first; a source is in none.
  Scopes around(NodeId id) const {
    Scopes out;
    if (tape_.node(id).kind() != NodeKind::op) return out;
    for (std::uint32_t scope = nearest_[tape_.node(id).scope()]; scope != 0;
        scope = nearest_[tape_.scopes()[scope].parent])
      out.push_back(scope);
    return out;
  }

  std::map<std::uint32_t, Border> find(const std::vector<bool>& is_shown) {
    const Scopes around_y = around(y_);
    for (const std::uint32_t scope : around_y) found_[scope].results.insert(y_);
    for (NodeId id = 0; id < tape_.size(); ++id) {
      const Scopes inside = around(id);
      for (const std::uint32_t scope : inside) {
        // A recorded sweep puts what it computes later into the scope too.
        const bool is_part = id <= y_ ? is_shown[id] : !contains(around_y, scope);
        found_[scope].is_whole &= is_part;
      }
      if (id > y_ || !is_shown[id]) continue;
      for (const Edge& edge : tape_.node(id).edges()) cross(edge.input(), inside);
    }
    return std::move(found_);
  }

 private:
  /// Notes the borders between an input and its user.
  void cross(NodeId input, const Scopes& around_user) {
    const Scopes around_input = around(input);
    for (const std::uint32_t scope : around_user)
      if (!contains(around_input, scope)) found_[scope].inputs.insert(input);
    for (const std::uint32_t scope : around_input)
      if (!contains(around_user, scope)) found_[scope].results.insert(input);
  }

  const MicroTape& tape_;
  NodeId y_;
  std::vector<std::uint32_t> nearest_;  // [scope]: it, or the first around it that has a formula
  std::map<std::uint32_t, Border> found_;
};

}  // namespace

std::map<NodeId, ScopeLine> scope_lines(
    const MicroTape& tape, NodeId y, const std::vector<bool>& is_shown) {
  std::map<NodeId, ScopeLine> lines;
  const bool has_any = std::any_of(tape.scopes().begin(), tape.scopes().end(),
      [](const ScopeInfo& scope) { return !scope.formula.empty(); });
  if (!has_any) return lines;
  Borders borders(tape, y);
  std::set<std::uint32_t> chosen;
  // An outer scope has a lower number than those inside.
  for (const auto& [scope, border] : borders.find(is_shown)) {
    if (!border.is_whole || border.inputs.size() != 1 || border.results.size() != 1) continue;
    const NodeId result = *border.results.begin();
    if (tape.node(result).is_active() && tape.scopes()[scope].rule.empty()) continue;
    const Scopes outer = borders.around(result);
    const auto is_chosen = [&](std::uint32_t other) { return chosen.contains(other); };
    if (std::any_of(outer.begin(), outer.end(), is_chosen)) continue;
    chosen.insert(scope);
    lines[result] = {scope, *border.inputs.begin()};
  }
  return lines;
}

}  // namespace microtape
