#pragma once

#include <microtape/layers/layer.hpp>

namespace microtape {

/// y = Z * x in training, where each element of Z is 0 with probability p and 1 / (1 - p)
/// otherwise, so that the mean stays; y = x in eval mode.
///
/// Source: Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov, "Dropout: A Simple Way to
/// Prevent Neural Networks from Overfitting", JMLR 15, 2014; in the form that scales while
/// training. There p is the probability to stay.
class Dropout : public Layer {
 public:
  /// @throws ValueError unless 0 <= p <= 1
  explicit Dropout(double p, const LayerOptions& options = {});

  /// x [..] -> same shape. Each call draws a new Z, named "Z" on the tape; the sequence of them is
  /// fixed by the seed.
  /// @throws DTypeError if x is int64
  Var operator()(const Var& x) override;
  std::vector<Member> members() override { return {}; }

  /// The probability of 0.
  double p() const { return p_; }

 private:
  double p_;
  std::uint64_t seed_;
  std::uint64_t calls_ = 0;
};

}  // namespace microtape
