#pragma once

#include <microtape/tape/record.hpp>

namespace microtape {

/// Options of softmax.
struct SoftmaxOptions {
  Index axis = -1;  ///< whose slices sum to 1
  Var mask = {};    ///< added to x first, broadcast: 0 allows, a large negative number suppresses
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

/// (x - mean) / sqrt(variance + eps) over the last axis. x [.., n] -> same shape; every row has
/// mean 0 and, but for eps, variance 1.
/// @throws ShapeError if x is a scalar or n is 0; ValueError unless eps > 0
Var standardize(const Var& x, double eps = 1e-5);

/// Layer normalization: standardize(x) * gain + bias. x [.., n], gain [n], bias [n] -> x's shape
/// @throws as standardize; ShapeError if gain or bias is not [n]
/// Source: Ba, Kiros, Hinton, "Layer Normalization", arXiv:1607.06450, 2016, equation 4.
Var layer_norm(const Var& x, const Var& gain, const Var& bias, double eps = 1e-5);

/// x * Z, where each element of Z is 0 with probability p and 1 / (1 - p) otherwise, so that the
/// mean stays. Z is a function of (seed, position), a constant named "Z" on the tape: the backward
/// pass sees the same one.
/// @throws ValueError unless 0 <= p <= 1
Var dropout(const Var& x, double p, std::uint64_t seed);

/// Options of scaled_dot_product_attention.
struct AttentionOptions {
  Var mask = {};        ///< [.., Tq, Tk], added to the scores; none: nothing is added
  bool causal = false;  ///< whether -1e9 is added above the diagonal
};
/// softmax(Q K^T / sqrt(d) + M) V. On a Keep::everything tape it is three ops, whose results are
/// named S, P and C; on a Keep::needed tape it is one, named C, with the same bits (three if the
/// mask is learned).
/// @param q  [.., Tq, d]
/// @param k  [.., Tk, d]
/// @param v  [.., Tk, e]
/// @return   [.., Tq, e]
/// @throws as matmul and softmax; ShapeError if causal and Tq is not Tk; TapeError if the operands
///         stand on two tapes, or one on a tape that was cleared
Var scaled_dot_product_attention(
    const Var& q, const Var& k, const Var& v, const AttentionOptions& options = {});

}  // namespace microtape
