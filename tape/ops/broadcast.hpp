#pragma once

#include <microtape/tape/ops/shape.hpp>

// How ops of two inputs bring them to one shape. Internal.

namespace microtape {

/// Checks all that can be wrong with two inputs before anything is recorded.
/// @return their common shape
/// @throws ShapeError, DTypeError, TapeError in the name of `op`
Shape check_pair(const char* op, const Var& a, const Var& b);

/// An op of two inputs.
using BinaryOp = Var (*)(const Var& a, const Var& b);

/// op(a, b) with both first passed through broadcast_to: a node of its own for each that repeats.
Var broadcast_pair(const char* name, BinaryOp op, const Var& a, const Var& b);

/// A number as a value beside x: of its shape and dtype, by stride 0.
Tensor full_like(const Var& x, double value);

/// Whether the shapes differ, so that broadcasting has to come first.
inline bool needs_broadcast(const Var& a, const Var& b) {
  return !a.value().has_shape_of(b.value());
}

}  // namespace microtape
