#pragma once

#include <cmath>
#include <filesystem>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <microtape/core/error.hpp>
#include <microtape/core/io/safetensors.hpp>
#include <microtape/tape/backward.hpp>
#include <microtape/tape/compare.hpp>

#include "catch.hpp"

// What the tests of tape and layers share.

namespace microtape::testing {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The outcome of close(): true or false, and all of the comparison when Catch2 prints it.
struct Closeness {
  Comparison comparison;
  explicit operator bool() const { return comparison.agrees; }
  friend std::ostream& operator<<(std::ostream& out, const Closeness& c) {
    const Comparison& x = c.comparison;
    out << x.name << " " << x.shape.str() << ": " << x.actual << ", expected " << x.expected
        << " at [";
    for (std::size_t i = 0; i < x.worst.size(); ++i) out << (i ? ", " : "") << x.worst[i];
    return out << "], max rel " << x.max_rel << " > " << x.tolerance;
  }
};

/// Whether |actual - expected| <= rtol * (|expected| + the largest |expected|) everywhere.
inline Closeness close(
    const Tensor& actual, const Tensor& expected, double rtol, const std::string& name = "tensor") {
  return {compare(name, actual, expected, rtol)};
}
inline Closeness close(
    const Var& actual, const Tensor& expected, double rtol, const std::string& name = "var") {
  return close(actual.value(), expected, rtol, name);
}

/// Whether shape, dtype and every number are the same; NaN is NaN, and 0 is -0.
inline bool identical(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && compare("", a, b, 0).agrees;
}
inline bool identical(const Var& a, const Tensor& b) { return identical(a.value(), b); }

/// Whether x is the numbers as written: `is(y, {{1, 2}, {3, 4}})`, in x's dtype, to the bit.
inline bool is(const Var& x, const Nested& numbers) {
  return identical(x.value(), Tensor::of(numbers, x.dtype()));
}

/// first, first + step, .. in row-major order.
inline Tensor ramp(const Shape& shape, double first = 1, double step = 1, DType dtype = float64) {
  std::vector<double> numbers;
  for (Index i = 0; i < shape.size(); ++i) numbers.push_back(first + static_cast<double>(i) * step);
  return Tensor::of(shape, numbers, dtype);
}

/// float64 numbers as written.
inline Tensor f64(const Nested& numbers) { return Tensor::of(numbers, float64); }
/// int64 numbers as written.
inline Tensor i64(const Nested& numbers) { return Tensor::of(numbers, int64); }

/// A folder below tests/.
inline std::filesystem::path tests_folder(const std::string& name) {
  return std::filesystem::path(MICROTAPE_TESTS_DIR) / name;
}

/// The tensors of tests/reference/<name>.safetensors, written by PyTorch.
inline TensorMap reference(const std::string& name) {
  return read_safetensors(tests_folder("reference") / (name + ".safetensors")).tensors;
}

}  // namespace microtape::testing
