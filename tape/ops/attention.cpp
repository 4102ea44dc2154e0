// Ops of normalize.hpp that attention is made of.

#include <cmath>

#include <microtape/core/format.hpp>
#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/tape/ops/arithmetic.hpp>
#include <microtape/tape/ops/index.hpp>
#include <microtape/tape/ops/linalg.hpp>
#include <microtape/tape/ops/normalize.hpp>

namespace microtape {

Var dropout(const Var& x, double p, std::uint64_t seed) {
  in_scope_of(x, [&] {
    if (!(p >= 0 && p <= 1))  // a NaN is not in the range either
      throw ValueError(cat("dropout: p is no probability: ", p, "; needs 0 <= p <= 1"));
    if (!is_floating(x.dtype()))
      throw DTypeError(cat("dropout: whole numbers do not scale: x ", x.dtype(), " ", x.shape(),
          "; needs float32 or float64"));
  });
  // 1 where a uniform number reaches p, scaled up so that the mean of Z is 1.
  const Tensor u = Tensor::uniform(x.shape(), 0, 1, seed, float64);
  const Tensor kept = kernels::sub(1, kernels::step(kernels::sub(p, u)));
  const Tensor z = kernels::scale(kept, p < 1 ? 1 / (1 - p) : 0).to(x.dtype());
  return mul(x.tape() ? x.tape()->constant(z, "Z") : Var(z), x);
}

namespace {

/// M: the mask, -1e9 above the diagonal, or their sum; nothing if there is neither.
Var scores_mask(const Var& q, const Var& k, const AttentionOptions& options) {
  if (!options.causal || q.rank() < 2 || k.rank() < 2) return options.mask;
  const Index n = q.shape()[-2];
  if (k.shape()[-2] != n)
    throw ShapeError(
        cat("scaled_dot_product_attention: causal attention needs as many queries as keys: q ",
            q.shape(), ", k ", k.shape(), "; Tq is ", n, ", Tk is ", k.shape()[-2]));
  const Tensor future = triu(Tensor::full({n, n}, -1e9, q.dtype()), 1).value();
  if (options.mask.defined()) return (options.mask + Var(future)).named("M");
  return q.tape() ? q.tape()->constant(future, "M") : Var(future);
}

}  // namespace

Var scaled_dot_product_attention(
    const Var& q, const Var& k, const Var& v, const AttentionOptions& options) {
  const Index d = q.rank() > 0 ? q.shape()[-1] : 1;
  const Scale by_width{1 / std::sqrt(static_cast<double>(d)), R"(\frac{1}{\sqrt{d}})"};
  const Var mask = in_scope_of(q, [&] { return scores_mask(q, k, options); });
  const Var s = matmul_nt(q, k, by_width).named("S");   // [.., Tq, d] [.., Tk, d]^T -> [.., Tq, Tk]
  const Var p = softmax(s, {.mask = mask}).named("P");  // [.., Tq, Tk]
  return matmul(p, v).named("C");                       // [.., Tq, e]
}

}  // namespace microtape
