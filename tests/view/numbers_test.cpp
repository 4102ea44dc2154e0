#include <microtape/tape/view/numbers.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("the norm of numbers whose squares are not finite, or 0, is their norm") {
  // Bug: inf, and 0.
  CHECK(summary_of(f64({3e200, -4e200})).norm == Approx(5e200).epsilon(1e-15));
  CHECK(summary_of(f64({3e-200, 4e-200})).norm == Approx(5e-200).epsilon(1e-15));
  CHECK(summary_of(f64({-5e-324})).norm == 5e-324);
  CHECK(summary_of(f64({3, 4})).norm == 5);
  CHECK(summary_of(f64({0, 0})).norm == 0);
  CHECK(summary_of(f64({1e300, -kInfinity})).norm == kInfinity);
  CHECK(std::isnan(summary_of(f64({1, kNan})).norm));
  CHECK(std::isnan(summary_of(f64({kInfinity, kNan})).norm));
  CHECK(std::isnan(summary_of(f64({1e200, kNan})).norm));
  CHECK(summary_of(Tensor::zeros({0}, float64)).norm == 0);
}
