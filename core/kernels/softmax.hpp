#pragma once

#include <microtape/core/tensor.hpp>

// Exponentials of rows, shifted by the row's maximum so that no finite x overflows. `axis` is
// normalized; inputs may be strided; float32 or float64.

namespace microtape::kernels {

/// e^(x + mask) / sum over axis. -> x's shape; every slice sums to 1. A slice of extent 0 is empty.
/// @param mask  null, or of x's dtype and broadcastable to x's shape
/// @throws ValueError `softmax: row [0, 1] has only -inf: ...` if every entry of a slice is -inf,
///         or `softmax: row [0, 1] holds +inf: ...` if one is +inf; NaN passes through
Tensor softmax(const Tensor& x, Index axis, const Tensor* mask = nullptr);

/// y * (g - rowsum(g * y)): the adjoint of x, of rows along the last axis, where y = softmax(x). It
/// is written over g, unless others share it. g and y are of one shape, dtype, and not of rank 0.
Tensor softmax_pullback(Tensor g, const Tensor& y);

/// x - ln(sum over axis of e^x). -> x's shape
/// @throws ValueError as softmax
Tensor log_softmax(const Tensor& x, Index axis);

/// ln(sum over axes of e^x), the reduced axes kept with extent 1; -inf where all are -inf, +inf
/// where one is +inf.
/// @throws ValueError if the result has elements but the reduced axes have none
Tensor logsumexp(const Tensor& x, const Indices& axes);

}  // namespace microtape::kernels
