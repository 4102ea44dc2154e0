#include "math_testing.hpp"

#include <limits>

#include "catch.hpp"

using namespace microtape::testing;
namespace math = microtape::kernels::math;

// A stride that is coprime to the powers of two: all exponents, both signs, all last digits.
TEST_CASE("exp of floats is within 1.1 ulp from the denormal results to the infinite") {
  const WorstError worst = exp_error(1009);
  INFO("at " << worst.at);
  CHECK(worst.ulp < 1.1);
}

TEST_CASE("below 0 the shorter exp has the bits of exp") {
  for (std::uint64_t bits = 0x8000'0000; bits < (std::uint64_t{1} << 32); bits += 1009) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const float expected = math::exp(x), found = math::exp_not_above_0(x);
    if (std::bit_cast<std::uint32_t>(found) == std::bit_cast<std::uint32_t>(expected)) continue;
    if (!std::isnan(found) || !std::isnan(expected)) FAIL("at " << x << ": " << found);
  }
  CHECK(math::exp_not_above_0(0.f) == 1);
  CHECK(math::exp_not_above_0(-std::numeric_limits<float>::infinity()) == 0);
  CHECK(math::exp_not_above_0(-103.9f) > 0);
}

TEST_CASE("tanh of floats is within 1.5 ulp, also near 0 and at the infinities") {
  const WorstError worst = tanh_error(1009);
  INFO("at " << worst.at);
  CHECK(worst.ulp < 1.5);
}

TEST_CASE("exp and tanh of floats are exact where they have to be") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  CHECK(math::exp(0.f) == 1);
  CHECK(math::exp(-0.f) == 1);
  CHECK(math::exp(-inf) == 0);
  CHECK(math::exp(inf) == inf);
  CHECK(math::exp(88.72283f) < inf);   // e^x is 3.40279e38
  CHECK(math::exp(88.72284f) == inf);  // the largest float is 3.40282e38
  CHECK(math::exp(-103.9f) > 0);       // the smallest, 1.4e-45
  CHECK(std::isnan(math::exp(std::nanf(""))));
  CHECK(math::tanh(inf) == 1);
  CHECK(math::tanh(-inf) == -1);
  CHECK(std::signbit(math::tanh(-0.f)));
  CHECK(math::tanh(1e-30f) == 1e-30f);
  CHECK(std::isnan(math::tanh(std::nanf(""))));
}
