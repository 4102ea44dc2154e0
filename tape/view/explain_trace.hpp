#pragma once

#include <string_view>
#include <vector>

#include <microtape/tape/backward.hpp>
#include <microtape/tape/view/array.hpp>

// What explain() knows of a sweep, and how it asks a rule "what if". Internal to tape/view.

namespace microtape {

/// What one rule passed to the adjoint of its input.
struct Flow {
  NodeId user;       ///< whose rule
  const Edge* edge;  ///< which rule
  Array value;
};

/// A sweep of the sum of y, remembered along all ways from y to x.
class Trace {
 public:
  /// @param y  active
  Trace(MicroTape& tape, NodeId x, NodeId y);

  MicroTape& tape() const { return tape_; }
  NodeId x() const { return x_; }
  NodeId y() const { return y_; }
  DType dtype(NodeId id) const { return tape_.node(id).dtype(); }
  /// Whether adjoints flow from y to this node and on to x.
  bool is_between(NodeId id) const { return id >= x_ && id <= y_ && is_between_[id]; }
  /// The adjoint of a node between.
  const Array& adjoint(NodeId id) const { return adjoints_[id]; }
  /// What was added up in the adjoint of a node between, in the order of the sweep.
  const std::vector<Flow>& parts(NodeId id) const { return parts_[id]; }

  /// What the rules of a node between pass on to nodes between if its adjoint is g.
  std::vector<Flow> pull(NodeId user, const Array& g) const;
  /// The same of one rule.
  Array pull(const Flow& part, const Array& g) const;

 private:
  MicroTape& tape_;
  NodeId x_, y_;
  std::vector<bool> is_between_;          // [node]
  std::vector<Array> adjoints_;           // [node]
  std::vector<std::vector<Flow>> parts_;  // [node]
};

/// The nodes up to `end` to which x leads along edges that carry adjoints.
std::vector<bool> descendants(const MicroTape& tape, NodeId x, NodeId end);

/// Random numbers between 1/2 and 1, others for each seed. A sum with such weights is 0 only if
/// each term is: what a rule makes of them tells whether it passes anything at all.
Array generic(const Shape& shape, DType dtype, std::uint64_t seed = 0);

bool is_zero(const Array& a);

/// Whether each entry of an op's result depends only on the same entry of its inputs.
bool is_elementwise(const MicroTape& tape, const Node& node);
/// The rows along the axis or axes of an op such as softmax or sum, as flat indices of a shape;
/// none if there is no such axis.
std::vector<std::vector<Index>> rows_of(const Node& node, const Shape& shape);
/// Whether a list of words, with spaces between them, contains one.
bool has_word(std::string_view words, std::string_view word);

}  // namespace microtape
