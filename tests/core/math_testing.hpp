#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include <microtape/core/kernels/math.hpp>

namespace microtape::testing {

/// The largest error of a function, in units in the last place of the right result.
struct WorstError {
  double ulp = 0;
  float at = 0;
};

/// Goes through the floats, `stride` bit patterns at a time, and holds f against g in double. Where
/// g rounds to an infinity f must be it too; NaN must give NaN.
template <class F, class G>
WorstError worst_error(F f, G g, std::uint64_t stride) {
  WorstError worst;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += stride) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const float y = f(x);
    const double exact = g(static_cast<double>(x));
    const float nearest = static_cast<float>(exact);
    if (y == nearest || (y != y && x != x)) continue;
    int exponent = 0;
    std::frexp(nearest, &exponent);
    const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
    const double error = std::isfinite(nearest) && std::isfinite(y)
                             ? std::abs(static_cast<double>(y) - exact) / ulp
                             : INFINITY;
    if (error > worst.ulp) worst = {error, x};
  }
  return worst;
}

inline WorstError exp_error(std::uint64_t stride) {
  return worst_error(
      [](float x) { return kernels::math::exp(x); }, [](double x) { return std::exp(x); }, stride);
}
inline WorstError tanh_error(std::uint64_t stride) {
  return worst_error([](float x) { return kernels::math::tanh(x); },
      [](double x) { return std::tanh(x); }, stride);
}

}  // namespace microtape::testing
