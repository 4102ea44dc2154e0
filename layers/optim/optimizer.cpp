#include <microtape/layers/optim/optimizer.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape {
namespace {

std::string moment_name(std::size_t parameter, std::size_t moment) {
  return cat("moment", moment, ".", parameter);
}

}  // namespace

Optimizer::Optimizer(std::vector<Parameter> parameters, double learning_rate, std::size_t moments)
    : parameters_(std::move(parameters)) {
  if (parameters_.empty())
    throw ValueError("Optimizer: no parameters: there is nothing to change; give at least one");
  set_learning_rate(learning_rate);
  for (const Parameter& p : parameters_)
    moments_.emplace_back(moments, Tensor::zeros(p.value().shape(), p.value().dtype()));
}

void Optimizer::set_learning_rate(double rate) {
  if (!std::isfinite(rate) || rate < 0)
    throw ValueError(
        cat("Optimizer: no such learning rate: ", rate, "; it must be finite and not negative"));
  learning_rate_ = rate;
}

void Optimizer::step(const Gradients& gradients, double scale) {
  ++steps_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!gradients.reached(parameters_[i])) continue;
    const Tensor gradient = gradients[parameters_[i]].value().contiguous();
    update(parameters_[i].mutable_value(), gradient, scale, moments_[i], steps_);
  }
}

TensorMap Optimizer::state_dict() const {
  TensorMap state;
  state["steps"] = Tensor::full({}, static_cast<double>(steps_), int64);
  for (std::size_t i = 0; i < moments_.size(); ++i)
    for (std::size_t k = 0; k < moments_[i].size(); ++k) state[moment_name(i, k)] = moments_[i][k];
  return state;
}

void Optimizer::load_state_dict(const TensorMap& state) {
  const TensorMap own = state_dict();
  for (const auto& [name, value] : own) {
    const auto found = state.find(name);
    if (found == state.end())
      throw ValueError(cat("load_state_dict: ", name, " is missing; give every moment"));
    if (found->second.shape() != value.shape())
      throw ShapeError(cat("load_state_dict: ", name, " has another shape: ", found->second.shape(),
          "; needs ", value.shape()));
    if (found->second.dtype() != value.dtype())
      throw DTypeError(cat("load_state_dict: ", name, " has another dtype: ", found->second.dtype(),
          "; needs ", value.dtype(), ": convert it with to(", value.dtype(), ")"));
  }
  for (const auto& [name, value] : state)
    if (!own.count(name))
      throw ValueError(cat("load_state_dict: ", name, " is unknown; leave it out"));
  steps_ = static_cast<Index>(state.at("steps").item());
  for (std::size_t i = 0; i < moments_.size(); ++i)
    for (std::size_t k = 0; k < moments_[i].size(); ++k)
      moments_[i][k] = state.at(moment_name(i, k)).contiguous();
}

double global_norm(const Gradients& gradients, std::span<const Parameter> parameters) {
  double squares = 0;
  for (const Parameter& p : parameters) {
    if (!gradients.reached(p)) continue;
    const Tensor g = gradients[p].value().to(float64).contiguous();
    for (const double x : g.data<double>()) squares += x * x;
  }
  return std::sqrt(squares);
}

double clip_factor(const Gradients& gradients, std::span<const Parameter> parameters, double most) {
  if (!(most > 0)) throw ValueError(cat("clip_factor: no such norm: ", most, "; needs most > 0"));
  return std::min(1.0, most / (global_norm(gradients, parameters) + 1e-6));
}

double cosine_schedule(Index step, const CosineOptions& options) {
  const auto& [peak, floor, warm_up, total] = options;
  if (warm_up < 0 || warm_up > total || step < 0)
    throw ValueError(cat("cosine_schedule: no such step: step ", step, ", warm_up ", warm_up,
        ", total ", total, "; needs 0 <= warm_up <= total and step >= 0"));
  if (step < warm_up) return peak * static_cast<double>(step + 1) / static_cast<double>(warm_up);
  if (step >= total) return floor;
  const double progress =
      static_cast<double>(step - warm_up) / static_cast<double>(total - warm_up);
  return floor + (peak - floor) * (1 + std::cos(std::numbers::pi * progress)) / 2;
}

}  // namespace microtape
