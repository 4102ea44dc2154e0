#pragma once

#include <string>
#include <vector>

#include <microtape/tape/function_ref.hpp>
#include <microtape/tape/var.hpp>

// What gradcheck() says of a mistake that it found. Internal.

namespace microtape {

/// An input whose adjoint and differences disagree.
struct GradcheckMistake {
  std::size_t input;
  Tensor adjoint;
  Tensor differences;
  double allowed;  ///< by how much the two may differ
};

/// At most two lines: what the numbers say of the mistake, and whether the formulas that f recorded
/// share it.
/// @param seed           the adjoint of f's result
/// @param own_quotients  the differences of each element of the result by the element of the input
///                       in its own place; not defined if the two have different shapes
std::vector<std::string> gradcheck_notes(FunctionRef<Var(std::span<const Var>)> f,
    std::span<const Tensor> inputs, std::span<const std::string> names, const Tensor& seed,
    const GradcheckMistake& mistake, const Tensor& own_quotients);

}  // namespace microtape
