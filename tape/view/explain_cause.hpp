#pragma once

#include <vector>

#include <microtape/tape/view/explain_trace.hpp>

// Where on the tape a gradient got lost, or became NaN. Internal to tape/view.

namespace microtape {

/// Where a way from y to x ends.
struct Cause {
  enum class Kind : std::uint8_t {
    stops,       ///< the rule makes 0 of whatever may arrive
    underflows,  ///< the rule would pass something, but what arrives is so small that 0 remains
    cancels,     ///< the rule adds numbers up, and their sum is 0
    meets,       ///< what the rules of several users pass adds up to 0
  };
  Kind kind;
  NodeId node;       ///< whose rule; for `meets`, whose adjoint
  const Edge* edge;  ///< which rule; null for `meets`
  /// For which entries of what the rule returns, in row-major order; for `meets`, of the adjoint.
  std::vector<Index> entries;
};

/// Why the adjoint of x is 0 in these entries: where each way from y ends, as far as that can be
/// followed; the first in the order of the sweep first.
std::vector<Cause> causes_of_zero(const Trace& trace, const std::vector<Index>& entries);

/// The rule, or (null) the addition, that first made an adjoint NaN or infinite, of finite ones.
struct Spoiler {
  NodeId node;
  const Edge* edge;
  Index entry;     ///< of what the rule returned, or of the sum
  bool overflows;  ///< a smaller adjoint would pass
};
Spoiler cause_of_nonfinite(const Trace& trace, Index entry);

/// A number on the tape.
struct Place {
  NodeId node = kNoNode;
  Index entry = 0;
};
/// The first NaN of a, or else the first infinity: among the numbers that may have spoiled an entry
/// of an input of an op, or of its result. -1 if all of them are finite.
/// @param a   the numbers of an input, or of the result
/// @param of  the shape of what was spoiled
Index first_spoiled(
    const MicroTape& tape, const Node& node, const Array& a, const Shape& of, Index entry);
/// Where a NaN or an infinity comes from: going back from it, the first such number that was made
/// of finite ones, or was given.
Place source_of_nonfinite(MicroTape& tape, Place at);

/// Where x is 0 to rounding: it moves all entries of each row of an op's input alike, and the op
/// sees only their differences.
struct Shift {
  std::vector<bool> entries;  ///< of x, for which that is so
  double size = 0;            ///< of what the adjoint is added up from, about
  NodeId node = kNoNode;      ///< the op, the nearest to the first of these entries
  bool is_flat = false;       ///< arrives_flat() there
};
Shift shift_of(const Trace& trace);
/// Whether an op whose rows always have the same sum has an adjoint that is the same along each
/// row: then nothing but rounding goes on from there.
bool arrives_flat(const Trace& trace, NodeId id);

}  // namespace microtape
