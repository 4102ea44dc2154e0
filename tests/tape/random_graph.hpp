#pragma once

#include <functional>
#include <string>
#include <vector>

#include <microtape/core/random.hpp>
#include <microtape/tape/ops.hpp>

namespace microtape::testing {

using Vars = std::span<const Var>;

/// A die whose throws are a function of its seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  /// 0 .. n - 1
  Index below(Index n) { return static_cast<Index>(real(0, 1) * static_cast<double>(n)); }
  /// In [low, high).
  double real(double low, double high) {
    return low + (high - low) * random_uniform(seed_, count_++);
  }
  bool coin() { return below(2) == 0; }
  Tensor tensor(const Shape& shape, double low = -1.5, double high = 1.5) {
    return Tensor::uniform(shape, low, high, split_seed(seed_, count_++), float64);
  }
  /// int64 numbers 0 .. n - 1.
  Tensor indices(const Shape& shape, Index n) {
    return tensor(shape, 0, static_cast<double>(n)).to(int64);
  }

 private:
  std::uint64_t seed_, count_ = 0;
};

/// What a step computes from its inputs, its arguments (axes, numbers) being fixed.
using Apply = std::function<Var(Vars)>;

/// A kind of step.
struct StepKind {
  std::size_t arity;
  Apply (*draw)(Dice& dice, Vars x);  ///< chooses the arguments for inputs such as x
  /// Whether it is smooth only where the numbers of its inputs are apart from each other and from
  /// -1, 0 and 1.
  bool has_kinks = false;
};

/// All kinds: every op is in at least one.
std::vector<StepKind> step_kinds();

/// A function of several Tensors, made of random steps; smooth at `inputs`.
struct RandomGraph {
  struct Step {
    Apply apply;
    std::vector<std::size_t> from;  ///< inputs first, then steps
  };
  std::vector<Tensor> inputs;  ///< float64
  std::vector<Step> steps;

  /// What no step uses, one behind the other. -> [n]
  Var operator()(Vars x) const;
};

/// The graph of a seed: two or three inputs of rank 0 .. 3 whose shapes broadcast, then 3 to 10
/// steps.
RandomGraph random_graph(std::uint64_t seed);

/// Where tests begin: 0, but MICROTAPE_TEST_SEED=1000 goes through other graphs.
std::uint64_t first_seed();

}  // namespace microtape::testing
