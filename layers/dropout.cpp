#include <microtape/layers/dropout.hpp>

#include <microtape/core/format.hpp>
#include <microtape/core/random.hpp>

namespace microtape {

Dropout::Dropout(double p, const LayerOptions& options)
    : Layer(options, "dropout"), p_(p), seed_(options.seed) {
  if (!(p >= 0 && p <= 1))  // a NaN is not in the range either
    throw ValueError(cat("Dropout: p is no probability: ", p, "; needs 0 <= p <= 1"));
}

Var Dropout::operator()(const Var& x) {
  in_scope_of(x, [&] {
    if (!is_floating(x.dtype()))
      throw DTypeError(cat("Dropout: whole numbers do not scale: x ", x.dtype(), " ", x.shape(),
          "; needs float32 or float64"));
  });
  if (!is_training() || p_ == 0) return x;
  const auto scope = enter(x);
  const std::uint64_t call = x.tape() ? x.tape()->next_draw(calls_) : calls_++;
  return dropout(x, p_, split_seed(seed_, call));
}

}  // namespace microtape
