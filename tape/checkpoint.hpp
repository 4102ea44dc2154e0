#pragma once

#include <optional>
#include <span>
#include <vector>

#include <microtape/tape/functional.hpp>
#include <microtape/tape/record.hpp>

namespace microtape {

/// What checkpoint() remembers of y = f(x) in place of its nodes.
class Recomputation {
 public:
  /// Computes y once, on a tape of its own, and sees which parameters f watches there.
  Recomputation(Function f, std::span<const Var> x);

  /// y; only once, so that a rule that copies this does not keep it.
  Tensor take_value() { return std::move(y_); }
  /// Puts y on the tape of x, as one node whose inputs are x and the parameters.
  Var record(Tensor y, const RuleRef& rule) const;
  /// The joint rule: computes f again, and sweeps it from g.
  std::vector<Part> pull(Function f, const Var& g) const;

 private:
  std::vector<Var> place_sources(MicroTape& scratch) const;
  std::optional<Scope> open_scope(MicroTape& scratch) const;
  void check_second(const MicroTape& tape, const Var& y, const Var& g) const;

  MicroTape* tape_ = nullptr;          // of x; null if x is plain
  std::vector<Var> sources_;           // on that tape: x, then the parameters
  std::vector<Parameter> parameters_;  // the last of the sources
  std::vector<bool> is_reached_;       // [source]: y depends on it
  std::vector<std::uint64_t> draws_;   // see MicroTape::next_draw()
  Stopwatch watch_{nullptr};           // of the first computation
  Tensor y_;
};

/// y = f(x), of which the tape keeps one node: f is computed a second time in the backward pass.
/// This trades time for memory. The gradients, those of the parameters that f watches too, are
/// those of f itself, to the bit.
///
///     x = checkpoint([&block](std::span<const Var> in) { return block(in[0]); }, {x});
///
/// @param f  Var(std::span<const Var>), composed from ops and layers. It is copied to the tape, and
///           runs again after this call has returned: what it captures by reference, such as a
///           layer, must still be there. Dropout drops the same elements both times.
/// @param x  its arguments, one or more
/// @return   of the shape of f's result
/// @throws ValueError without arguments; TapeError if they stand on two tapes, or on one that f
///         clears, or f captured a Var instead of taking it as an argument; in the backward pass,
///         if f computes something of another shape, dtype, parameters or draws than before (other
///         numbers go unnoticed), or if that pass is recorded (Record::yes): second derivatives
///         need f itself
///
/// Source: Griewank and Walther, "Algorithm 799: revolve: an implementation of checkpointing for
/// the reverse or adjoint mode of computational differentiation", ACM TOMS 26, 2000.
template <class F>
Var checkpoint(F f, const std::vector<Var>& x) {
  Recomputation first(f, x);
  Tensor y = first.take_value();
  return first.record(
      std::move(y), [f = std::move(f), first](const Var& g) mutable { return first.pull(f, g); });
}

}  // namespace microtape
