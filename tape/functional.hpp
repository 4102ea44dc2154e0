#pragma once

#include <span>
#include <vector>

#include <microtape/tape/function_ref.hpp>
#include <microtape/tape/var.hpp>

// Derivatives of functions: each puts f on a tape of its own and sweeps it. f is composed from ops,
// and may be called more than once.

namespace microtape {

/// y = f(x) of several inputs, given for the length of a call.
using Function = FunctionRef<Var(std::span<const Var> x)>;

/// A value, and how it changes along a direction.
struct Tangent {
  Tensor value;    ///< f(x)
  Tensor tangent;  ///< of the value's shape
};

/// y = f(x) and J v, the derivative along v: forward mode by two reverse sweeps. J^T u is linear in
/// u, so its own pullback, applied to v, is J v.
/// @param x  the inputs
/// @param v  a direction for each, of its shape and dtype
/// @throws ValueError if there are not as many directions as inputs; ShapeError, DTypeError if one
///         does not fit
Tangent jvp(Function f, std::span<const Tensor> x, std::span<const Tensor> v);

/// H v of a scalar f: the derivative, along v, of its gradient.
/// @return  for each input, of its shape
/// @throws ShapeError if f(x) is not a scalar; otherwise as jvp
std::vector<Tensor> hessian_vector_product(
    Function f, std::span<const Tensor> x, std::span<const Tensor> v);

/// All derivatives of f(x) by x: one sweep for each element of the result.
/// @return  [f(x)'s axes.., x's axes..]
/// @throws ShapeError if that has more than eight axes
Tensor jacobian(FunctionRef<Var(const Var& x)> f, const Tensor& x);

/// All second derivatives of a scalar f: the Jacobian of its gradient.
/// @return  [x's axes.., x's axes..], symmetric
/// @throws ShapeError if f(x) is not a scalar, or the result has more than eight axes
Tensor hessian(FunctionRef<Var(const Var& x)> f, const Tensor& x);

}  // namespace microtape
