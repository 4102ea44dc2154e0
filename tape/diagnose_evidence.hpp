#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <microtape/tape/micro_tape.hpp>
#include <microtape/tape/view/evaluate.hpp>

// What diagnose() knows before it looks for a mistake. Internal.

namespace microtape::diagnosis {

/// What stands in formulas.
struct Operands {
  std::vector<Formula> names;  ///< of the leaves, y and g
  Environment values;          ///< of these, and of what is computed between the leaves and y
  Environment others;          ///< other numbers of the same shapes: what holds by chance fails
};

/// The adjoints of the leaves of a tape as formulas.
struct Recorded {
  /// [leaf]: a formula for each use of it, to be added up; empty if one cannot be told.
  std::vector<std::vector<Formula>> contributions;
  Operands operands;
};

/// Of y, computed from leaves that are called so.
/// @param g  the adjoint of y
Recorded recorded_adjoints(const MicroTape& tape, std::span<const Var> leaves,
    std::span<const std::string> names, const Var& y, const Tensor& g);

/// The contributions added up, as a formula of a shape; nothing if there are none.
std::optional<Formula> sum_of_contributions(
    std::span<const Formula> contributions, const Shape& shape);

/// One adjoint on one sample: what was found, what is right, and how that is computed.
struct Evidence {
  Array found;                         ///< of any shape
  Array right;                         ///< of the input's shape
  double allowed = 0;                  ///< by how much the two may differ
  bool is_reached = true;              ///< whether some rule gave the input an adjoint
  Array g;                             ///< the adjoint of y
  std::optional<Array> diagonal;       ///< dy[i] / dx[i], if x and y have one shape
  std::optional<Formula> formula;      ///< of what is right
  std::vector<Formula> contributions;  ///< which the formula adds up
  std::vector<std::pair<std::string, Formula>> siblings;  ///< the other inputs and their adjoints
  Operands operands;                                      ///< of all these formulas
};

/// |a - b|; infinite if one of the two is NaN, 0 if both are, or both are the same infinity.
double difference(double a, double b);

/// The largest difference, and where; infinite if they have two shapes.
struct Distance {
  double value = 0;
  Index place = 0;
};
Distance distance(const Array& a, const Array& b);

/// What may remain of rounding: 1e-10 of the largest number (at least 1).
double rounding_of(const Array& numbers);

/// Whether what was found is right.
bool is_right(const Evidence& evidence);

/// Whether the numbers are those that were found, and explain by how much these are wrong.
bool reproduces(const Array& numbers, const Evidence& evidence);

/// Numbers between 1/2 and 3/2 of either sign, all different: an adjoint under which no two errors
/// cancel. (Under a constant one a softmax's derivative is 0, right or wrong.)
Tensor cotangent(const Shape& shape, std::uint64_t seed);

}  // namespace microtape::diagnosis
