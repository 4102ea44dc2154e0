#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

// The functions of one number that cost the most, float and double, in one place. Internal:
// included by kernels only.
//
// Those of floats are polynomials without a branch or a call, so that loops over them become vector
// code; tests hold their errors over the floats. Source of the polynomials: S. L. Moshier, Cephes
// Math Library, release 2.2, 1992, single precision, exp and tanh.

namespace microtape::kernels::math {

/// 2^n, for n from -126 to 127, given modulo 2^9.
inline float power_of_2(std::uint32_t n) { return std::bit_cast<float>((n + 127) << 23); }

/// e^x as power * 2^n.
struct Exponential {
  float power;      ///< e^r, |r| <= ln 2 / 2
  std::uint32_t n;  ///< modulo 2^22
};

/// @param x  from -110 to 100, or NaN
inline Exponential split_exp(float x) {
  // n = round(x / ln 2), r = x - n ln 2. Adding 1.5 * 2^23 leaves n in the low bits.
  constexpr float kShift = 12582912.f, kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  const float shifted = x * kLog2E + kShift;
  const float rounded = shifted - kShift;
  const float r = (x - rounded * kLn2High) - rounded * kLn2Low;
  // e^r = 1 + r + r^2 p(r)
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return {p * (r * r) + r + 1, std::bit_cast<std::uint32_t>(shifted)};
}

/// e^x, within 1.1 ulp; 0 and inf beyond the range of floats.
inline float exp(float x) {
  const Exponential e = split_exp(x > 100 ? 100.f : x < -110 ? -110.f : x);  // a NaN stays
  // In two halves, since 2^n may lie beyond the normal floats where the result does not.
  const std::uint32_t half = e.n >> 1;
  return e.power * power_of_2(half) * power_of_2(e.n - half);
}
/// exp(x) to the bit, for x <= 0: there two steps fewer do.
inline float exp_not_above_0(float x) {
  const Exponential e = split_exp(x < -110 ? -110.f : x);
  // 2^n is below the normal floats where the result is: 2^(n + 64) is not.
  return e.power * power_of_2(e.n + 64) * 0x1p-64f;
}
inline double exp(double x) { return std::exp(x); }
inline double exp_not_above_0(double x) { return std::exp(x); }

/// tanh x, within 1.5 ulp.
inline float tanh(float x) {
  // Near 0 an odd polynomial keeps the digits that 1 - .. would lose.
  const float size = std::abs(x), z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = p * z * size + size;
  const float far = 1 - 2 / (exp(2 * size) + 1);
  return std::copysign(size < 0.625f ? near : far, x);
}
inline double tanh(double x) { return std::tanh(x); }

template <class T>
T erf(T x) {
  return std::erf(x);
}

/// 1 / (1 + e^-x). Only e^-|x| is taken, which cannot overflow, and for x < 0 it is the numerator
/// too, so that both tails keep all their digits.
template <class T>
T sigmoid(T x) {
  const T e = exp_not_above_0(-std::abs(x));
  return (x < 0 ? e : T{1}) / (1 + e);
}

/// Phi(x), the standard normal distribution function. erfc keeps the digits of the left tail, where
/// 1 + erf would cancel.
template <class T>
T normal_cdf(T x) {
  constexpr T kSqrtHalf = static_cast<T>(0.70710678118654752440);
  return std::erfc(-x * kSqrtHalf) / 2;
}

/// x * gate for a gate that falls to 0 faster than x to -inf: there the product is 0, not NaN.
template <class T>
T gated(T x, T gate) {
  return gate == 0 ? T{0} : x * gate;
}

}  // namespace microtape::kernels::math
