#pragma once

#include <span>
#include <vector>

#include <microtape/tape/record.hpp>

// Ops that move numbers without changing them. Views where the strides allow it.

namespace microtape {

/// Repeats x until it has `shape`: a free view. x: broadcastable to shape -> shape. The rule sums
/// over what was repeated. @throws ShapeError if the shape does not fit
Var broadcast_to(const Var& x, const Shape& shape);

/// Sums x down to `shape`, the adjoint of broadcast_to. x [..] -> shape, which broadcasts to x's.
/// @throws ShapeError if it does not
Var sum_to(const Var& x, const Shape& shape);

/// The same numbers in the same order. x [..] -> extents, of which one may be -1.
/// @throws ShapeError if the number of elements differs
Var reshape(const Var& x, const Indices& extents);

/// Axis j of the result is axis order[j] of x. @throws ValueError unless order names each axis once
Var permute(const Var& x, const Indices& order);

/// Swaps the last two axes. x [.., m, n] -> [.., n, m]. @throws ShapeError if the rank is below 2
Var transpose(const Var& x);

/// Indices start .. stop - 1 of an axis. @throws IndexError unless 0 <= start <= stop <= extent
Var slice(const Var& x, Index axis, Index start, Index stop);

/// The adjoint of slice: zeros of extent `extent` along the axis, with x from index start on.
/// @throws IndexError if x does not fit there
Var unslice(const Var& x, Index axis, Index start, Index extent);

/// One after another along an axis. parts [.., n_i, ..] -> [.., sum n_i, ..]
/// @throws ValueError if there are no parts; ShapeError if they differ in another axis; DTypeError
Var concat(std::span<const Var> parts, Index axis);
inline Var concat(std::initializer_list<Var> parts, Index axis) {
  return concat(std::span<const Var>(parts.begin(), parts.size()), axis);
}

/// Side by side along a new axis. n parts [..] -> [.., n, ..]
/// @throws ValueError if there are no parts; ShapeError if they differ; DTypeError
Var stack(std::span<const Var> parts, Index axis);
inline Var stack(std::initializer_list<Var> parts, Index axis) {
  return stack(std::span<const Var>(parts.begin(), parts.size()), axis);
}

/// Takes an axis of extent 1 away. x [.., 1, ..] -> [.., ..]
/// @throws IndexError if there is no such axis; ShapeError if its extent is not 1
Var squeeze(const Var& x, Index axis);
/// Puts an axis of extent 1 in. x [.., ..] -> [.., 1, ..], where it is axis `axis` of the result.
/// @throws IndexError if the result has no such axis
Var unsqueeze(const Var& x, Index axis);
/// Cuts an axis into pieces of these extents. x [.., n, ..] -> pieces [.., n_i, ..]
/// @throws IndexError if there is no such axis; ShapeError unless the extents sum to n
std::vector<Var> split(const Var& x, std::span<const Index> extents, Index axis);
/// Cuts an axis into `parts` pieces of equal extent. @throws as above; ShapeError unless parts
/// divides n
std::vector<Var> split(const Var& x, Index parts, Index axis);

/// x without its history: the same numbers, an inactive node. Writing to neither changes the other.
Var detach(const Var& x);

}  // namespace microtape
