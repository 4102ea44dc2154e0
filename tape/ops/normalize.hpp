#pragma once

#include <microtape/tape/record.hpp>

namespace microtape {

/// Options of softmax.
struct SoftmaxOptions {
  Index axis = -1;
  Var mask = {};  ///< added to x first, broadcast: 0 allows, a large negative number suppresses
};

/// Softmax over an axis: e^x over the sum of e^x, shifted by the maximum, so that no finite x
/// overflows. x [.., n, ..] -> same shape; every slice sums to 1.
/// @throws IndexError if there is no such axis; ShapeError, DTypeError if the mask does not fit;
///         ValueError if every entry of a slice is -inf, or one is +inf
Var softmax(const Var& x, const SoftmaxOptions& options = {});

/// ln softmax(x) = x - logsumexp(x), shifted by the maximum, so that no finite x overflows.
/// x [.., n, ..] -> same shape.
/// @throws IndexError if there is no such axis; ValueError as softmax
Var log_softmax(const Var& x, Index axis = -1);

}  // namespace microtape
