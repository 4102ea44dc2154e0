#pragma once

#include <span>
#include <string>
#include <vector>

#include <microtape/tape/diagnose_evidence.hpp>
#include <microtape/tape/function_ref.hpp>

// The function in question and the right one, on the same inputs. Internal.

namespace microtape::diagnosis {

using Function = FunctionRef<Var(std::span<const Var>)>;

/// One function of some inputs, on a tape of its own.
class Run {
 public:
  Run(Function f, const std::vector<Tensor>& inputs);

  const MicroTape& tape() const { return tape_; }
  const std::vector<Var>& leaves() const { return leaves_; }
  const Var& y() const { return y_; }

  /// Of each input, for the adjoint g of y. One that did not arrive is not defined; that of an op
  /// may have any shape.
  std::vector<Var> adjoints(const Tensor& g);
  /// As the op that computed y calls its operands; x0, x1 .. if it does not take each as it is.
  std::vector<std::string> names() const;

 private:
  bool is_one_op() const;
  std::vector<Var> adjoints_of_any_shape(const Tensor& g);

  MicroTape tape_;
  std::vector<Var> leaves_;
  Var y_;
};

/// Two functions of the same inputs.
class Sample {
 public:
  /// @param names  of the inputs; empty: as the right op calls them
  /// @param seed   of the adjoint of y
  Sample(Function written, Function right, const std::vector<Tensor>& inputs,
      const std::vector<std::string>& names, std::uint64_t seed);

  const std::vector<std::string>& names() const { return names_; }
  /// Whether input k is one to differentiate by.
  bool has_adjoint(std::size_t k) const { return right_.leaves()[k].dtype() != int64; }

  /// The two values.
  Evidence value() const;
  /// The two adjoints of input k.
  Evidence adjoint(std::size_t k) const;
  /// The same, with all that helps to find the mistake.
  Evidence evidence(std::size_t k);

 private:
  Run written_, right_;
  std::vector<std::string> names_;
  Tensor g_;
  std::vector<Var> found_, adjoints_;  // [input]
  Recorded recorded_;
};

}  // namespace microtape::diagnosis
