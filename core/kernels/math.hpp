#pragma once

#include <cmath>

// The functions of one number that cost the most, float and double, in one place. Internal:
// included by kernels only.

namespace microtape::kernels::math {

template <class T>
T exp(T x) {
  return std::exp(x);
}

template <class T>
T tanh(T x) {
  return std::tanh(x);
}

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
