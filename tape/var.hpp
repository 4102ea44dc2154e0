#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include <microtape/core/tensor.hpp>

namespace microtape {

class MicroTape;

/// The number of a node on its tape: the first is 0, inputs stand before their users.
using NodeId = std::uint32_t;
/// The number of no node.
inline constexpr NodeId kNoNode = ~NodeId{0};

/// Where a Var learns whether its tape still lives. Slots are recycled but never freed, and the
/// generation counts up with every clear(), so a Var left over from before is always recognised.
struct TapeSlot {
  MicroTape* tape;           ///< null when it has ended
  std::uint32_t generation;  ///< of what stands on it now
};

/// A value, and the place on a tape where it was computed.
///
/// Without a tape it is plain arithmetic: nothing is recorded. A Tensor converts to such a Var; a
/// number does not, but the operators take numbers on either side and adopt the dtype. A Var is a
/// handle of 24 bytes; copying it is cheap.
class Var {
 public:
  /// No value; see Tensor().
  Var() = default;
  /// Plain: on no tape.
  Var(Tensor value) : value_(std::move(value)) {}

  /// The numbers.
  const Tensor& value() const& { return value_; }
  /// Of a Var that is given up, so that nobody else holds the numbers: a rule that has taken g by
  /// value may overwrite them.
  Tensor value() && { return std::move(value_); }
  /// Whether it has a value.
  bool defined() const { return value_.defined(); }
  /// Of the value.
  Shape shape() const { return value_.shape(); }
  /// Of the value.
  DType dtype() const { return value_.dtype(); }
  /// Number of axes of the value.
  Index rank() const { return value_.rank(); }
  /// Number of elements of the value.
  Index size() const { return value_.size(); }
  /// The only number of a one-element value. @throws ShapeError if there are more
  double item() const { return value_.item(); }

  /// The tape it belongs to; null for plain arithmetic.
  /// @throws TapeError if that tape has been cleared or destroyed
  MicroTape* tape() const {
    if (slot_ && slot_->generation != generation_) fail_stale();
    return slot_ ? slot_->tape : nullptr;
  }
  /// Its node, or kNoNode: plain arithmetic, or a value that a Keep::needed tape need not store.
  NodeId node() const { return node_; }
  /// Whether a leaf of the tape reaches it; only then does it get an adjoint.
  /// @throws TapeError if the tape has been cleared or destroyed
  bool is_active() const;

  /// Gives the node a name, as the textbook writes it; `latex` if LaTeX writes it otherwise:
  /// `P.named("P_drop", R"(\tilde P)")`. Nothing happens without a node.
  /// @throws TapeError if the tape has been cleared or destroyed; ValueError if the LaTeX would
  ///         break a formula in math mode (a brace without its other, a $), or has a command that
  ///         reads, writes or defines (`\input`, `\def`)
  const Var& named(std::string_view name, std::string_view latex = "") const;

 private:
  friend class MicroTape;
  friend class Gradients;
  friend class Sweep;
  Var(Tensor value, TapeSlot* slot, NodeId node)
      : value_(std::move(value)), slot_(slot), node_(node), generation_(slot->generation) {}
  [[noreturn]] static void fail_stale();

  Tensor value_;
  TapeSlot* slot_ = nullptr;
  NodeId node_ = kNoNode;
  std::uint32_t generation_ = 0;
};

static_assert(sizeof(Var) == 24);

}  // namespace microtape
