#pragma once

#include <functional>
#include <string>
#include <vector>

#include <microtape/tape/ops.hpp>

namespace microtape::testing {

/// A function that uses an op, at a point where it is smooth.
struct OpRow {
  std::string name;  ///< "<op>: <what is special>"
  std::function<Var(std::span<const Var>)> f;
  std::vector<Tensor> inputs;  ///< float64

  std::string op() const { return name.substr(0, name.find(':')); }
};

/// At least two rows for each op, with unequal extents, broadcasting where the op broadcasts.
/// Whoever adds an op adds its rows; a test compares with the sources.
const std::vector<OpRow>& op_table();

/// The parts of it, a source file each.
std::vector<OpRow> arithmetic_rows();
std::vector<OpRow> function_rows();
std::vector<OpRow> linalg_rows();
std::vector<OpRow> reduce_rows();
std::vector<OpRow> shape_rows();
std::vector<OpRow> choice_rows();

/// @name Inputs
/// @{
/// Between -2 and 2.
inline Tensor mixed(const Shape& shape, std::uint64_t seed) {
  return Tensor::uniform(shape, -2, 2, seed, float64);
}
/// Between 0.5 and 2.
inline Tensor positive(const Shape& shape, std::uint64_t seed) {
  return Tensor::uniform(shape, 0.5, 2, seed, float64);
}
/// Shuffled odd multiples of 0.1: no two are near each other, none is near 0.
Tensor apart(const Shape& shape);
/// @}

}  // namespace microtape::testing
