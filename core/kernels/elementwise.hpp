#pragma once

#include <microtape/core/tensor.hpp>

// Arithmetic on numbers, one element at a time, without derivatives. Operands may be strided; the
// result is contiguous. Two operands have one shape (callers broadcast first: a free view) and one
// dtype, float32 or float64.
// Each throws DTypeError `<op>: dtypes differ: a float32 [2, 3], b float64 [2, 3]; ...` or
// `<op>: needs float32 or float64: x int64 [2]; ...`, and ShapeError `<op>: shapes differ: ...`.

namespace microtape::kernels {

/// a + b
Tensor add(const Tensor& a, const Tensor& b);
/// a - b
Tensor sub(const Tensor& a, const Tensor& b);
/// a * b
Tensor mul(const Tensor& a, const Tensor& b);
/// a / b; x / 0 follows IEEE 754.
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
/// x ^ n as std::pow defines it: x ^ 0 is 1 for every x; a negative x needs a whole n, else NaN.
Tensor pow(const Tensor& x, double n);

/// a / b, but 0 where a is 0, even if b is 0 too.
Tensor ratio(const Tensor& a, const Tensor& b);
/// The larger of two; NaN if either is.
Tensor maximum(const Tensor& a, const Tensor& b);
/// The smaller of two; NaN if either is.
Tensor minimum(const Tensor& a, const Tensor& b);
/// a ^ b; x ^ 0 is 1.
Tensor pow(const Tensor& a, const Tensor& b);
/// 1 where a > b, else 0. -> int64
Tensor greater(const Tensor& a, const Tensor& b);
/// 1 where a = b, else 0. -> int64
Tensor equal(const Tensor& a, const Tensor& b);

/// -x
Tensor neg(const Tensor& x);
/// e^x - 1, which keeps its digits near 0.
Tensor expm1(const Tensor& x);
/// ln(1 + x), which keeps its digits near 0; -inf at -1, NaN below.
Tensor log1p(const Tensor& x);
/// ln(1 + e^x), without overflow.
Tensor softplus(const Tensor& x);
/// e^x; overflows to infinity above 88.7 (float32) or 709.7 (float64).
Tensor exp(const Tensor& x);
/// ln x; -inf at 0, NaN below.
Tensor log(const Tensor& x);
/// The square root; NaN below 0.
Tensor sqrt(const Tensor& x);
/// sin x, x in radians.
Tensor sin(const Tensor& x);
/// cos x, x in radians.
Tensor cos(const Tensor& x);
/// tanh x; no finite x overflows.
Tensor tanh(const Tensor& x);
/// 1 / (1 + e^-x), without overflow for either sign.
Tensor sigmoid(const Tensor& x);
/// 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x.
Tensor erf(const Tensor& x);
/// |x|
Tensor abs(const Tensor& x);
/// -1, 0 or 1; NaN stays NaN.
Tensor sign(const Tensor& x);
/// max(x, 0); NaN stays NaN.
Tensor relu(const Tensor& x);
/// 1 where x > 0, else 0.
Tensor step(const Tensor& x);
/// x / (1 + e^-x); 0 at -inf.
Tensor silu(const Tensor& x);
/// x * Phi(x), Phi the standard normal distribution function; 0 at -inf.
Tensor gelu(const Tensor& x);
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))); 0 at -inf.
Tensor gelu_tanh(const Tensor& x);

/// a where mask is not 0, b elsewhere; what is not chosen is not read into the result.
/// @throws DTypeError unless the mask is int64
Tensor where(const Tensor& mask, const Tensor& a, const Tensor& b);

}  // namespace microtape::kernels
