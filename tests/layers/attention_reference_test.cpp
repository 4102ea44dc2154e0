#include "layer_testing.hpp"

// MultiHeadAttention against PyTorch: outputs, weights, gradients of inputs and parameters.

using namespace microtape;
using namespace microtape::testing;

namespace {

/// One file of tests/reference, in the dtype wanted.
struct Reference {
  explicit Reference(const std::string& name, DType wanted)
      : file(read_safetensors(tests_folder("reference") / ("attention_" + name + ".safetensors"))),
        dtype(wanted),
        is_self(number("self") == 1) {}

  Index number(const char* key) const { return std::stoll(file.metadata.at(key)); }
  bool has(const char* name) const { return file.tensors.contains(name); }
  Tensor operator[](const std::string& name) const { return file.tensors.at(name).to(dtype); }

  /// The layer with the parameters of the file, by PyTorch's names.
  MultiHeadAttention layer() const {
    MultiHeadAttention out(
        number("embed"), number("heads"), 0, number("causal") == 1, {.dtype = dtype});
    TensorMap state;
    for (const char* name : {"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"})
      state[name] = (*this)[name];
    out.load_state_dict(state);
    return out;
  }

  Safetensors file;
  DType dtype;
  bool is_self;
};

/// All that a pass over one file gives, under the names of the file.
using Found = TensorMap;

Found on_tensors(const Reference& r) {
  MultiHeadAttention layer = r.layer();
  const Tensor query = r["query"];
  const Tensor mask = r.has("mask") ? r["mask"] : Tensor();
  Found found;
  if (r.is_self) {
    found["y"] = mask.defined() ? layer.forward(query, query, query, &mask) : layer.forward(query);
    found["grad.query"] = layer.backward(r["dy"]);
  } else {
    const Tensor key = r["key"], value = r["value"];
    found["y"] = layer.forward(query, key, value, mask.defined() ? &mask : nullptr);
    found["grad.query"] = layer.backward(r["dy"]);
    found["grad.key"] = layer.grad_key_input();
    found["grad.value"] = layer.grad_value_input();
  }
  found["attn_weights"] = layer.weights();
  for (const auto& [name, gradient] : packed(attention_gradients(layer, layer.gradients())))
    found["grad." + name] = gradient;
  return found;
}

Found on_tape(const Reference& r, Keep keep) {
  MultiHeadAttention layer = r.layer();
  MicroTape tape(keep);
  const Var query = tape.leaf(r["query"]);
  const Var key = r.is_self ? query : tape.leaf(r["key"]);
  const Var value = r.is_self ? query : tape.leaf(r["value"]);
  const Var y = layer(query, key, value, r.has("mask") ? Var(r["mask"]) : Var());
  const Gradients gradients = backward(y, r["dy"]);
  Found found{{"y", y.value()}, {"attn_weights", layer.weights()},
      {"grad.query", gradients[query].value()}};
  if (!r.is_self) found["grad.key"] = gradients[key].value();
  if (!r.is_self) found["grad.value"] = gradients[value].value();
  for (const auto& [name, gradient] : packed(attention_gradients(layer, gradients)))
    found["grad." + name] = gradient;
  return found;
}

/// Every output and gradient of the file, against what was found.
void check_all(const Reference& r, const Found& found, double rtol) {
  std::size_t compared = 0;
  for (const auto& [name, expected] : r.file.tensors) {
    if (name != "y" && name != "attn_weights" && !name.starts_with("grad.")) continue;
    const auto ours = found.find(name);
    INFO("looking for " << name);
    REQUIRE(ours != found.end());
    CHECK(ours->second.dtype() == r.dtype);
    CHECK(close(ours->second, expected, rtol, name));
    ++compared;
  }
  CHECK(compared == (r.is_self ? 7 : 9));
  CHECK(found.size() == compared);
}

void check_equal(const Found& a, const Found& b) {
  REQUIRE(a.size() == b.size());
  for (const auto& [name, value] : a) {
    INFO(name);
    CHECK(identical(value, b.at(name)));
  }
}

}  // namespace

TEST_CASE("attention agrees with PyTorch in every reference file, forward and backward") {
  const std::string name = GENERATE("self", "self_causal", "self_mask", "self_causal_mask",
      "self_one_token", "cross", "cross_mask", "sharp", "readme_float32");
  const DType dtype = GENERATE(float64, float32);
  if (name == "readme_float32" && dtype == float64) return;  // its numbers are float32
  INFO("attention_" << name << ", " << microtape::name(dtype));
  const Reference r(name, dtype);
  const double rtol = dtype == float64 ? 1e-9 : 2e-4;

  const Found direct = on_tensors(r);
  check_all(r, direct, rtol);
  // The same primitives on a tape: the same numbers, to the bit.
  const Found everything = on_tape(r, Keep::everything);
  check_all(r, everything, rtol);
  check_equal(everything, direct);
  check_equal(on_tape(r, Keep::needed), direct);
}

TEST_CASE("the comparison with PyTorch sees an error of one part in a thousand") {
  const Reference r("cross", float64);
  Found found = on_tensors(r);
  for (const char* name : {"y", "grad.in_proj_weight", "grad.key"}) {
    const Tensor wrong = scale(found.at(name), {1.001}).value();
    CHECK_FALSE(close(wrong, r[name], 2e-4));
  }
}
