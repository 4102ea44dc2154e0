#pragma once

#include <microtape/core/tensor.hpp>

// Choosing numbers by their place. Indices are int64, from 0; values are float32 or float64; axes
// are normalized. Each throws DTypeError unless the indices are int64, and IndexError, which names
// the first index that is out of range and where it stands.

namespace microtape::kernels {

/// y[.., i, ..] = x[.., index[.., i, ..], ..] along an axis.
/// @param index  x's shape but along the axis -> the result's shape
Tensor gather(const Tensor& x, Index axis, const Tensor& index);

/// x, with source[.., i, ..] added at [.., index[.., i, ..], ..] along an axis; what meets adds up.
/// @param source  of index's shape
Tensor scatter_add(const Tensor& x, Index axis, const Tensor& index, const Tensor& source);

/// Row rows[..] of a table for each index. table [n, d], rows [..] -> [.., d]
Tensor take_rows(const Tensor& table, const Tensor& rows);

/// The adjoint of take_rows: zeros [n, d] with each row of g added at its index. g [.., d], rows
/// [..]
Tensor add_rows(const Tensor& g, const Tensor& rows, Index n);

/// Where the largest number of each slice stands: the first, if there are several; a NaN is
/// largest.
/// -> int64, the axis dropped
/// @throws ValueError if the slices are empty and there are any
Tensor argmax(const Tensor& x, Index axis);

/// 1 at the index, 0 elsewhere, along a new last axis. labels [..] -> [.., classes]
Tensor one_hot(const Tensor& labels, Index classes, DType dtype);

}  // namespace microtape::kernels
