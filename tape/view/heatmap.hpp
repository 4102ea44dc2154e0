#pragma once

#include <span>
#include <string>

#include <microtape/core/tensor.hpp>

namespace microtape {

/// The number that the darkest shade stands for: 1, or the largest of the matrix.
enum class DarkestShade : std::uint8_t { one, largest };

/// A matrix of numbers from 0 up as a picture for the terminal: a square for each in one of five
/// shades, the words beside the rows and, written downwards, above the columns. Numbers below 0
/// look like 0, NaN like "??". At most 80 columns: words and columns that do not fit are cut, and a
/// line says so.
/// @param matrix   [m, n], such as the weights of one attention head
/// @param rows     m words; the queries
/// @param columns  n words; the keys
/// @throws ShapeError if the matrix is not one, or the words are not m and n
std::string heatmap(const Tensor& matrix, std::span<const std::string> rows,
    std::span<const std::string> columns, DarkestShade darkest = DarkestShade::one);

}  // namespace microtape
