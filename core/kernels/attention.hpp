#pragma once

#include <microtape/core/tensor.hpp>

// Attention, head by head: what matmul_nt, softmax and matmul compute one after the other, with the
// same bits, but while the scores of a head are in cache, and without a Tensor for each step. All
// of P is kept, for the pullback: this is not FlashAttention. float32 or float64, no extent 0,
// equal batch axes; inputs may be strided. Internal: for the op, which checks all this.

namespace microtape::kernels {

/// C = P V, where P = softmax(scale Q K^T + M) over rows.
struct Attention {
  Tensor p;  ///< [.., Tq, Tk]
  Tensor c;  ///< [.., Tq, e]; its axes lie in memory in the order of q's
};

/// @param q     [.., Tq, d]
/// @param k     [.., Tk, d]
/// @param v     [.., Tk, e]
/// @param mask  null, or broadcastable to [.., Tq, Tk]
/// @param scale  not 0: BLAS would not read Q and K
/// @throws ValueError in the words of softmax if a row has only -inf, or holds +inf
Attention attention(
    const Tensor& q, const Tensor& k, const Tensor& v, const Tensor* mask, double scale);

/// The adjoints of Q, K and V; their axes lie in memory in the order of those of q, k and v.
struct AttentionPullback {
  Tensor q, k, v;
};

/// dV = P^T g, dP = g V^T, dS = P * (dP - rowsum(dP * P)), dQ = scale dS K, dK = scale dS^T Q.
/// @param g  [.., Tq, e], the adjoint of C
/// @param p  [.., Tq, Tk], contiguous, as attention() gives it
AttentionPullback attention_pullback(const Tensor& g, const Tensor& q, const Tensor& k,
    const Tensor& v, const Tensor& p, double scale);

}  // namespace microtape::kernels
