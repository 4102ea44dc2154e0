#pragma once

#include <microtape/layers/layer.hpp>

namespace microtape {

/// Layer normalization of each row: y = (x - mean) / sqrt(variance + eps) * gain + bias.
/// Source: Ba, Kiros, Hinton, "Layer Normalization", arXiv:1607.06450, 2016, equation 4.
class LayerNorm : public Layer {
 public:
  /// The gain starts as ones ("weight"), the bias as zeros ("bias"), each [width].
  /// @throws ValueError unless width >= 1 and eps > 0
  explicit LayerNorm(Index width, const LayerOptions& options = {}, double eps = 1e-5);

  /// x [.., width] -> same shape
  /// @throws ShapeError if the last extent is not `width`; DTypeError
  Var operator()(const Var& x) override;
  std::vector<Member> members() override { return {gain_, bias_}; }

 private:
  Parameter gain_;  // [width]
  Parameter bias_;  // [width]
  double eps_;
};

}  // namespace microtape
