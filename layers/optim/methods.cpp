// The methods: how Sgd, Adam and AdamW change one number.

#include <cmath>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/kernels/dispatch.hpp>
#include <microtape/layers/optim/optimizer.hpp>

namespace microtape {
namespace {

void require(std::string_view method, std::string_view option, double value, bool holds,
    std::string_view range) {
  if (!holds || !std::isfinite(value))
    throw ValueError(cat(method, ": ", option, " is out of range: ", value, "; needs ", range));
}

SgdOptions checked(const SgdOptions& o) {
  require("Sgd", "momentum", o.momentum, o.momentum >= 0, "0 or more");
  require("Sgd", "weight_decay", o.weight_decay, o.weight_decay >= 0, "0 or more");
  return o;
}

AdamOptions checked(const AdamOptions& o) {
  require("Adam", "beta1", o.beta1, o.beta1 >= 0 && o.beta1 < 1, "0 <= beta1 < 1");
  require("Adam", "beta2", o.beta2, o.beta2 >= 0 && o.beta2 < 1, "0 <= beta2 < 1");
  require("Adam", "eps", o.eps, o.eps >= 0, "0 or more");
  require("Adam", "weight_decay", o.weight_decay, o.weight_decay >= 0, "0 or more");
  return o;
}

}  // namespace

Sgd::Sgd(std::vector<Parameter> parameters, const SgdOptions& options)
    : Optimizer(std::move(parameters), options.learning_rate, 1), options_(checked(options)) {}

void Sgd::update(
    Tensor& value, const Tensor& gradient, double scale, std::span<Tensor> moments, Index) {
  kernels::with_floating_type(value.dtype(), [&]<class T>() {
    const std::span<T> x = value.mutable_data<T>(), v = moments[0].mutable_data<T>();
    const std::span<const T> g = gradient.data<T>();
    const auto factor = static_cast<T>(scale), decay = static_cast<T>(options_.weight_decay),
               momentum = static_cast<T>(options_.momentum), rate = static_cast<T>(learning_rate());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T d = factor * g[i] + decay * x[i];
      v[i] = momentum * v[i] + d;
      x[i] -= rate * v[i];
    }
  });
}

Adam::Adam(std::vector<Parameter> parameters, const AdamOptions& options)
    : Adam(std::move(parameters), options, Decay::in_gradient) {}

Adam::Adam(std::vector<Parameter> parameters, const AdamOptions& options, Decay decay)
    : Optimizer(std::move(parameters), options.learning_rate, 2),
      options_(checked(options)),
      decay_(decay) {}

void Adam::update(
    Tensor& value, const Tensor& gradient, double scale, std::span<Tensor> moments, Index step) {
  const auto n = static_cast<double>(step);
  // The moments start at 0; these factors undo what that does to them.
  const double unbias1 = 1 - std::pow(options_.beta1, n), unbias2 = 1 - std::pow(options_.beta2, n);
  const bool in_gradient = decay_ == Decay::in_gradient;
  kernels::with_floating_type(value.dtype(), [&]<class T>() {
    const std::span<T> x = value.mutable_data<T>(), m = moments[0].mutable_data<T>(),
                       v = moments[1].mutable_data<T>();
    const std::span<const T> g = gradient.data<T>();
    const auto factor = static_cast<T>(scale), b1 = static_cast<T>(options_.beta1),
               b2 = static_cast<T>(options_.beta2), eps = static_cast<T>(options_.eps);
    const auto decay = static_cast<T>(in_gradient ? options_.weight_decay : 0);
    const auto shrink =
        static_cast<T>(in_gradient ? 1 : 1 - learning_rate() * options_.weight_decay);
    const auto rate = static_cast<T>(learning_rate() / unbias1);
    const auto root = static_cast<T>(std::sqrt(unbias2));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] *= shrink;
      const T d = factor * g[i] + decay * x[i];
      m[i] = b1 * m[i] + (1 - b1) * d;
      v[i] = b2 * v[i] + (1 - b2) * d * d;
      x[i] -= rate * m[i] / (std::sqrt(v[i]) / root + eps);
    }
  });
}

}  // namespace microtape
