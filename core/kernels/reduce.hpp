#pragma once

#include <microtape/core/tensor.hpp>

// Reductions. `axes` come normalized (from the front, ascending, each once; normalize_axes() in
// shape.hpp makes them so), and every result keeps the reduced axes with extent 1. Inputs may be
// strided; float32 or float64. Sums are pairwise: the error grows with log n, not n.

namespace microtape::kernels {

/// Sum over axes; an empty sum is 0.
Tensor sum(const Tensor& x, const Indices& axes);

/// Sums x down to `shape`, which broadcasts to x.shape(): the adjoint of broadcast_to. Drops the
/// leading axes that `shape` lacks.
/// @throws ShapeError `sum_to: ...` if shape does not broadcast to x.shape()
Tensor sum_to(const Tensor& x, const Shape& shape);

/// Largest element over axes; a NaN among them is the result.
/// @throws ValueError `max: the maximum of zero elements does not exist: x [2, 0]; ...` when the
///         result has elements but the reduced axes have none
Tensor(max)(const Tensor& x, const Indices& axes);  // windows.h has a macro max(..)

/// 1 / k where x equals its maximum, k the number of such places; else 0. A NaN is the maximum of
/// its slice here too.
/// @param y  max(x, axes)
Tensor max_share(const Tensor& x, const Tensor& y, const Indices& axes);

/// Mean of the squared distance from the mean, with n - correction in the denominator. Two passes.
/// @throws ValueError unless n > correction
Tensor var(const Tensor& x, const Indices& axes, Index correction);

}  // namespace microtape::kernels
