// Random numbers that are equal to the last bit on every platform. Everything here is integer
// arithmetic, or + - * / and sqrt, which IEEE 754 rounds in one way only; log and cos of libm are
// not. A fused multiply-add would round differently: build this file with -ffp-contract=off.

#include <microtape/core/random.hpp>

#include <bit>
#include <cmath>

namespace microtape {
namespace {

/// Which use of a seed a number is for, so that no two uses see the same bits.
constexpr std::uint64_t kUniformStream = 0;
constexpr std::uint64_t kNormalStream = 1;
constexpr std::uint64_t kSplitStream = 2;

using Words = std::array<std::uint32_t, 4>;
using Coefficients = std::array<double, 8>;

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

/// The first two words as one number of 64 bits.
std::uint64_t first_64(const Words& words) { return std::uint64_t{words[0]} << 32 | words[1]; }

/// c[0] + c[1] x + .. + c[7] x^7
double polynomial(const Coefficients& c, double x) {
  double sum = c[7];
  for (std::size_t i = 7; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

/// ln(x) of a positive normal number, to a few units in the last place where x < 1/2.
double natural_log(double x) {
  // Split x = m 2^e with m in [1/sqrt(2), sqrt(2)).
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int e = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000);
  if (m >= 1.4142135623730951) {
    m /= 2;
    ++e;
  }
  // Sum ln(m) = 2 (s + s^3 / 3 + s^5 / 5 + ..) with |s| <= 0.172: twelve terms reach 2^-60.
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  double series = 0;
  for (int n = 23; n >= 1; n -= 2) series = series * square + 1.0 / n;
  return e * 0.69314718055994531 + 2 * s * series;
}

// Quotients of polynomials for normal_quantile: the middle, the tails, the far tails. Source:
// Michael Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied
// Statistics 37(3), 1988, pages 477-484 (PPND16).
constexpr Coefficients kMiddleTop{3.3871328727963666080e0, 1.3314166789178437745e2,
    1.9715909503065514427e3, 1.3731693765509461125e4, 4.5921953931549871457e4,
    6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr Coefficients kMiddleBottom{1, 4.2313330701600911252e1, 6.8718700749205790830e2,
    5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4,
    2.8729085735721942674e4, 5.2264952788528545610e3};
constexpr Coefficients kTailTop{1.42343711074968357734e0, 4.63033784615654529590e0,
    5.76949722146069140550e0, 3.64784832476320460504e0, 1.27045825245236838258e0,
    2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr Coefficients kTailBottom{1, 2.05319162663775882187e0, 1.67638483018380384940e0,
    6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
    5.47593808499534494600e-4, 1.05075007164441684324e-9};
constexpr Coefficients kFarTop{6.65790464350110377720e0, 5.46378491116411436990e0,
    1.78482653991729133580e0, 2.96560571828504891230e-1, 2.65321895265761230930e-2,
    1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr Coefficients kFarBottom{1, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
    1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
    1.42151175831644588870e-7, 2.04426310338993978564e-15};

}  // namespace

std::array<std::uint32_t, 4> philox(
    std::uint64_t seed, std::uint64_t counter, std::uint64_t stream) {
  Words c{low(counter), high(counter), low(stream), high(stream)};
  std::uint32_t key0 = low(seed), key1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    // Multiply two of the words; mix the high halves with the other two and with the key.
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * c[2];
    c = {high(product1) ^ c[1] ^ key0, low(product1), high(product0) ^ c[3] ^ key1, low(product0)};
    // Step the key by the golden ratio and by sqrt(3) - 1, in 32 bits.
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return c;
}

double random_uniform(std::uint64_t seed, std::uint64_t counter) {
  // The upper 53 of 64 bits: every multiple of 2^-53 below 1 is equally likely, and exact.
  const std::uint64_t bits = first_64(philox(seed, counter, kUniformStream)) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kMiddleTop, r) / polynomial(kMiddleBottom, r);
  }
  // In a tail the quantile grows like sqrt(-2 ln p); the quotients correct that.
  const double r = std::sqrt(-natural_log(q < 0 ? p : 1 - p));
  const double x = r <= 5 ? polynomial(kTailTop, r - 1.6) / polynomial(kTailBottom, r - 1.6)
                          : polynomial(kFarTop, r - 5) / polynomial(kFarBottom, r - 5);
  return q < 0 ? -x : x;
}

double random_normal(std::uint64_t seed, std::uint64_t counter) {
  // The upper 52 of 64 bits, k, make the odd multiple (2 k + 1) 2^-53: exact, never 0 or 1, and
  // symmetric about 1/2. The numbers reach to +-8.21.
  const std::uint64_t k = first_64(philox(seed, counter, kNormalStream)) >> 12;
  return normal_quantile(static_cast<double>(2 * k + 1) * 0x1p-53);
}

std::uint64_t split_seed(std::uint64_t seed, std::uint64_t n) {
  return first_64(philox(seed, n, kSplitStream));
}

}  // namespace microtape
