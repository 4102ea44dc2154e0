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

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

Comparison compare(std::string_view name, const Tensor& a, const Tensor& b, double rtol) {
  if (a.shape() != b.shape())
    throw ShapeError(cat("compare: shapes differ: ", name, " ", a.shape(), ", expected ", b.shape(),
        "; they must be equal"));
  const DType coarser = a.dtype() == float32 || b.dtype() == float32 ? float32 : float64;
  const Tensor actual = a.to(float64).contiguous(), expected = b.to(float64).contiguous();
  const std::span<const double> x = actual.data<double>(), y = expected.data<double>();

  double s = 0;
  for (const double v : y)
    if (std::isfinite(v)) s = std::max(s, std::abs(v));

  Comparison out;
  out.name = name;
  out.shape = a.shape();
  out.tolerance = rtol;
  double worst = -1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool equal = same(x[i], y[i]);
    const double error = equal ? 0 : std::abs(x[i] - y[i]);
    const double scale = std::abs(y[i]) / 2 + s / 2;  // of halves, so that it cannot overflow
    // NaN against a number, or infinities that differ: as wrong as can be.
    const double relative = error == 0                          ? 0
                            : std::isfinite(error) && scale > 0 ? error / 2 / scale
                                                                : INFINITY;
    out.max_abs = std::max(out.max_abs, std::isnan(error) ? INFINITY : error);
    out.max_rel = std::max(out.max_rel, relative);
    const double ulps = std::isfinite(error) ? ulps_between(x[i], y[i], coarser) : INFINITY;
    out.ulps = std::max(out.ulps, equal ? 0 : ulps);
    if (relative <= worst) continue;
    worst = relative;
    out.actual = x[i];
    out.expected = y[i];
    Index rest = static_cast<Index>(i);
    out.worst = out.shape;
    for (std::size_t axis = out.worst.size(); axis-- > 0;) {
      out.worst[axis] = rest % out.shape.extents()[axis];
      rest /= out.shape.extents()[axis];
    }
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
