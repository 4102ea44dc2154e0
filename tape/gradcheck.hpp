#pragma once

#include <span>
#include <string>
#include <vector>

#include <microtape/tape/function_ref.hpp>
#include <microtape/tape/var.hpp>

namespace microtape {

/// One element in which a derivative and its difference quotient disagree.
struct GradcheckFailure {
  int order;          ///< 1: the derivative of f; 2: the derivative of its pullback
  std::string input;  ///< "x0", "x1", .. or the names given; "seed" for the cotangent
  Indices index;      ///< which element of it
  double adjoint;     ///< what the tape says
  double difference;  ///< what the difference quotient says
  double step;        ///< its step
  double allowed;     ///< by how much they may differ
};

/// What gradcheck found.
struct GradcheckReport {
  Index checked = 0;                       ///< elements compared
  Index wrong = 0;                         ///< elements that disagree
  std::vector<GradcheckFailure> failures;  ///< the worst of each order and input
  /// What the numbers say of the mistake at order 1, as diagnose() would: at most two lines, on the
  /// first input that is wrong.
  std::vector<std::string> notes;
  bool cut = false;  ///< right at order 1, wrong at order 2: some rule does not compute in Vars

  /// Whether nothing disagrees.
  bool passed() const { return wrong == 0; }
  /// One line if all is well; else a line for each failure, the notes, and a hint.
  std::string str() const;
};

/// Options of gradcheck.
struct GradcheckOptions {
  int order = 2;                        ///< 1: first derivatives; 2: also those of the pullback
  std::vector<std::string> names = {};  ///< of the inputs; empty: x0, x1, ..
};

/// Compares the derivatives of f with difference quotients, element by element. The result of f is
/// turned into one number by a fixed cotangent (seed) that is not constant; at order 2 the pullback
/// itself is differentiated, with respect to the inputs and the seed.
///
/// @param f       inputs -> a Var of any shape, computed by ops
/// @param inputs  float64, of any shapes
/// @throws DTypeError if an input is not float64; ValueError if order is neither 1 nor 2
GradcheckReport gradcheck(FunctionRef<Var(std::span<const Var>)> f, std::span<const Tensor> inputs,
    const GradcheckOptions& options = {});
inline GradcheckReport gradcheck(FunctionRef<Var(std::span<const Var>)> f,
    std::initializer_list<Tensor> inputs, const GradcheckOptions& options = {}) {
  return gradcheck(f, std::span<const Tensor>(inputs.begin(), inputs.size()), options);
}

}  // namespace microtape
