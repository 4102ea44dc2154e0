#pragma once

#include <microtape/tape/ops.hpp>

#include "testing.hpp"

namespace microtape::testing {

/// y = f(x), and the adjoint of x when that of y is given.
struct Pulled {
  Var y, dx;
};

/// @param seed  the adjoint of y; ones if it is not given
template <class F>
Pulled pull(F f, const Tensor& x, const Tensor& seed = {}) {
  MicroTape tape;
  const Var leaf = tape.leaf(x);
  const Var y = f(leaf);
  const Var dy = seed.defined() ? seed : Tensor::full(y.shape(), 1, y.dtype());
  return {y.value(), backward(y, dy)[leaf]};
}
/// The same for the name of a function, which C's math functions overload.
using Function = Var (*)(const Var&);
inline Pulled pull(Function f, const Tensor& x, const Tensor& seed = {}) {
  return pull([f](const Var& v) { return f(v); }, x, seed);
}

}  // namespace microtape::testing
