// Ops of normalize.hpp around layer normalization.

#include <microtape/core/format.hpp>
#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/core/kernels/reduce.hpp>
#include <microtape/tape/ops/arithmetic.hpp>
#include <microtape/tape/ops/functions.hpp>
#include <microtape/tape/ops/normalize.hpp>
#include <microtape/tape/ops/reduce.hpp>

namespace microtape {
namespace {

Var row_mean(const Var& x) { return mean(x, -1, KeepAxes::yes); }

Tensor standardized(const Tensor& x, double eps) {
  const Index last = x.rank() - 1, n = x.extent(-1);
  const Tensor mean = kernels::div(kernels::sum(x, last), static_cast<double>(n));
  const Tensor deviation = kernels::sqrt(kernels::add(kernels::var(x, last, 0), eps));
  const Tensor centred = kernels::sub(x, mean.broadcast_to(x.shape()));
  return kernels::div(centred, deviation.broadcast_to(x.shape()));
}

}  // namespace

Var standardize(const Var& x, double eps) {
  return record(
      {"standardize",
          R"(\frac{@x - \operatorname{rowmean}_{@axis}(@x)}{\sqrt{\operatorname{rowmean}_{@axis}((@x - \operatorname{rowmean}_{@axis}(@x))^{2}) + @eps}})",
          {{"axis", -1.0}, {"eps", eps}}},
      [&] {
        if (x.rank() == 0 || x.shape()[-1] == 0)
          throw ShapeError(cat(
              "standardize: x has no rows of numbers: x ", x.shape(), "; needs [.., n], n >= 1"));
        if (!(eps > 0))
          throw ValueError(cat("standardize: eps is not positive: ", eps, "; needs eps > 0"));
        return standardized(x.value(), eps);
      },
      {
          // Three terms: what g asks for, less what would move the mean, less what would stretch.
          {"x", x,
              R"(\frac{@g - \operatorname{rowmean}_{@axis}(@g) - @y \odot \operatorname{rowmean}_{@axis}(@g \odot @y)}{\sqrt{\operatorname{rowmean}_{@axis}((@x - \operatorname{rowmean}_{@axis}(@x))^{2}) + @eps}})",
              [x, eps](const Var& g, const Var& y) {
                const Var deviation = sqrt(var(x, -1, KeepAxes::yes) + eps);
                const Var shift = row_mean(g);
                const Var stretch = y * row_mean(g * y);
                return (g - shift - stretch) / deviation;
              }},
      });
}

Var layer_norm(const Var& x, const Var& gain, const Var& bias, double eps) {
  in_scope_of(x, [&] {
    for (const auto& [name, v] : {std::pair{"gain", &gain}, {"bias", &bias}})
      if (x.rank() == 0 || v->shape() != Shape({x.shape()[-1]}))
        throw ShapeError(cat("layer_norm: ", name, " does not fit: ", name, " ", v->shape(), ", x ",
            x.shape(), "; it must be one number for each column of x"));
  });
  const Var n = standardize(x, eps);
  return n * gain + bias;
}

}  // namespace microtape
