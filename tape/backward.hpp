#pragma once

#include <utility>
#include <vector>

#include <microtape/tape/micro_tape.hpp>

namespace microtape {

/// Should the backward pass itself be put on the tape? yes: its results can be differentiated
/// again, drawn, stepped. no: they are plain, and the tape does not grow.
enum class Record : std::uint8_t { no, yes };

/// What a sweep found: the derivative of y by everything that y was computed from. It owns its
/// numbers and survives tape.clear().
class Gradients {
 public:
  /// The adjoint of x, of x's shape; zeros if y does not depend on x (reached() tells).
  /// @throws TapeError if x is plain, a constant, stands on another tape, or was computed after the
  ///         sweep; if the tape is Keep::needed and x is neither leaf nor parameter
  Var operator[](const Var& x) const;
  /// The adjoint of a parameter; zeros if y does not depend on it.
  /// @throws TapeError if the tape did not watch it
  Var operator[](const Parameter& parameter) const;

  /// Whether the sweep came by: "not computed" is not the same as 0. On a Keep::needed tape it
  /// tells of leaves and parameters only. A Var of another tape, and a parameter that the tape did
  /// not watch, are not reached.
  bool reached(const Var& x) const;
  bool reached(const Parameter& parameter) const;

 private:
  friend class Sweep;
  Gradients() = default;
  bool is_mine(const Var& x) const;
  bool is_reached(NodeId node) const;
  Var adjoint_of(NodeId node, const Tensor& x) const;
  NodeId node_of(const Parameter& parameter) const;

  const TapeSlot* slot_ = nullptr;
  std::uint32_t generation_ = 0;
  Keep keep_ = Keep::everything;
  std::vector<Var> adjoints_;  // [node]
  std::vector<bool> is_kept_;  // [node]: active, and for Keep::needed a leaf or parameter
  // Not the parameters' values: an optimizer that writes in place must find itself alone.
  std::vector<std::pair<Parameter, NodeId>> watched_;
};

/// The backward pass, one node at a time.
///
///     for (Sweep sweep(y, seed); !sweep.done(); ) { const Sweep::Step step = sweep.step(); ... }
///
/// backward() is this loop with an empty body. Copy a Sweep to be able to go back.
class Sweep {
 public:
  /// What flowed along one edge.
  struct Contribution {
    const Edge* edge;  ///< along which
    Var value;         ///< what the rule computed
    Var before;  ///< the input's adjoint until now; not defined if this is the first contribution
    Var after;   ///< the sum
    bool complete;  ///< whether this was the last contribution to the input's adjoint
  };
  /// What one step() did.
  struct Step {
    NodeId node;  ///< whose rules it applied
    Var adjoint;  ///< of the node; complete, since every user of it has been visited
    std::vector<Contribution> contributions;  ///< to the adjoints of its inputs, in their order
  };

  /// @param y     where to start: active, on a tape
  /// @param seed  the adjoint of y, of y's shape and dtype
  /// @throws TapeError if y is plain or a constant, or the seed stands on another tape; ShapeError,
  ///         DTypeError if the seed does not fit; ValueError if a Check::finite tape finds a NaN or
  ///         an infinity in it
  Sweep(const Var& y, const Var& seed, Record record = Record::no);

  /// Whether there is no step left.
  bool done() const { return at_ == kNoNode; }
  /// The node whose rules the next step() applies; kNoNode when done.
  NodeId at() const { return at_; }

  /// Applies the rules of node at() and moves to the next node that has an adjoint and inputs to
  /// pass it to.
  /// @throws TapeError when done, if the tape has been cleared, or if a rule threw in the step
  ///         before, so that this Sweep cannot go on; ShapeError or DTypeError if a rule returns an
  ///         adjoint that does not fit its input; ValueError if it is not finite on a Check::finite
  ///         tape; and what a rule throws
  Step step();
  /// step() without a report.
  void advance() { apply_rules(nullptr); }

  /// The adjoint of a node so far; not defined if nothing has reached it, or if a Keep::needed
  /// tape, which has no further use for it, has given it up.
  Var adjoint(NodeId node) const { return node < adjoints_.size() ? adjoints_[node] : Var(); }

  /// What has been found so far; all of it when done. @throws TapeError if the tape was cleared
  Gradients gradients() const&;
  Gradients gradients() &&;

 private:
  class Mode;
  void apply_rules(Step* report);
  void apply_joint_rule(
      const Node& node, const Edge& first, const Var& g, const Var& y, Step* report);
  void contribute(const Node& node, const Edge& edge, Var part, Step* report);
  void check_part(const Node& node, const Edge& edge, const Var& part) const;
  void count_contributions();
  void move_on();
  void name_adjoint(NodeId id) const;

  Var y_;
  Record record_;
  NodeId at_;
  bool has_failed_ = false;             // a rule threw: a second try would add the others twice
  std::vector<Var> adjoints_;           // [node]
  std::vector<std::uint32_t> pending_;  // [node]: contributions still to come; counted by step()
};

/// The gradient of the scalar y with respect to everything it was computed from. Any shape of one
/// element counts as a scalar.
/// @throws ShapeError unless y has one element; TapeError if it is plain or a constant
Gradients backward(const Var& y, Record record = Record::no);
/// The same from any y, with the adjoint of y given.
Gradients backward(const Var& y, const Var& seed, Record record = Record::no);

}  // namespace microtape
