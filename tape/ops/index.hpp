#pragma once

#include <microtape/tape/record.hpp>

// Choosing among numbers: by a mask, by an index. Masks and indices are int64 and carry no adjoint.

namespace microtape {

/// 1 where a > b, else 0; broadcast. -> int64, inactive
Var greater(const Var& a, const Var& b);
/// 1 where a = b, else 0; broadcast. -> int64, inactive
Var equal(const Var& a, const Var& b);

/// a where mask is not 0, b elsewhere; all three broadcast. What is not chosen gets adjoint exactly
/// 0, even if it is NaN or infinite.
/// @param mask  int64, 0 or 1; carries no adjoint
/// @throws ShapeError if the shapes do not broadcast; DTypeError unless the mask is int64, and a
/// and
///         b share a dtype
Var where(const Var& mask, const Var& a, const Var& b);
Var where(const Var& mask, const Var& a, double b);
Var where(const Var& mask, double a, const Var& b);

/// x, with `value` where the mask is not 0; there the adjoint is 0. @throws as where
inline Var masked_fill(const Var& x, const Var& mask, double value) {
  return where(mask, value, x);
}

/// The lower triangle: x where column - row <= diagonal, else 0. x [.., m, n] -> same shape
/// @throws ShapeError if the rank is below 2
Var tril(const Var& x, Index diagonal = 0);
/// The upper triangle: x where column - row >= diagonal, else 0. x [.., m, n] -> same shape
/// @throws ShapeError if the rank is below 2
Var triu(const Var& x, Index diagonal = 0);

/// Where the largest number of each slice stands: the first, if there are several. x [.., n, ..] ->
/// [.., ..] int64, inactive. @throws IndexError, ValueError if n is 0
Var argmax(const Var& x, Index axis = -1);

/// 1 at the label, 0 elsewhere. labels [..] int64 -> [.., classes], inactive
/// @throws DTypeError unless the labels are int64; IndexError if one is not in 0 .. classes - 1
Var one_hot(const Var& labels, Index classes, DType dtype = float32);

/// y[.., i, ..] = x[.., index[.., i, ..], ..] along an axis. A number that is taken twice gets both
/// adjoints. @param index  int64, x's shape but along the axis -> the result's shape
/// @throws ShapeError, DTypeError, IndexError if an index is out of range
Var gather(const Var& x, Index axis, const Var& index);

/// x, with source[.., i, ..] added at [.., index[.., i, ..], ..] along an axis: the adjoint of
/// gather.
/// @param source  of index's shape -> x's shape
/// @throws as gather
Var scatter_add(const Var& x, Index axis, const Var& index, const Var& source);

/// A row of the table for each index; a row that is taken twice gets both adjoints.
/// @param table  [n, d]
/// @param rows   [..] int64
/// @return       [.., d]
/// @throws ShapeError, DTypeError, IndexError if an index is not in 0 .. n - 1
Var embedding(const Var& table, const Var& rows);

}  // namespace microtape
