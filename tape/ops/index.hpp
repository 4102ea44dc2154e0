#pragma once

#include <microtape/tape/record.hpp>

// Choosing among numbers.

namespace microtape {

/// a where mask is not 0, b elsewhere; all three broadcast. What is not chosen gets adjoint exactly
/// 0, even if it is NaN or infinite.
/// @param mask  int64, 0 or 1; carries no adjoint
/// @throws ShapeError if the shapes do not broadcast; DTypeError unless the mask is int64, and a
/// and
///         b share a dtype
Var where(const Var& mask, const Var& a, const Var& b);
Var where(const Var& mask, const Var& a, double b);
Var where(const Var& mask, double a, const Var& b);

}  // namespace microtape
