// The layers of a small GPT against PyTorch (tests/reference/generate_training.py) and identities.

#include <microtape/layers/sequential.hpp>
#include <microtape/layers/transformer.hpp>
#include <microtape/tape/gradcheck.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

Tensor tokens(const Shape& shape, const std::vector<double>& ids) {
  return Tensor::of(shape, ids, int64);
}

}  // namespace

TEST_CASE(
    "TransformerBlock agrees with PyTorch: value, and the gradient by x and by each parameter") {
  const TensorMap file = reference("training");
  TransformerBlock block(8, 2, 0, true, {.dtype = float64});
  TensorMap parameters;
  for (const auto& [name, value] : file)
    if (name.starts_with("block/parameter/")) parameters[name.substr(16)] = value;
  block.load_state_dict(parameters);

  MicroTape tape;
  const Var x = tape.leaf(file.at("block/x"));
  const Var y = block(x);
  CHECK(close(y, file.at("block/y"), 1e-9, "y"));
  const Gradients d = backward(y, file.at("block/dy"));
  CHECK(close(d[x], file.at("block/grad.x"), 1e-9, "dx"));
  std::map<std::string, Var> own;
  for (const auto& [name, parameter] : block.named_parameters()) own[name] = d[parameter];
  for (const std::string kind : {"weight", "bias"}) {
    const std::string a = "attention.";
    own[a + "in_proj_" + kind] = concat(
        {own.at(a + "q_proj." + kind), own.at(a + "k_proj." + kind), own.at(a + "v_proj." + kind)},
        0);
  }
  int compared = 0;
  for (const auto& [name, expected] : file) {
    if (!name.starts_with("block/grad/")) continue;
    CHECK(close(own.at(name.substr(11)), expected, 1e-9, name));
    ++compared;
  }
  CHECK(compared == 12);
}

TEST_CASE("Gpt: a changed token changes no earlier logits, to the bit") {
  Gpt gpt({.vocabulary = 11, .context = 6, .width = 8, .num_heads = 2, .depth = 2}, {.seed = 3});
  const Tensor a = gpt.forward(tokens({1, 5}, {1, 4, 2, 8, 5}));
  const Tensor b = gpt.forward(tokens({1, 5}, {1, 4, 2, 9, 5}));
  CHECK(a.shape() == Shape({1, 5, 11}));
  CHECK(close(a.slice(1, 0, 3), b.slice(1, 0, 3), 0, "the past"));
  CHECK_FALSE(close(a.slice(1, 3, 4), b.slice(1, 3, 4), 1e-6, "the present"));
}

TEST_CASE("Gpt: the gradient of the tied table is the sum of both of its uses") {
  Gpt gpt(
      {.vocabulary = 5, .context = 4, .width = 4, .num_heads = 2, .depth = 1}, {.dtype = float64});
  const Tensor ids = tokens({2, 3}, {0, 3, 3, 1, 4, 2}), next = tokens({2, 3}, {3, 3, 1, 4, 2, 0});
  const Parameter table = gpt.parameters().front();
  MicroTape tape;
  const Gradients d = backward(cross_entropy(gpt(tape.constant(ids)), tape.constant(next)));
  // Differences over the table, wherever it is used.
  const auto loss = [&] {
    MicroTape own;
    return cross_entropy(gpt(own.constant(ids)), own.constant(next)).item();
  };
  const Tensor original = table.value();
  std::vector<double> differences;
  for (std::size_t i = 0; i < 20; ++i) {
    const double h = 1e-5;
    double sides[2];
    for (const int side : {0, 1}) {
      table.mutable_value() = original;
      table.mutable_value().mutable_data<double>()[i] += side == 0 ? -h : h;
      sides[side] = loss();
    }
    differences.push_back((sides[1] - sides[0]) / (2 * h));
  }
  table.mutable_value() = original;
  CHECK(close(d[table], Tensor::of({5, 4}, differences, float64), 1e-6, "dW_E"));
}

TEST_CASE("Gpt: at the start the loss is near the logarithm of the vocabulary") {
  Gpt gpt({.vocabulary = 65, .context = 16, .width = 32, .num_heads = 4, .depth = 2}, {.seed = 1});
  std::vector<double> ids;
  for (int i = 0; i < 32; ++i) ids.push_back(i * 7 % 65);
  MicroTape tape;
  const Var logits = gpt(tape.constant(tokens({2, 16}, ids)));
  CHECK(cross_entropy(logits, tokens({2, 16}, ids)).item() == Approx(std::log(65.0)).epsilon(0.03));
}

TEST_CASE("layers refuse what does not fit, with both sizes") {
  Gpt gpt({.vocabulary = 5, .context = 4, .width = 4, .num_heads = 2, .depth = 1});
  CHECK_THROWS_MATCHES(gpt.forward(tokens({1, 5}, {0, 0, 0, 0, 0})), ShapeError,
      says("in gpt: Gpt: the tokens do not fit: tokens [1, 5]; they must be [B, T] with T <= 4"));
  CHECK_THROWS_AS(gpt.forward(tokens({1, 2}, {0, 5})), IndexError);
  CHECK_THROWS_AS(gpt.forward(Tensor::zeros({1, 2})), DTypeError);
  CHECK_THROWS_AS(Gpt({.width = 6, .num_heads = 4}), ValueError);
  CHECK_THROWS_AS(LayerNorm(0), ValueError);
  CHECK_THROWS_AS(Embedding(0, 3), ValueError);
  LayerNorm norm(3);
  CHECK_THROWS_AS(norm.forward(Tensor::zeros({2, 4})), ShapeError);
  PositionalEncoding positions(4, 6, Positions::sinusoidal);
  CHECK_THROWS_MATCHES(positions.forward(Tensor::zeros({1, 5, 6})), ShapeError,
      says("in positions: PositionalEncoding: x does not fit: x [1, 5, 6], rows [4, 6]; x must be "
           "[.., T, 6] with T <= 4"));
}

TEST_CASE("sinusoidal positions are sines and cosines, and nothing is learned") {
  PositionalEncoding positions(8, 4, Positions::sinusoidal, {.dtype = float64});
  const Tensor y = positions.forward(Tensor::zeros({1, 3, 4}, float64));
  for (Index t = 0; t < 3; ++t) {
    const auto at = static_cast<double>(t);
    CHECK(y.at({0, t, 0}) == Approx(std::sin(at)));
    CHECK(y.at({0, t, 1}) == Approx(std::cos(at)));
    CHECK(y.at({0, t, 2}) == Approx(std::sin(at / 100)));
    CHECK(y.at({0, t, 3}) == Approx(std::cos(at / 100)));
  }
  CHECK(positions.parameters().empty());
  CHECK(PositionalEncoding(8, 4, Positions::learned).parameters().size() == 1);
}

TEST_CASE("Sequential composes, names its parts by place, and loads its own state") {
  Sequential a(Linear(3, 4, {.seed = 1}), LayerNorm(4), Linear(4, 2, {.seed = 2}));
  Sequential b(Linear(3, 4), LayerNorm(4), Linear(4, 2));
  const TensorMap state = a.state_dict();
  CHECK(state.size() == 6);
  CHECK(state.count("0.weight") == 1);
  CHECK(state.count("2.bias") == 1);
  b.load_state_dict(state);
  const Tensor x = Tensor::randn({5, 3}, 7);
  CHECK(close(a.forward(x), b.forward(x), 0, "y"));
}
