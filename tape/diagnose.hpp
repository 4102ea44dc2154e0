#pragma once

#include <span>
#include <string>
#include <vector>

#include <microtape/tape/function_ref.hpp>
#include <microtape/tape/var.hpp>

namespace microtape {

/// What diagnose() found about the rules of an op: the first input whose adjoint is wrong.
struct Diagnosis {
  bool right = true;       ///< every derivative agrees on every sample
  std::string input;       ///< the operand whose adjoint is wrong; empty if the value itself is
  std::size_t sample = 0;  ///< the first sample on which it is wrong
  std::string shapes;      ///< "dW has shape [2, 3], W has shape [3, 2]"; then no element is told
  Indices index;           ///< the worst element of it
  double adjoint = 0;      ///< what the rule gave there
  double expected = 0;     ///< what is right there
  std::string cause;       ///< the known mistake that gives exactly these numbers; empty: none does
  std::string look;        ///< the step to look at: "the sign of this term"; may be empty
  std::vector<std::string>
      broken;           ///< at most two: "each row of dx must sum to 0; row 0 sums to 1"
  std::string pattern;  ///< which elements are wrong: "all elements", "row 1", "the diagonal"

  /// At most six lines.
  std::string str() const;
};

/// Options of diagnose.
struct DiagnoseOptions {
  /// Of the inputs; empty: as the right op calls its operands if it takes all inputs as they are,
  /// else x0, x1 and so on.
  std::vector<std::string> names = {};
};

/// Compares the adjoints that the rules of `written` give with those of `right`, on every sample.
/// Where they differ, it looks for the mistake: a catalogue of mistakes (a wrong sign, a missing
/// term, a sum over the wrong axis ..) is made in the formulas that `right` recorded, and one is
/// named only if it gives the numbers of `written` on every sample. If two that differ both do, the
/// cause tells both.
///
/// Numbers agree if they differ by no more than 1e-10 of the largest derivative by the same input
/// (at least 1).
///
/// @param written  inputs -> y, the function in question
/// @param right    inputs -> y, computed by ops whose rules are right, and have formulas
/// @param samples  each a list of inputs, float64; int64 for those that carry no adjoint. Extents
///                 that are 1, or equal, make mistakes look alike: mix them with others
/// @throws ValueError if there are no samples, no inputs, or more names than inputs;
///         DTypeError if an input is float32;
///         ShapeError if the y of the two have different shapes; and what `written` and its rules
///         throw. (A rule that returns another shape is a diagnosis if `written` is one op.)
Diagnosis diagnose(FunctionRef<Var(std::span<const Var>)> written,
    FunctionRef<Var(std::span<const Var>)> right, std::span<const std::vector<Tensor>> samples,
    const DiagnoseOptions& options = {});
inline Diagnosis diagnose(FunctionRef<Var(std::span<const Var>)> written,
    FunctionRef<Var(std::span<const Var>)> right,
    std::initializer_list<std::vector<Tensor>> samples, const DiagnoseOptions& options = {}) {
  return diagnose(written, right,
      std::span<const std::vector<Tensor>>(samples.begin(), samples.size()), options);
}

}  // namespace microtape
