#include <microtape/tape/compare.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape {
namespace {

/// A number's place among all floats of its type, so that neighbours are 1 apart.
std::int64_t ordinal(double value, DType dtype) {
  if (dtype == float32) {
    const auto bits = std::bit_cast<std::int32_t>(static_cast<float>(value));
    return bits < 0 ? -std::int64_t{bits & 0x7fffffff} : bits;
  }
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits < 0 ? -(bits & 0x7fffffffffffffff) : bits;
}

/// How many floats apart. The difference is taken of integers: a double has too few digits for it.
double ulps_between(double a, double b, DType dtype) {
  const std::int64_t i = ordinal(a, dtype), j = ordinal(b, dtype);
  return static_cast<double>(
      static_cast<std::uint64_t>(std::max(i, j)) - static_cast<std::uint64_t>(std::min(i, j)));
}

/// |a - b|; infinite where NaN meets a number, or infinities differ: as wrong as can be.
double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double difference = std::abs(a - b);
  return std::isnan(difference) ? INFINITY : difference;
}

/// error / (|expected| + s), computed from halves, so that it cannot overflow.
double relative(double error, double expected, double s) {
  if (error == 0) return 0;
  const double scale = std::abs(expected) / 2 + s / 2;
  return std::isfinite(error) && scale > 0 ? error / 2 / scale : INFINITY;
}

double largest_finite(std::span<const double> numbers) {
  double largest = 0;
  for (const double x : numbers)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  return largest;
}

}  // namespace

Comparison compare(std::string_view name, const Tensor& a, const Tensor& b, double rtol) {
  if (a.shape() != b.shape())
    throw ShapeError(cat("compare: shapes differ: ", name, " ", a.shape(), ", expected ", b.shape(),
        "; they must be equal"));
  const DType coarser = a.dtype() == float32 || b.dtype() == float32 ? float32 : float64;
  const Tensor actual = a.to(float64).contiguous(), expected = b.to(float64).contiguous();
  const std::span<const double> x = actual.data<double>(), y = expected.data<double>();
  const double s = largest_finite(y);

  Comparison out;
  out.name = name;
  out.shape = a.shape();
  out.tolerance = rtol;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = distance(x[i], y[i]);
    const double ratio = relative(error, y[i], s);
    const double ulps = error == 0             ? 0
                        : std::isfinite(error) ? ulps_between(x[i], y[i], coarser)
                                               : INFINITY;
    out.max_abs = std::max(out.max_abs, error);
    out.ulps = std::max(out.ulps, ulps);
    if (i > 0 && ratio <= out.max_rel) continue;
    out.max_rel = ratio;
    out.actual = x[i];
    out.expected = y[i];
    out.worst = unravel_index(static_cast<Index>(i), out.shape);
  }
  out.agrees = out.max_rel <= rtol;
  return out;
}

std::string table(std::span<const Comparison> comparisons) {
  const auto padded = [](std::string text, std::size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    return text;
  };
  const auto line = [&](const std::string& name, const std::string& shape, const std::string& abs,
                        const std::string& rel, const std::string& worst,
                        const std::string& verdict) {
    return cat(padded(name, 22), " ", padded(shape, 15), " ", padded(abs, 8), " ", padded(rel, 8),
        " ", padded(worst, 13), " ", verdict, "\n");
  };
  std::string out = line("name", "shape", "max abs", "max rel", "worst at", "verdict");
  for (const Comparison& c : comparisons)
    out += line(c.name, c.shape.str(), number(c.max_abs, 2), number(c.max_rel, 2), cat(c.worst),
        c.agrees ? "agrees" : "WRONG");
  return out;
}

}  // namespace microtape
