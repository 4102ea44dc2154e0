#pragma once

#include <microtape/tape/function_ref.hpp>
#include <microtape/tape/var.hpp>

// What attention computes, once the heads are apart. Internal: for the op and the layer.

namespace microtape {

/// 0 on and below the diagonal, -1e9 above, so that no query sees a later key: finite, since a row
/// of -inf has no softmax. -> [n, n]
Tensor causal_mask(Index n, DType dtype);

/// C, and the weights P before dropout.
struct Attended {
  Var c;     ///< [.., Tq, e]
  Tensor p;  ///< [.., Tq, Tk]
};

/// S = Q K^T / sqrt(d), P = softmax(S + M), C = drop(P) V: three ops, named S, P and C on the tape.
/// @throws as matmul and softmax
Attended attend(
    const Var& q, const Var& k, const Var& v, const Var& mask, FunctionRef<Var(const Var&)> drop);

/// The same without dropout. A Keep::needed tape, which nobody looks at, gets one op instead, with
/// one rule, so that the scores of a head stay in cache from the first step to the last; a plain
/// computation runs the same way. The bits are the same. It stays three ops if the tape is
/// Check::finite, if the mask is learned, or if the kernel does not take the operands, so that each
/// error comes from the op that it belongs to.
/// @throws TapeError if the operands stand on two tapes, or one on a tape that was cleared
Attended attend(const Var& q, const Var& k, const Var& v, const Var& mask);

}  // namespace microtape
