#pragma once

#include <microtape/layers/layer.hpp>

namespace microtape {

/// y = x W^T + b, the same affine map for every row.
///
/// Composed from ops, so its backward pass is on the tape: dX = dY W, dW = dY^T X over all rows,
/// db = the sum of dY over all rows.
class Linear : public Layer {
 public:
  /// W [out, in] is uniform in +-sqrt(6 / (in + out)), b [out] is 0.
  /// Source of the range: Glorot, Bengio, "Understanding the difficulty of training deep
  /// feedforward neural networks", AISTATS 2010, where it is the normalized initialization.
  /// @throws ValueError unless in and out are 1 or more; DTypeError unless the dtype is floating
  Linear(Index in, Index out, const LayerOptions& options = {});

  /// @param x  [.., in]
  /// @return   [.., out]
  /// @throws ShapeError if the last extent is not `in`; DTypeError if x is of another dtype
  Var operator()(const Var& x) override;
  std::vector<Member> members() override { return {weight_, bias_}; }

  /// W [out, in]
  const Parameter& weight() const { return weight_; }
  /// b [out]
  const Parameter& bias() const { return bias_; }

 private:
  Parameter weight_;  // [out, in]
  Parameter bias_;    // [out]
};

}  // namespace microtape
