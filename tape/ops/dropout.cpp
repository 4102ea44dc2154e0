#include <microtape/core/format.hpp>
#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/tape/ops/arithmetic.hpp>
#include <microtape/tape/ops/normalize.hpp>
#include <microtape/tape/record.hpp>

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

}  // namespace microtape
