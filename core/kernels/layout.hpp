#pragma once

#include <span>

#include <microtape/core/tensor.hpp>

// Moving numbers without changing them; any dtype.

namespace microtape::kernels {

/// A contiguous copy of x in row-major order.
Tensor copy(const Tensor& x);

/// x in another dtype. @throws ValueError if a float has no int64 (NaN, or out of range)
Tensor cast(const Tensor& x, DType dtype);

/// The parts one after another along a normalized axis. Shapes agree but for that axis (the caller
/// has checked).
Tensor concat(std::span<const Tensor> parts, Index axis);

/// Zeros of `shape` with x at indices start .. along a normalized axis: the adjoint of slice.
Tensor unslice(const Tensor& x, const Shape& shape, Index axis, Index start);

}  // namespace microtape::kernels
