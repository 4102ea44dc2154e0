#include <algorithm>
#include <climits>
#include <cmath>

#include <microtape/core/format.hpp>
#include <microtape/core/kernels/attention.hpp>
#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/tape/ops/arithmetic.hpp>
#include <microtape/tape/ops/attention.hpp>
#include <microtape/tape/ops/index.hpp>
#include <microtape/tape/ops/linalg.hpp>
#include <microtape/tape/ops/normalize.hpp>
#include <microtape/tape/ops/reduce.hpp>

namespace microtape {

Tensor causal_mask(Index n, DType dtype) {
  return triu(Tensor::full({n, n}, -1e9, dtype), 1).value();
}

namespace {

/// The tape of the operands; null if they are plain.
/// @throws TapeError if they stand on two, or one on a tape that was cleared
MicroTape* tape_of(const Var& q, const Var& k, const Var& v, const Var& mask) {
  const Input operands[] = {{"q", q}, {"k", k}, {"v", v}, {"mask", mask}};
  return common_tape({"scaled_dot_product_attention", ""}, operands);
}

/// M: the mask, -1e9 above the diagonal, or their sum; nothing if there is neither.
Var scores_mask(const Var& q, const Var& k, const AttentionOptions& options) {
  if (!options.causal || q.rank() < 2 || k.rank() < 2) return options.mask;
  const Index n = q.shape()[-2];
  if (k.shape()[-2] != n)
    throw ShapeError(
        cat("scaled_dot_product_attention: causal attention needs as many queries as keys: q ",
            q.shape(), ", k ", k.shape(), "; Tq is ", n, ", Tk is ", k.shape()[-2]));
  const Tensor future = causal_mask(n, q.dtype());
  if (options.mask.defined()) return (options.mask + Var(future)).named("M");
  return q.tape() ? q.tape()->constant(future, "M") : Var(future);
}

}  // namespace

Var scaled_dot_product_attention(
    const Var& q, const Var& k, const Var& v, const AttentionOptions& options) {
  tape_of(q, k, v, options.mask);  // before a mask is put on it
  const Var mask = in_scope_of(q, [&] { return scores_mask(q, k, options); });
  return attend(q, k, v, mask).c;
}

// --- composed of ops -----------------------------------------------------------------------------

namespace {

/// 1 / sqrt(d), for rows of d numbers.
Scale by_width(const Var& q) {
  const Index d = q.rank() > 0 ? q.shape()[-1] : 1;
  return {1 / std::sqrt(static_cast<double>(d)), R"(\frac{1}{\sqrt{d}})"};
}

}  // namespace

Attended attend(
    const Var& q, const Var& k, const Var& v, const Var& mask, FunctionRef<Var(const Var&)> drop) {
  const Var s =
      matmul_nt(q, k, by_width(q)).named("S");          // [.., Tq, d] [.., Tk, d]^T -> [.., Tq, Tk]
  const Var p = softmax(s, {.mask = mask}).named("P");  // [.., Tq, Tk]
  return {matmul(drop(p), v).named("C"), p.value()};    // [.., Tq, e]
}

// --- fused ---------------------------------------------------------------------------------------

namespace {

/// Whether nobody looks at the tape, or there is none. On another S and P are nodes, and errors
/// name them.
bool hides_steps(const MicroTape* tape) {
  return !tape || (tape->keep() == Keep::needed && tape->check() == Check::nothing);
}

/// Whether the operands are what the kernel takes. What is wrong with others, the ops will say.
bool fits_kernel(const Tensor& q, const Tensor& k, const Tensor& v) {
  if (q.rank() < 2 || k.rank() != q.rank() || v.rank() != q.rank()) return false;
  const bool shapes_fit = k.shape() == q.shape().with(-2, k.extent(-2)) &&
                          v.shape() == k.shape().with(-1, v.extent(-1));
  const bool has_all = q.size() > 0 && k.size() > 0 && v.size() > 0;
  const bool suits_blas =
      std::max({q.extent(-2), q.extent(-1), k.extent(-2), v.extent(-1)}) <= INT_MAX;
  return shapes_fit && has_all && suits_blas && is_floating(q.dtype()) && k.dtype() == q.dtype() &&
         v.dtype() == q.dtype();
}

/// The kernel only adds the mask: if it is being learned, the ops have the rule.
bool fits_kernel(const Var& mask, const Tensor& q, const Tensor& k) {
  return !mask.defined() || (!mask.is_active() && mask.dtype() == q.dtype() &&
                                broadcasts_to(mask.shape(), q.shape().with(-1, k.extent(-2))));
}

/// dV, dQ and dK as Vars: the definition of what the kernel computes, for a recorded sweep.
std::vector<Part> pull_attention(
    const Var& g, const Var& q, const Var& k, const Var& v, const Var& mask) {
  const Scale c = by_width(q);
  const Var p = softmax(matmul_nt(q, k, c), {.mask = mask});
  const Var dv = matmul_tn(p, g);
  const Var dp = matmul_nt(g, v);
  const Var ds = p * (dp - sum(dp * p, -1, KeepAxes::yes));
  const Var dq = matmul(ds, k, c);
  const Var dk = matmul_tn(ds, q, c);
  return {{2, dv}, {0, dq}, {1, dk}};
}

/// One op for all three. Its rule has no formula: those of the three ops say what it computes, on a
/// tape that is looked at.
Attended fuse(const Var& q, const Var& k, const Var& v, const Var& mask) {
  const Scale c = by_width(q);
  Var p;  // record() computes it first, and then moves the rule, which saves it, to the tape
  const auto rule = [q, k, v, mask, c, saved = Saved(p)](const Var& g) -> std::vector<Part> {
    // g does not tell: a rule of the user's may have returned an adjoint that is on no tape.
    if (is_recording(q) || is_recording(k) || is_recording(v))
      return pull_attention(g, q, k, v, mask);
    const Var& weights = saved;
    const kernels::AttentionPullback d = kernels::attention_pullback(
        g.value(), q.value(), k.value(), v.value(), weights.value(), c.value);
    return {{2, Var(d.v)}, {0, Var(d.q)}, {1, Var(d.k)}};  // in the order of the ops
  };
  const auto compute = [&] {
    const kernels::Attention computed = kernels::attention(
        q.value(), k.value(), v.value(), mask.defined() ? &mask.value() : nullptr, c.value);
    p = computed.p;
    return computed.c;
  };
  const Var out = record({"attention", R"(\operatorname{attention}(@Q, @K, @V))"}, compute,
      {{"Q", q, "", rule}, {"K", k, "", rule}, {"V", v, "", rule}, {"M", mask}});
  return {out.named("C"), p.value()};
}

}  // namespace

Attended attend(const Var& q, const Var& k, const Var& v, const Var& mask) {
  if (hides_steps(tape_of(q, k, v, mask)) && fits_kernel(q.value(), k.value(), v.value()) &&
      fits_kernel(mask, q.value(), k.value()))
    return fuse(q, k, v, mask);
  return attend(q, k, v, mask, [](const Var& p) { return p; });
}

}  // namespace microtape
