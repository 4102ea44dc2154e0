#include <microtape/tape/diagnose_evidence.hpp>

#include <algorithm>
#include <cmath>

#include <microtape/core/random.hpp>

namespace microtape::diagnosis {

double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double out = std::abs(a - b);
  return std::isnan(out) ? INFINITY : out;
}

Distance distance(const Array& a, const Array& b) {
  if (a.shape != b.shape) return {INFINITY, 0};
  Distance out;
  for (Index i = 0; i < a.size(); ++i) {
    const double error = difference(a[i], b[i]);
    if (error > out.value) out = {error, i};
  }
  return out;
}

double rounding_of(const Array& numbers) {
  constexpr double kTolerance = 1e-10;
  double largest = 1;
  for (const double value : numbers.values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return kTolerance * largest;
}

bool is_right(const Evidence& e) { return distance(e.found, e.right).value <= e.allowed; }

bool reproduces(const Array& numbers, const Evidence& e) {
  // What is left must be small beside the mistake too, or anything would do for a small mistake.
  constexpr double kExplained = 1e-3;
  const double left = distance(e.found, numbers).value;
  if (left > e.allowed) return false;
  return is_right(e) || left <= kExplained * distance(e.found, e.right).value;
}

Tensor cotangent(const Shape& shape, std::uint64_t seed) {
  Tensor out = Tensor::uniform(shape, 0.5, 1.5, seed, float64);
  const std::span<double> data = out.mutable_data<double>();
  for (std::size_t i = 0; i < data.size(); ++i)
    if (philox(seed, i, 1)[0] & 1) data[i] = -data[i];
  return out;
}

}  // namespace microtape::diagnosis
