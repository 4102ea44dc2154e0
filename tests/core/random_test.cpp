#include <cmath>
#include <set>

#include <microtape/core/random.hpp>

#include "catch.hpp"

using namespace microtape;

namespace {

using Words = std::array<std::uint32_t, 4>;

/// x - Phi^-1(p), by one Newton step with erfc in long double: the error of normal_quantile.
long double quantile_error(double p, double x) {
  const long double sqrt2 = std::sqrt(2.0L);
  const long double density = std::exp(-0.5L * x * x) / std::sqrt(2 * 3.14159265358979323846264L);
  // Take the tail that is not near 1, so that nothing cancels.
  const long double difference =
      p < 0.5 ? std::erfc(-x / sqrt2) / 2 - p : (1.0L - p) - std::erfc(x / sqrt2) / 2;
  return difference / density;
}

struct Moments {
  double mean, variance, skewness, kurtosis;
};

template <class F>
Moments moments(F number, std::size_t n) {
  long double s1 = 0, s2 = 0, s3 = 0, s4 = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const long double x = number(i);
    s1 += x;
    s2 += x * x;
    s3 += x * x * x;
    s4 += x * x * x * x;
  }
  const long double count = static_cast<long double>(n);
  return {static_cast<double>(s1 / count), static_cast<double>(s2 / count),
      static_cast<double>(s3 / count), static_cast<double>(s4 / count)};
}

}  // namespace

TEST_CASE("philox gives the known answers of Random123") {
  // Expected: the three lines "philox4x32 10" of kat_vectors, which comes with Random123.
  CHECK(philox(0, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox(~0ull, ~0ull, ~0ull) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random numbers have the same bits on every platform") {
  // Expected: the same definitions written down once more in Python, with integers of any length
  // and IEEE doubles.
  CHECK(random_uniform(0, 0) == 0x1.989fa35785a70p-2);
  CHECK(random_uniform(1, 0) == 0x1.c7d00ce1ca141p-1);
  CHECK(random_uniform(1, 1) == 0x1.58102837bf8b9p-1);
  CHECK(random_uniform(42, 7) == 0x1.6ef60ec5a1e12p-2);
  CHECK(random_uniform(~0ull, 1ull << 63) == 0x1.a8010f4cce204p-1);
  CHECK(random_normal(0, 0) == 0x1.56983edcd5b9bp-5);
  CHECK(random_normal(1, 0) == -0x1.eb6cf75e0408dp+0);
  CHECK(random_normal(1, 1) == -0x1.775ab3eb57237p-1);
  CHECK(random_normal(42, 7) == -0x1.0e62116112c76p-1);
  CHECK(random_normal(~0ull, 1ull << 63) == 0x1.8d4a97923b99cp+0);
  CHECK(random_normal(2026, 123456789) == -0x1.bd23bb225becep-3);
  CHECK(random_normal(7, 58524) == 0x1.2a6ad2a6b5881p+2);
  CHECK(normal_quantile(0x1p-53) == -0x1.06b48528cea51p+3);
  CHECK(normal_quantile(1e-12) == -0x1.c234fba57a32ap+2);
  CHECK(normal_quantile(0.075) == -0x1.7085226d3e523p+0);
  CHECK(split_seed(0, 0) == 0x661d677b6826759);
  CHECK(split_seed(42, 7) == 0x544d06b6fb065269);
  CHECK(split_seed(2026, 123456789) == 0xf3c83942783d5154);
}

TEST_CASE("the normal quantile is right to a few units in the last place") {
  const auto check = [](double p) {
    const double x = normal_quantile(p);
    // 6 units in the last place; near p = 1/2 the rounding of p itself is the unit.
    const double tolerance = 6 * 0x1p-53 * std::max(std::abs(x), 0.25);
    INFO("p = " << p << ", x = " << x);
    REQUIRE(std::abs(static_cast<double>(quantile_error(p, x))) <= tolerance);
  };
  for (int i = 1; i < 4000; ++i) check(i / 4000.0);
  // Both tails, down to the smallest numbers that random_normal uses.
  for (double p = 0.1; p > 0x1p-53; p *= 0.97) {
    check(p);
    check(1 - p);
  }
  // On both sides of where one quotient takes over from the next.
  for (const double edge : {0.075, 0.925, 1.3887943864964021e-11})
    for (const double p : {std::nextafter(edge, 0), edge, std::nextafter(edge, 1)}) check(p);
}

TEST_CASE("the normal quantile is odd about 1/2 and reaches 8.2") {
  CHECK(normal_quantile(0.5) == 0);
  for (const double p : {0x1p-53, 0x1p-20, 0.0625, 0.25, 0.4375})
    CHECK(normal_quantile(1 - p) == -normal_quantile(p));
  // Expected: Phi(-8.2095361516013862) = 2^-53, from the tail's Newton step in 60 digits.
  CHECK(normal_quantile(0x1p-53) == Approx(-8.2095361516013862).epsilon(1e-15));
  // Expected: the 97.5 % point, from any table.
  CHECK(normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-15));
}

TEST_CASE("a million normal numbers have the moments of the normal distribution") {
  const std::size_t n = 1'000'000;
  const Moments m = moments([](std::size_t i) { return random_normal(3, i); }, n);
  // The variances of x, x^2, x^3 and x^4 are 1, 2, 15 and 96; four standard deviations of a mean.
  const double sigma4 = 4 / std::sqrt(static_cast<double>(n));
  CHECK(std::abs(m.mean) < sigma4);
  CHECK(std::abs(m.variance - 1) < sigma4 * std::sqrt(2.0));
  CHECK(std::abs(m.skewness) < sigma4 * std::sqrt(15.0));
  CHECK(std::abs(m.kurtosis - 3) < sigma4 * std::sqrt(96.0));
}

TEST_CASE("neighbouring numbers, seeds and uses are uncorrelated") {
  const std::size_t n = 200'000;
  const double sigma4 = 4 / std::sqrt(static_cast<double>(n));
  double next = 0, other_seed = 0, other_use = 0, split = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = random_normal(5, i);
    next += x * random_normal(5, i + 1);
    other_seed += x * random_normal(6, i);
    other_use += x * (random_uniform(5, i) - 0.5) * std::sqrt(12.0);
    split += x * random_normal(split_seed(5, i), 0);
  }
  for (const double sum : {next, other_seed, other_use, split})
    CHECK(std::abs(sum / static_cast<double>(n)) < sigma4);
}

TEST_CASE("uniform numbers fill the unit interval evenly, in steps of 2^-53") {
  const std::size_t n = 1'000'000;
  std::array<double, 64> counts{};
  bool is_on_grid = true, uses_last_bit = false;
  for (std::size_t i = 0; i < n; ++i) {
    const double u = random_uniform(9, i);
    is_on_grid =
        is_on_grid && u >= 0 && u < 1 && std::ldexp(u, 53) == std::floor(std::ldexp(u, 53));
    uses_last_bit = uses_last_bit || std::fmod(std::ldexp(u, 53), 2.0) == 1;
    ++counts[static_cast<std::size_t>(u * 64)];
  }
  CHECK(is_on_grid);
  CHECK(uses_last_bit);
  // Chi-squared with 63 degrees of freedom: mean 63, variance 126.
  const double expected = static_cast<double>(n) / 64;
  double chi_squared = 0;
  for (const double count : counts)
    chi_squared += (count - expected) * (count - expected) / expected;
  CHECK(std::abs(chi_squared - 63) < 4 * std::sqrt(126.0));
}

TEST_CASE("split seeds are all different") {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (std::uint64_t n = 0; n < 100; ++n) seeds.insert(split_seed(seed, n));
  CHECK(seeds.size() == 10'000);
}
