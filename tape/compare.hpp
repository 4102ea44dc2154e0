#pragma once

#include <span>
#include <string>

#include <microtape/core/tensor.hpp>

namespace microtape {

/// How two Tensors of one shape differ.
struct Comparison {
  std::string name;      ///< as given to compare()
  Shape shape;           ///< of both
  double max_abs = 0;    ///< the largest |a - b|
  double max_rel = 0;    ///< the largest |a - b| / (|b| + s)
  double ulps = 0;       ///< the largest distance in steps of the coarser of the two dtypes
  Indices worst;         ///< where max_rel stands
  double actual = 0;     ///< a there
  double expected = 0;   ///< b there
  double tolerance = 0;  ///< what max_rel may be
  bool agrees = true;    ///< whether max_rel is within the tolerance
};

/// Compares a with the expected b: they agree if |a - b| <= rtol * (|b| + s) everywhere, s the
/// largest finite |b|. (A gradient that is exactly 0 in theory is rounding in practice; s makes
/// that "zero to rounding".) Equal infinities agree; a NaN agrees only with a NaN.
/// @throws ShapeError if the shapes differ
Comparison compare(std::string_view name, const Tensor& a, const Tensor& b, double rtol);

/// A table of comparisons, 80 columns: name, shape, max abs, max rel, worst index, verdict.
std::string table(std::span<const Comparison> comparisons);

}  // namespace microtape
