#include <filesystem>
#include <random>
#include <set>

#include "layer_testing.hpp"

// state_dict, load_state_dict and files of MultiHeadAttention; first values.

using namespace microtape;
using namespace microtape::testing;

namespace {

using Attention = MultiHeadAttention;

Attention make(std::uint64_t seed) {
  Attention layer(4, 2, 0, false, {.dtype = float64, .seed = seed});
  randomize(layer, 100 * seed);
  return layer;
}

/// Attention as a part of something larger.
class Block : public Layer {
 public:
  explicit Block(std::uint64_t seed)
      : Layer({.name = "block"}, "block"),
        attn_(4, 2, 0, false, {.name = "attn", .dtype = float64, .seed = seed}),
        out_(4, 3, {.name = "head", .dtype = float64, .seed = seed}) {}
  Var operator()(const Var& x) override { return out_(attn_(x)); }
  std::vector<Member> members() override { return {attn_, out_}; }

 private:
  Attention attn_;
  Linear out_;
};

std::set<std::string> names_of(const TensorMap& state) {
  std::set<std::string> names;
  for (const auto& [name, value] : state) names.insert(name);
  return names;
}

bool equal(const TensorMap& a, const TensorMap& b) {
  if (names_of(a) != names_of(b)) return false;
  for (const auto& [name, value] : a)
    if (!identical(value, b.at(name))) return false;
  return true;
}

TensorMap without(TensorMap state, const std::string& name) {
  state.erase(name);
  return state;
}

TensorMap with(TensorMap state, const std::string& name, const Tensor& value) {
  state[name] = value;
  return state;
}

}  // namespace

TEST_CASE("the state of attention has PyTorch's names for four projections") {
  Attention layer(4, 2);
  const TensorMap state = layer.state_dict();
  CHECK(names_of(state) == std::set<std::string>{"q_proj.weight", "q_proj.bias", "k_proj.weight",
                               "k_proj.bias", "v_proj.weight", "v_proj.bias", "out_proj.weight",
                               "out_proj.bias"});
  for (const auto& [name, value] : state)
    CHECK(value.shape() == (name.ends_with("weight") ? Shape{4, 4} : Shape{4}));
  CHECK(names_of(Block(1).state_dict()).contains("attn.q_proj.weight"));
  CHECK(names_of(Block(1).state_dict()).contains("head.bias"));
  CHECK(Block(1).state_dict().size() == 10);
}

TEST_CASE("the same seed makes the same attention, another seed another") {
  Attention a(16, 4, 0, false, {.seed = 5}), b(16, 4, 0, false, {.seed = 5});
  Attention c(16, 4, 0, false, {.seed = 6});
  CHECK(equal(a.state_dict(), b.state_dict()));
  for (const char* name : {"q_proj.weight", "k_proj.weight", "v_proj.weight", "out_proj.weight"})
    CHECK_FALSE(identical(a.state_dict().at(name), c.state_dict().at(name)));
  // The projections of one layer differ.
  const TensorMap state = a.state_dict();
  CHECK_FALSE(identical(state.at("q_proj.weight"), state.at("k_proj.weight")));
  CHECK_FALSE(identical(state.at("k_proj.weight"), state.at("v_proj.weight")));
  CHECK_FALSE(identical(state.at("v_proj.weight"), state.at("out_proj.weight")));
}

TEST_CASE("a state loads into another layer, which then computes the same") {
  Attention a = make(1), b = make(2);
  const Tensor x = random({2, 3, 4}, 1);
  CHECK_FALSE(identical(a.forward(x), b.forward(x)));
  b.load_state_dict(a.state_dict());
  CHECK(equal(a.state_dict(), b.state_dict()));
  CHECK(identical(a.forward(x), b.forward(x)));
}

TEST_CASE("a state is a snapshot: later writes to the layer do not reach it, nor the reverse") {
  Attention a = make(1), b = make(2);
  TensorMap state = a.state_dict();
  const double before = state.at("q_proj.bias").at({0});
  a.parameters()[1].mutable_value().mutable_data<double>()[0] = 42;
  CHECK(state.at("q_proj.bias").at({0}) == before);
  CHECK(a.state_dict().at("q_proj.bias").at({0}) == 42);
  b.load_state_dict(state);
  state.at("q_proj.bias").mutable_data<double>()[0] = 43;
  CHECK(b.state_dict().at("q_proj.bias").at({0}) == before);
}

TEST_CASE("PyTorch's packed names load: rows of in_proj are q, k and v, in this order") {
  Attention a = make(1), b = make(2);
  const TensorMap own = a.state_dict();
  const TensorMap all = packed(own);
  b.load_state_dict(all);
  CHECK(equal(b.state_dict(), own));
  // q, k and v came from one block; a write to one of them stays its own.
  b.parameters()[0].mutable_value().mutable_data<double>()[15] += 1;
  CHECK(identical(b.state_dict().at("k_proj.weight"), own.at("k_proj.weight")));
  CHECK(identical(all.at("in_proj_weight"), packed(own).at("in_proj_weight")));

  // In a layer inside of a layer, too.
  Block whole(1), other(2);
  TensorMap nested = whole.state_dict();
  for (const char* part : {"weight", "bias"}) {
    const auto take = [&](const std::string& projection) {
      const Tensor value = nested.at("attn." + projection + "_proj." + part);
      nested.erase("attn." + projection + "_proj." + part);
      return Var(value);
    };
    const Var q = take("q"), k = take("k"), v = take("v");
    nested["attn.in_proj_" + std::string(part)] = concat({q, k, v}, 0).value();
  }
  other.load_state_dict(nested);
  CHECK(equal(other.state_dict(), whole.state_dict()));
}

TEST_CASE("load_state_dict refuses what is missing, unknown, misshapen or of another dtype") {
  Attention layer = make(1);
  const TensorMap good = make(2).state_dict();
  const Unchanged parameters(layer);
  const auto refuses = [&](const TensorMap& state, const auto& error, const std::string& text) {
    CHECK_THROWS_MATCHES(layer.load_state_dict(state), std::decay_t<decltype(error)>, says(text));
    CHECK(parameters.holds());  // not even what stood before the wrong one
  };
  refuses(without(good, "v_proj.bias"), ValueError(""),
      "load_state_dict: v_proj.bias is missing: attention needs v_proj.bias [4]; give every "
      "parameter");
  refuses({}, ValueError(""),
      "load_state_dict: q_proj.weight is missing: attention needs q_proj.weight [4, 4]; give every "
      "parameter");
  refuses(with(good, "r_proj.weight", random({4, 4}, 1)), ValueError(""),
      "load_state_dict: r_proj.weight is unknown: attention has no such parameter; leave it out");
  refuses(with(good, "out_proj.weight", random({4, 3}, 1)), ShapeError(""),
      "load_state_dict: out_proj.weight has another shape: [4, 3]; attention needs [4, 4]");
  refuses(with(good, "out_proj.bias", random({4}, 1, float32)), DTypeError(""),
      "load_state_dict: out_proj.bias has another dtype: float32; attention needs float64: convert "
      "it with to(float64)");
  CHECK_THROWS_AS(layer.load_state_dict(with(good, "out_proj.bias", Tensor())), ValueError);
  CHECK(parameters.holds());
}

TEST_CASE("load_state_dict refuses packed tensors that do not hold q, k and v once") {
  Attention layer = make(1);
  const TensorMap own = make(2).state_dict(), good = packed(own);
  const Unchanged parameters(layer);
  const auto refuses = [&](const TensorMap& state, const auto& error, const std::string& text) {
    CHECK_THROWS_MATCHES(layer.load_state_dict(state), std::decay_t<decltype(error)>, says(text));
    CHECK(parameters.holds());
  };
  // Stored input by input: never reinterpreted.
  refuses(with(good, "in_proj_weight", random({4, 12}, 1)), ShapeError(""),
      "load_state_dict: in_proj_weight has another shape: [4, 12]; its rows are those of q, k and "
      "v: 12");
  refuses(with(good, "in_proj_bias", random({}, 1)), ShapeError(""),
      "load_state_dict: in_proj_bias has another shape: []; its rows are those of q, k and v: 12");
  refuses(with(good, "in_proj_weight", random({12, 3}, 1)), ShapeError(""),
      "load_state_dict: q_proj.weight has another shape: [4, 3]; attention needs [4, 4]");
  refuses(with(good, "in_proj_bias", random({12}, 1, float32)), DTypeError(""),
      "load_state_dict: q_proj.bias has another dtype: float32; attention needs float64: convert "
      "it with to(float64)");
  refuses(with(good, "q_proj.bias", own.at("q_proj.bias")), ValueError(""),
      "load_state_dict: q_proj.bias is given twice: also in in_proj_bias; give one of the two");
  refuses(without(good, "in_proj_bias"), ValueError(""),
      "load_state_dict: q_proj.bias is missing: attention needs q_proj.bias [4]; give every "
      "parameter");
  refuses(with(good, "bias_k", random({4}, 1)), ValueError(""),
      "load_state_dict: bias_k is unknown: attention has no such parameter; leave it out");
}

TEST_CASE("a safetensors file brings every parameter back to the bit") {
  const auto path = std::filesystem::temp_directory_path() /
                    ("microtape_state_" + std::to_string(std::random_device{}()) + ".safetensors");
  const DType dtype = GENERATE(float32, float64);
  Attention a(4, 2, 0, false, {.dtype = dtype, .seed = 1});
  Attention b(4, 2, 0, false, {.dtype = dtype, .seed = 2});
  randomize(a, 3);
  a.save_safetensors(path);
  b.load_safetensors(path);
  CHECK(equal(a.state_dict(), b.state_dict()));
  Attention other(4, 2, 0, false, {.dtype = dtype == float32 ? float64 : float32});
  const Unchanged parameters(other);
  CHECK_THROWS_AS(other.load_safetensors(path), DTypeError);
  Attention wide(8, 2, 0, false, {.dtype = dtype});
  CHECK_THROWS_AS(wide.load_safetensors(path), ShapeError);
  CHECK(parameters.holds());
  std::filesystem::remove(path);
  CHECK_THROWS_AS(b.load_safetensors(path), FileError);
  CHECK(equal(a.state_dict(), b.state_dict()));
}
