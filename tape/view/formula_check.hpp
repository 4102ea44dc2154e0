#pragma once

#include <optional>
#include <string>
#include <vector>

#include <microtape/tape/micro_tape.hpp>

namespace microtape {

/// A formula that does not say what its op or rule computes.
struct FormulaMismatch {
  NodeId node;           ///< which recorded it
  std::string op;        ///< the op of that node
  std::string input;     ///< "forward", or the input whose rule it is
  std::string formula;   ///< as recorded
  std::string printed;   ///< as text, with #12 for nodes; empty if it cannot be read
  std::string problem;   ///< why it has no value of the right shape; else empty
  Indices worst;         ///< where the two differ most
  double computed = 0;   ///< what the op or rule computed there
  double evaluated = 0;  ///< what the formula says

  /// One line.
  std::string str() const;
};

/// Evaluates the forward formula of every op node against its value, and the formula of every rule
/// against what the rule computes from a fixed adjoint that is not constant. An empty list means
/// that all agree. A checkpoint(), which has no formula, is passed over.
/// @param tape  does not grow
/// @param rtol  as in compare(); not given: 1e-10 for float64, 1e-4 for float32
/// @throws TapeError if the tape is Keep::needed: the numbers are not there
std::vector<FormulaMismatch> check_formulas(MicroTape& tape, std::optional<double> rtol = {});

}  // namespace microtape
