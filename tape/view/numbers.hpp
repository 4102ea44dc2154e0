#pragma once

#include <string>
#include <vector>

#include <microtape/core/tensor.hpp>

// Values in tables and pictures. Internal to tape/view.

namespace microtape {

/// Up to this many numbers of a Tensor are shown one by one.
inline constexpr Index kMostNumbers = 16;

/// What stands for many numbers. A NaN is passed over by min and max, and makes the norm NaN; of no
/// numbers min is inf, max -inf.
struct Summary {
  double min, max;
  double norm;  ///< Euclidean
};
Summary summary_of(const Tensor& tensor);

/// A value in lines: the numbers with four digits, one row of a matrix a line, as NumPy has them,
/// `[[1 2]`, ` [3 4]]`; of more than kMostNumbers `min -1.2, max 3, norm 4.5`.
/// @param width  that lines should not exceed; a longer row goes on in the next
/// @param most   so many numbers are shown one by one
std::vector<std::string> number_lines(
    const Tensor& tensor, std::size_t width, Index most = kMostNumbers);

}  // namespace microtape
