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

/// 2^n, for n from -126 to 127.
inline float power_of_2(std::int32_t n) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(n + 127) << 23);
}

/// e^x, within 1.1 ulp; 0 and inf beyond the range of floats.
inline float exp(float x) {
  // e^x = 2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2. Adding 1.5 * 2^23 leaves n in the
  // low bits.
  constexpr float kShift = 12582912.f, kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  const float bounded = x > 100 ? 100.f : x < -110 ? -110.f : x;  // a NaN stays
  const float shifted = bounded * kLog2E + kShift;
  const float rounded = shifted - kShift;
  const float r = (bounded - rounded * kLn2High) - rounded * kLn2Low;
  // e^r = 1 + r + r^2 p(r)
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const float power = p * (r * r) + r + 1;
  // In two halves, since 2^n may lie beyond the normal floats where the result does not.
  const std::int32_t n = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kShift);
  const std::int32_t half = n >> 1;
  return power * power_of_2(half) * power_of_2(n - half);
}
inline double exp(double x) { return std::exp(x); }

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
  const T e = exp(-std::abs(x));
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
