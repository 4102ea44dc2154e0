#include "catch.hpp"
#include "math_testing.hpp"

using namespace microtape::testing;

TEST_CASE("exp and tanh keep their bounds at every float there is") {
  CHECK(exp_error(1).ulp < 1.1);
  CHECK(tanh_error(1).ulp < 1.5);
}
