#pragma once

#include <cmath>

#include <microtape/core/kernels/fold.hpp>
#include <microtape/core/kernels/math.hpp>

// Softmax of one row without gaps, and its pullback. Internal: included by kernels only.

namespace microtape::kernels {

/// y = e^x over the sum of e^x; y may be x. @return the maximum; if that is infinite the row has no
/// softmax, and y is not written
template <class T>
T softmax_row(const T* x, T* y, Index n) {
  const T top = fold_values<T, Max>(n, [x](Index i) { return x[i]; });
  if (std::isinf(top)) return top;
  // Two passes: a loop that also adds them up is compiled to worse code.
  for (Index i = 0; i < n; ++i) y[i] = math::exp_not_above_0(x[i] - top);
  const T share = 1 / fold_values<T, Sum>(n, [y](Index i) { return y[i]; });
  for (Index i = 0; i < n; ++i) y[i] *= share;
  return top;
}

/// Overwrites g, the adjoint of y = softmax(x), by y * (g - sum(g * y)), that of x.
void softmax_pullback_row(float* g, const float* y, Index n);
void softmax_pullback_row(double* g, const double* y, Index n);

/// The error about a row of x + mask whose maximum is infinite. The row is named by its index along
/// every axis but the one that is reduced.
/// @param op      for the message
/// @param mask    null if there is none
/// @param offset  the place of its first element, in row-major order
[[noreturn]] void fail_row(
    std::string_view op, double top, const Shape& x, Index axis, const Tensor* mask, Index offset);

}  // namespace microtape::kernels
