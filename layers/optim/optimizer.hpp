#pragma once

#include <span>
#include <vector>

#include <microtape/core/io/safetensors.hpp>
#include <microtape/tape/backward.hpp>

namespace microtape {

/// Changes parameters by their gradients. In a training loop the order is backward, tape.clear(),
/// step: then each value is changed in place.
///
/// A parameter that the sweep did not reach, or the tape did not watch, stays as it is.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// One step. @param scale  factor on every gradient, as clip_factor() gives it
  void step(const Gradients& gradients, double scale = 1);

  /// The rate of the next step.
  double learning_rate() const { return learning_rate_; }
  /// @throws ValueError unless it is finite and not negative
  void set_learning_rate(double rate);

  /// What a run needs to go on to the bit: the moments, and how many steps there were ("steps").
  TensorMap state_dict() const;
  /// @throws ValueError if a name is missing or unknown; ShapeError, DTypeError
  void load_state_dict(const TensorMap& state);

 protected:
  /// @param moments  how many Tensors of a parameter's shape the method remembers for each
  Optimizer(std::vector<Parameter> parameters, double learning_rate, std::size_t moments);

  /// Changes one value in place. @param gradient  contiguous, of the value's shape and dtype
  virtual void update(Tensor& value, const Tensor& gradient, double scale,
      std::span<Tensor> moments, Index step) = 0;

 private:
  std::vector<Parameter> parameters_;
  double learning_rate_ = 0;
  Index steps_ = 0;
  std::vector<std::vector<Tensor>> moments_;  // [parameter][moment]; zeros before the first step
};

/// Options of Sgd.
struct SgdOptions {
  double learning_rate = 0.01;  ///< what a step multiplies by
  double momentum = 0;      ///< v = momentum v + g, then value -= learning_rate v; v starts as g
  double weight_decay = 0;  ///< adds weight_decay * value to g
};

/// Stochastic gradient descent, with momentum as PyTorch has it.
class Sgd : public Optimizer {
 public:
  /// @throws ValueError if there are no parameters, or an option is negative or not finite
  explicit Sgd(std::vector<Parameter> parameters, const SgdOptions& options = {});

 private:
  void update(Tensor& value, const Tensor& gradient, double scale, std::span<Tensor> moments,
      Index step) override;
  SgdOptions options_;
};

/// Options of Adam and AdamW.
struct AdamOptions {
  double learning_rate = 1e-3;  ///< about the size of a step
  double beta1 = 0.9;           ///< of the running mean of the gradient
  double beta2 = 0.999;         ///< of the running mean of its square
  double eps = 1e-8;            ///< added to the root, so that nothing is divided by 0
  double weight_decay = 0;      ///< 0: none; how it enters, the optimizer says
};

/// Adam: steps by the running mean of the gradient over the root of the running mean of its square.
/// Weight decay adds weight_decay * value to the gradient.
/// Source: Kingma, Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 1.
class Adam : public Optimizer {
 public:
  /// @throws ValueError if there are no parameters, a beta is outside [0, 1), or another option is
  ///         negative or not finite
  explicit Adam(std::vector<Parameter> parameters, const AdamOptions& options = {});

 protected:
  /// Whether weight decay shrinks the value itself instead of entering the moments.
  enum class Decay { in_gradient, decoupled };
  /// For AdamW. @throws as above
  Adam(std::vector<Parameter> parameters, const AdamOptions& options, Decay decay);

 private:
  void update(Tensor& value, const Tensor& gradient, double scale, std::span<Tensor> moments,
      Index step) override;
  AdamOptions options_;
  Decay decay_;
};

/// Adam with decoupled weight decay: the value shrinks by learning_rate * weight_decay first.
/// Source: Loshchilov, Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, algorithm 2.
class AdamW : public Adam {
 public:
  /// @throws ValueError as Adam()
  explicit AdamW(
      std::vector<Parameter> parameters, const AdamOptions& options = {.weight_decay = 0.01})
      : Adam(std::move(parameters), options, Decay::decoupled) {}
};

/// The Euclidean norm of all gradients together. Parameters that were not reached count as 0.
double global_norm(const Gradients& gradients, std::span<const Parameter> parameters);

/// The factor that brings the global norm down to `most`, at most 1: `step(gradients, factor)`.
/// As PyTorch: most / (norm + 1e-6). @throws ValueError unless most > 0
double clip_factor(const Gradients& gradients, std::span<const Parameter> parameters, double most);

/// Options of cosine_schedule.
struct CosineOptions {
  double peak = 1e-3;  ///< the rate after warm-up
  double floor = 0;    ///< the rate at the end, and from then on
  Index warm_up = 0;   ///< steps of linear rise from 0
  Index total = 1000;  ///< steps in all
};

/// The learning rate of step 0, 1, ..: (step + 1) / warm_up of the peak while warming up, then half
/// a cosine from peak to floor.
/// @throws ValueError unless 0 <= warm_up <= total and step >= 0
double cosine_schedule(Index step, const CosineOptions& options);

}  // namespace microtape
