#pragma once

#include <microtape/layers/linear.hpp>

namespace microtape {

/// y = W_2 gelu(W_1 x + b_1) + b_2: two Linear layers, "fc1" and "fc2", with GELU between.
class Mlp : public Layer {
 public:
  /// @throws ValueError unless all three are 1 or more
  Mlp(Index in, Index hidden, Index out, const LayerOptions& options = {});

  /// x [.., in] -> [.., out] @throws ShapeError, DTypeError
  Var operator()(const Var& x) override;
  std::vector<Member> members() override { return {fc1_, fc2_}; }

 private:
  Linear fc1_, fc2_;
};

}  // namespace microtape
