#pragma once

#include <microtape/tape/record.hpp>

// Functions of one number, applied to every element. x [..] -> the same shape.
// Each throws DTypeError for int64.

namespace microtape {

/// e^x; overflows to infinity above 88.7 (float32) or 709.7 (float64).
Var exp(const Var& x);
/// e^x - 1, which keeps its digits near 0.
Var expm1(const Var& x);
/// ln x; -inf at 0, NaN below. Its derivative at 0 is infinite; where no adjoint arrives, none
/// leaves.
Var log(const Var& x);
/// ln(1 + x), which keeps its digits near 0; -inf at -1, NaN below.
Var log1p(const Var& x);
/// The square root; NaN below 0. Its derivative at 0 is infinite (so sqrt(c x) at c = 0 gives NaN);
/// where no adjoint arrives, none leaves: where a where() did not choose sqrt(x), x has adjoint 0.
Var sqrt(const Var& x);
/// 1 / sqrt(x); infinite at 0, NaN below.
Var rsqrt(const Var& x);
/// x^2
Var square(const Var& x);
/// 1 / x; infinite at 0.
Var reciprocal(const Var& x);
/// sin x, x in radians.
Var sin(const Var& x);
/// cos x, x in radians.
Var cos(const Var& x);
/// tanh x; no finite x overflows.
Var tanh(const Var& x);
/// 1 / (1 + e^-x); no finite x overflows.
Var sigmoid(const Var& x);
/// ln(1 + e^x), a smooth max(x, 0); no finite x overflows.
Var softplus(const Var& x);
/// 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x.
Var erf(const Var& x);
/// |x|. At 0, where no derivative exists, the adjoint is 0.
Var abs(const Var& x);
/// -1, 0 or 1. Its derivative is 0 wherever there is one: the result is inactive.
Var sign(const Var& x);
/// max(x, 0). At 0, where no derivative exists, the adjoint is 0.
Var relu(const Var& x);
/// 1 where x > 0, else 0. Its derivative is 0 wherever there is one: the result is inactive.
Var step(const Var& x);
/// x sigmoid(x). Source: Elfwing, Uchibe, Doya, "Sigmoid-weighted linear units for neural network
/// function approximation in reinforcement learning", Neural Networks 107, 2018.
Var silu(const Var& x);

/// Which of the two forms of GELU.
enum class Gelu : std::uint8_t { exact, tanh };
/// x Phi(x), Phi the standard normal distribution function; or its approximation
/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). The slope of the latter is NaN where x^2
/// overflows: for |x| above 1.8e19 (float32) or 1.3e154 (float64).
/// Source: Hendrycks, Gimpel, "Gaussian Error Linear Units (GELUs)", arXiv:1606.08415.
Var gelu(const Var& x, Gelu form = Gelu::exact);

}  // namespace microtape
