#pragma once

#include <map>
#include <string>
#include <vector>

#include <microtape/layers/attention.hpp>

#include "testing.hpp"

// What the tests of layers share.

namespace microtape::testing {

/// Standard normal float64 numbers.
inline Tensor random(const Shape& shape, std::uint64_t seed, DType dtype = float64) {
  return Tensor::randn(shape, seed, dtype);
}

/// Gives every parameter random numbers, biases too, as large as those of the reference files.
inline void randomize(Layer& layer, std::uint64_t seed) {
  for (const Parameter& p : layer.parameters()) {
    const Tensor& old = p.value();
    p.mutable_value() = scale(random(old.shape(), seed++, old.dtype()), {0.3}).value();
  }
}

/// Each parameter's gradient under its name in state_dict.
inline TensorMap attention_gradients(MultiHeadAttention& layer, const Gradients& gradients) {
  const std::vector<Parameter> parameters = layer.parameters();
  REQUIRE(parameters.size() == 8);
  TensorMap out;
  std::size_t i = 0;
  for (const char* name : {"q_proj.", "k_proj.", "v_proj.", "out_proj."})
    for (const char* part : {"weight", "bias"})
      out[std::string(name) + part] = gradients[parameters[i++]].value();
  return out;
}

/// The same under PyTorch's names: in_proj_weight and in_proj_bias hold q, k and v as rows.
inline TensorMap packed(const TensorMap& own) {
  TensorMap out;
  for (const std::string part : {"weight", "bias"}) {
    out["in_proj_" + part] =
        concat({own.at("q_proj." + part), own.at("k_proj." + part), own.at("v_proj." + part)}, 0)
            .value();
    out["out_proj." + part] = own.at("out_proj." + part);
  }
  return out;
}

/// The only node of the tape with this name.
inline Var node_named(MicroTape& tape, const std::string& name) {
  NodeId found = kNoNode;
  for (NodeId id = 0; id < tape.size(); ++id) {
    if (tape.node(id).name() != name) continue;
    REQUIRE(found == kNoNode);
    found = id;
  }
  INFO("no node is called " << name);
  REQUIRE(found != kNoNode);
  return tape.var(found);
}

/// The numbers of a layer before something that must not change them.
class Unchanged {
 public:
  explicit Unchanged(Layer& layer) : layer_(layer), before_(layer.state_dict()) {
    // Copies: handles would see a write in place.
    for (auto& [name, value] : before_) value = add(value, 0.0).value();
  }
  bool holds() const {
    for (const auto& [name, value] : layer_.state_dict())
      if (!identical(value, before_.at(name))) return false;
    return true;
  }

 private:
  Layer& layer_;
  TensorMap before_;
};

}  // namespace microtape::testing
