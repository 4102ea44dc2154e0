#include <microtape/layers/layer_norm.hpp>

#include <microtape/core/format.hpp>

namespace microtape {
namespace {

Tensor ones(Index width, double eps, DType dtype) {
  if (width < 1 || !(eps > 0))
    throw ValueError(cat("LayerNorm: no such layer: width ", width, ", eps ", eps,
        "; needs width >= 1 and eps > 0"));
  return Tensor::full({width}, 1, dtype);
}

}  // namespace

LayerNorm::LayerNorm(Index width, const LayerOptions& options, double eps)
    : Layer(options, "layer_norm"),
      gain_("weight", ones(width, eps, options.dtype), "gain"),
      bias_("bias", Tensor::zeros({width}, options.dtype), "bias"),
      eps_(eps) {}

Var LayerNorm::operator()(const Var& x) {
  const auto scope = enter(x);
  const Var gain = watch(x, gain_);
  const Var bias = watch(x, bias_);
  return layer_norm(x, gain, bias, eps_);
}

}  // namespace microtape
