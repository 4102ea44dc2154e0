#pragma once

#include <microtape/layers/layer.hpp>

namespace microtape {

/// Layers one after another: y = f_n(.. f_2(f_1(x))). Their names in a state_dict are their places,
/// "0", "1", ..
class Sequential : public Layer {
 public:
  /// Takes the layers over: `Sequential model(Linear(2, 8), Mlp(8, 16, 8), Linear(8, 1));`
  template <class... Layers>
    requires(
        sizeof...(Layers) > 0 && (std::is_base_of_v<Layer, std::remove_cvref_t<Layers>> && ...))
  explicit Sequential(Layers&&... layers) : Layer({}, "sequential") {
    (layers_.push_back(std::make_unique<std::remove_cvref_t<Layers>>(std::forward<Layers>(layers))),
        ...);
  }

  /// x as the first layer takes it -> as the last one gives it
  Var operator()(const Var& x) override;
  std::vector<Member> members() override;

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace microtape
