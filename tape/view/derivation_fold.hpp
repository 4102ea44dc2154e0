#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include <microtape/tape/view/derivation_graph.hpp>

// Which nodes have a name in a derivation, and what stands for the others. Internal to tape/view.

namespace microtape {

/// What a node adds to a right side: to its own, what it was computed from; to that of the adjoint
/// of an input, what its rule says.
struct Term {
  NodeId node;
  const DerivationGraph::Link* rule = nullptr;  ///< null: its own
};

/// A node is either named, so that it has equations, and its name stands in those of others; or
/// folded: what it was computed from stands in its place, and so with its adjoint. A node that has
/// no name and is used once is folded, as long as no line is longer than 80 columns.
class Folding {
 public:
  /// @param is_named  [node]: nodes to name even if their lines are short
  Folding(const DerivationGraph& graph, DerivationForm form, std::vector<bool> is_named);

  bool is_named(NodeId id) const { return is_named_[id]; }

  /// The right side of an equation, a sum of terms. If the line is too long, the longest of what is
  /// folded into the longest term gets a name, and so on; in the end the node itself.
  /// @param left  the name of the node or of its adjoint
  Formula right_side(NodeId id, const Formula& left, const std::vector<Term>& terms);

  /// From now on the adjoint of a folded node is this term.
  void fold_adjoint(NodeId id, const Term& term) { adjoint_terms_[id] = term; }

  /// The adjoints of nodes that were named by right_side() when they had been folded before.
  std::vector<Equation> take_unfolded() { return std::exchange(unfolded_, {}); }

  /// Drops formulas that can be computed again.
  void forget();

 private:
  /// A term written down, and the nodes that are folded into it.
  struct Written {
    struct Folded {
      NodeId node;
      bool is_adjoint;
    };
    Formula formula;
    std::vector<Folded> folded;
    std::size_t width = 0;  ///< with the " = " or " + " before it
  };

  Formula value(NodeId id);
  Formula adjoint(NodeId id);
  void compute_values(NodeId id);
  void compute_adjoints(NodeId id);
  Written written(const Term& term);
  Written part_of(const std::vector<Term>& terms, std::size_t i);
  void shorten(std::vector<Written>& parts, const std::vector<Term>& terms, std::size_t room);
  Formula in_form(Formula f) const;
  bool name_longest(const Written& part);
  NodeId origin_of_adjoint(NodeId id);
  void name(NodeId id);

  const DerivationGraph& graph_;
  DerivationForm form_;
  std::vector<bool> is_named_;                    // [node]
  std::vector<Term> adjoint_terms_;               // [node]: of folded nodes
  std::unordered_map<NodeId, Formula> values_;    // of folded nodes, some
  std::unordered_map<NodeId, Formula> adjoints_;  // of folded nodes, some
  std::vector<Equation> unfolded_;
};

}  // namespace microtape
