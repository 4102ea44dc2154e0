#pragma once

#include <microtape/core/tensor.hpp>

// Arithmetic on numbers, one element at a time, without derivatives. Operands may be strided; the
// result is contiguous. Two operands have one shape (callers broadcast first: a free view) and one
// dtype, float32 or float64.
// Each throws DTypeError `<op>: dtypes differ: a float32, b float64; ...` or
// `<op>: needs numbers with a derivative: x int64; ...`.

namespace microtape::kernels {

Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);

/// x + c
Tensor add(const Tensor& x, double c);
/// c - x
Tensor sub(double c, const Tensor& x);
/// c * x
Tensor scale(const Tensor& x, double c);
/// x / c
Tensor div(const Tensor& x, double c);
/// c / x
Tensor div(double c, const Tensor& x);
/// x ^ n; 0 ^ 0 is 1.
Tensor pow(const Tensor& x, double n);

Tensor neg(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
/// 1 / (1 + e^-x), without overflow for either sign.
Tensor sigmoid(const Tensor& x);
Tensor erf(const Tensor& x);
Tensor abs(const Tensor& x);
/// -1, 0 or 1; NaN stays NaN.
Tensor sign(const Tensor& x);
/// max(x, 0); NaN stays NaN.
Tensor relu(const Tensor& x);
/// 1 where x > 0, else 0.
Tensor step(const Tensor& x);
/// x / (1 + e^-x)
Tensor silu(const Tensor& x);
/// x * Phi(x), Phi the standard normal distribution function.
Tensor gelu(const Tensor& x);
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
Tensor gelu_tanh(const Tensor& x);

/// a where mask is not 0, b elsewhere; what is not chosen is not read into the result.
/// @throws DTypeError unless the mask is int64
Tensor where(const Tensor& mask, const Tensor& a, const Tensor& b);

}  // namespace microtape::kernels
