#pragma once

#include <array>
#include <cstdint>

namespace microtape {

/// Counter-based random bits: Philox4x32 with 10 rounds. The numbers are a function of (seed,
/// counter) alone: no state, any order, any thread, any platform.
/// @param stream  which of 2^64 independent sequences; this library uses 0, 1 and 2
///
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
std::array<std::uint32_t, 4> philox(
    std::uint64_t seed, std::uint64_t counter, std::uint64_t stream);

/// Number `counter` of the sequence `seed`, uniform in [0, 1): the upper 53 bits of stream 0 times
/// 2^-53.
double random_uniform(std::uint64_t seed, std::uint64_t counter);

/// Where the standard normal distribution function takes the value p: Phi(x) = p, to a few units in
/// the last place. 0 < p < 1; odd about p = 1/2.
double normal_quantile(double p);

/// Number `counter` of the sequence `seed`, standard normal: normal_quantile of the upper 52 bits k
/// of stream 1 as (2 k + 1) 2^-53. No libm, so equal bits on every platform; |x| < 8.3.
double random_normal(std::uint64_t seed, std::uint64_t counter);

/// A seed of its own for part n of what is seeded with `seed`: the weights of one layer of many.
std::uint64_t split_seed(std::uint64_t seed, std::uint64_t n);

}  // namespace microtape
