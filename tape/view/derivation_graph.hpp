#pragma once

#include <map>
#include <vector>

#include <microtape/tape/view/derivation.hpp>
#include <microtape/tape/view/equation.hpp>

// What a derivation is of: the nodes that y was computed from, a whole scope being one of them if
// it has a formula. Internal to tape/view.

namespace microtape {

/// A scope that is shown as one line.
struct ScopeLine {
  std::uint32_t scope;
  NodeId input;  ///< all that it reads from outside
};

/// The scopes that are lines, by the node that is their result: those with a formula and a rule,
/// one input and one result, all of whose ops lead to y.
/// @param is_shown  [node]
std::map<NodeId, ScopeLine> scope_lines(
    const MicroTape& tape, NodeId y, const std::vector<bool>& is_shown);

class DerivationGraph {
 public:
  /// An input of a node.
  struct Link {
    NodeId input;
    bool is_active;    ///< whether an adjoint flows along it
    const Edge* edge;  ///< null: the node is the result of a scope
  };

  DerivationGraph(const MicroTape& tape, NodeId y, ScopeLines scopes);

  NodeId y() const { return y_; }
  /// Whether y was computed from it, and it has not vanished in a scope.
  bool is_shown(NodeId id) const { return is_shown_[id]; }
  /// Whether it was given: then it has no equation.
  bool is_source(NodeId id) const { return tape_.node(id).kind() != NodeKind::op; }
  bool has_name(NodeId id) const { return !tape_.node(id).name().empty(); }
  const std::vector<Link>& links(NodeId id) const { return links_[id]; }

  /// The names of a node and of its adjoint; no two are equal.
  Formula name(NodeId id) const { return numbered(id, ""); }
  Formula adjoint_name(NodeId id) const { return numbered(id, "d"); }

  /// The right side of the equation of a node, of the node's shape.
  Formula forward(NodeId id, NodeFormula value) const;
  /// What the node adds to the adjoint of an input, of the input's shape.
  Formula rule(NodeId id, const Link& link, NodeFormula value, NodeFormula adjoint) const;

 private:
  void show_inputs();
  std::vector<Link> find_links(NodeId id) const;
  void tell_names_apart();
  Formula numbered(NodeId id, std::string_view before) const;

  const MicroTape& tape_;
  NodeId y_;
  std::vector<bool> is_shown_;            // [node]
  std::vector<bool> is_numbered_;         // [node]: it shares its name
  std::vector<std::vector<Link>> links_;  // [node]
  std::map<NodeId, ScopeLine> lines_;
};

}  // namespace microtape
