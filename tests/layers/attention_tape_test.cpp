#include <microtape/tape/gradcheck.hpp>

#include "plain_layer.hpp"

// MultiHeadAttention on a user's tape: shared inputs, learned masks, data beside Vars, derivatives
// of second order.

using namespace microtape;
using namespace microtape::testing;

namespace {

using Attention = MultiHeadAttention;

Attention make(bool causal = false, Index embed = 8) {
  Attention layer(embed, 2, 0, causal, {.dtype = float64, .seed = 1});
  randomize(layer, 30);
  return layer;
}

/// f of x and every parameter of the layer, for gradcheck: on a tape the parameters are bound to
/// their Vars, and without one they are set to them.
template <class Call>
GradcheckReport check_all_derivatives(Layer& layer, const Tensor& x, Call call, int order = 2) {
  const std::vector<Parameter> parameters = layer.parameters();
  std::vector<Tensor> inputs{x};
  for (const Parameter& p : parameters) inputs.push_back(p.value());
  const auto f = [&](std::span<const Var> at) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (MicroTape* tape = at[0].tape())
        tape->bind(parameters[i], at[i + 1]);
      else
        parameters[i].mutable_value() = at[i + 1].value();
    }
    return call(at[0]);
  };
  return gradcheck(f, inputs, {.order = order, .names = {}});
}

}  // namespace

TEST_CASE("derivatives of attention agree with differences to second order, by x and parameters") {
  const bool causal = GENERATE(false, true);
  Attention layer = make(causal, 4);
  const Tensor mask = f64({{0, -1}, {0.5, 0.25}});
  const GradcheckReport report = check_all_derivatives(
      layer, random({1, 2, 4}, 1), [&](const Var& x) { return layer(x, x, x, mask); });
  INFO(report.str());
  CHECK(report.passed());
  CHECK(report.checked == (8 + 4 * (16 + 4)) + (8 + 4 * (16 + 4) + 8));
}

TEST_CASE("derivatives of Linear agree with differences to second order, by x and parameters") {
  Linear layer(3, 2, {.dtype = float64, .seed = 1});
  randomize(layer, 2);
  const Shape shape = GENERATE(Shape{3}, Shape{4, 3}, Shape{2, 2, 3});
  const GradcheckReport report =
      check_all_derivatives(layer, random(shape, 1), [&](const Var& x) { return layer(x); });
  INFO(report.str());
  CHECK(report.passed());
}

TEST_CASE("on a tape the adjoints of shared inputs add up by themselves") {
  Attention layer = make();
  const Tensor x = random({2, 3, 8}, 1), z = random({2, 5, 8}, 2), dy = random({2, 3, 8}, 3);
  layer.forward(x, z, z);
  const Tensor dq = layer.backward(dy);
  const Var dkv = Var(layer.grad_key_input()) + Var(layer.grad_value_input());

  MicroTape tape;
  const Var query = tape.leaf(x), memory = tape.leaf(z);
  const Gradients gradients = backward(layer(query, memory, memory), dy);
  CHECK(close(gradients[query], dq, 1e-14));
  CHECK(close(gradients[memory], dkv.value(), 1e-14));
}

TEST_CASE("data beside a Var joins its tape, so that every projection gets its gradient") {
  // The query alone once decided: with a plain query W_Q got no gradient at all.
  const Keep keep = GENERATE(Keep::everything, Keep::needed);
  Attention layer = make();
  const Tensor q = random({2, 3, 8}, 1), kv = random({2, 5, 8}, 2), dy = random({2, 3, 8}, 3);
  layer.forward(q, kv, kv);
  layer.backward(dy);
  const TensorMap expected = attention_gradients(layer, layer.gradients());
  for (const int on_tape : {0, 1, 2}) {
    MicroTape tape(keep);
    const Var query = on_tape == 0 ? tape.leaf(q) : Var(q);
    const Var key = on_tape == 1 ? tape.leaf(kv) : Var(kv);
    const Var value = on_tape == 2 ? tape.leaf(kv) : Var(kv);
    const Gradients gradients = backward(layer(query, key, value), dy);
    for (const auto& [name, gradient] : attention_gradients(layer, gradients)) {
      INFO("input " << on_tape << ", " << name);
      CHECK(identical(gradient, expected.at(name)));
    }
  }
  // Data alone, put on the tape as a constant.
  MicroTape tape(keep);
  const Gradients gradients = backward(layer(tape.constant(q), kv, kv), dy);
  for (const auto& [name, gradient] : attention_gradients(layer, gradients))
    CHECK(identical(gradient, expected.at(name)));
}

TEST_CASE("a mask that is a leaf gets its gradient: dS summed over batches and heads") {
  const bool causal = GENERATE(false, true);
  Attention layer = make(causal);
  MicroTape tape;
  const Var x = tape.leaf(random({2, 3, 8}, 1)), mask = tape.leaf(random({3, 3}, 2));
  const Gradients gradients = backward(layer(x, x, x, mask), random({2, 3, 8}, 3));
  const Var ds = gradients[node_named(tape, "S")];
  CHECK(close(gradients[mask], sum(ds, {0, 1}).value(), 1e-14));
  CHECK(max(abs(gradients[mask])).item() > 1e-3);
}

TEST_CASE("attention without a tape records nothing and gives the same numbers") {
  Attention layer = make();
  const Tensor x = random({2, 3, 8}, 1);
  const Var y = layer(x);
  CHECK(y.tape() == nullptr);
  MicroTape tape;
  CHECK(identical(layer(tape.leaf(x)), y.value()));
}

TEST_CASE("inputs on two tapes, or on a tape that was cleared, are TapeErrors") {
  Attention layer = make();
  const Tensor x = random({2, 3, 8}, 1);
  MicroTape one, two;
  const Var a = one.leaf(x), b = two.leaf(x);
  const Var mask = two.constant(Tensor::zeros({3, 3}, float64));
  const std::string text =
      "in attention: MultiHeadAttention: the inputs stand on two tapes; put all of them on one";
  CHECK_THROWS_MATCHES(layer(a, b, b), TapeError, says(text));
  CHECK_THROWS_MATCHES(layer(a, a, a, mask), TapeError, says(text));
  // Bug: it was found only by the product of the scores, with both projections recorded.
  CHECK(one.size() == 1);
  CHECK(two.size() == 2);
  two.clear();
  CHECK_THROWS_AS(layer(b), TapeError);
  CHECK_THROWS_AS(layer(x, x, b), TapeError);
  CHECK_THROWS_AS(layer(a, b, a), TapeError);
  CHECK(one.size() == 1);
  CHECK(one.current_scope() == 0);
}

TEST_CASE("nodes of attention carry the names of the literature and the scopes of its parts") {
  Attention layer(8, 2, 0.1, true, {.name = "attn", .dtype = float64});
  MicroTape tape;
  layer(tape.leaf(random({2, 3, 8}, 1), "X"));
  const std::map<std::string, std::pair<std::string, Shape>> expected = {
      {"W_Q", {"attn/q_proj", {8, 8}}}, {"b_Q", {"attn/q_proj", {8}}},
      {"W_K", {"attn/k_proj", {8, 8}}}, {"b_K", {"attn/k_proj", {8}}},
      {"W_V", {"attn/v_proj", {8, 8}}}, {"b_V", {"attn/v_proj", {8}}},
      {"W_O", {"attn/out_proj", {8, 8}}}, {"b_O", {"attn/out_proj", {8}}},
      {"Q", {"attn/heads", {2, 2, 3, 4}}}, {"K", {"attn/heads", {2, 2, 3, 4}}},
      {"V", {"attn/heads", {2, 2, 3, 4}}}, {"S", {"attn", {2, 2, 3, 3}}}, {"M", {"attn", {3, 3}}},
      {"P", {"attn", {2, 2, 3, 3}}}, {"Z", {"attn/dropout", {2, 2, 3, 3}}},
      {"P_drop", {"attn/dropout", {2, 2, 3, 3}}}, {"C", {"attn", {2, 2, 3, 4}}},
      {"Y", {"attn/out_proj", {2, 3, 8}}}};
  for (const auto& [name, place] : expected) {
    INFO(name);
    const Node& node = tape.node(node_named(tape, name).node());
    CHECK(tape.scope_path(node.scope()) == place.first);
    CHECK(node.shape() == place.second);
  }
  CHECK(tape.node(node_named(tape, "P_drop").node()).latex() == R"(\tilde P)");
}

TEST_CASE("heads are views [B, H, T, D] of the projection [B, T, E], not copies") {
  Attention layer = make();
  MicroTape tape;
  layer(tape.leaf(random({2, 3, 8}, 1)));
  for (const char* name : {"Q", "K", "V"}) {
    // Back from the permuted node over the reshaped one to the projection.
    const Node& permuted = tape.node(node_named(tape, name).node());
    const Node& reshaped = tape.node(permuted.edges()[0].input());
    const Node& projection = tape.node(reshaped.edges()[0].input());
    CHECK(projection.shape() == Shape{2, 3, 8});
    CHECK(permuted.value().shares_memory_with(projection.value()));
    for (Index h = 0; h < 2; ++h)
      CHECK(permuted.value().at({1, h, 2, 3}) == projection.value().at({1, 2, 4 * h + 3}));
  }
}

TEST_CASE("two layers that share a parameter add up in its one gradient") {
  Linear first(4, 4, {.name = "first", .dtype = float64, .seed = 1});
  Linear second(4, 4, {.name = "second", .dtype = float64, .seed = 2});
  class Tied : public Layer {
   public:
    Tied(const Linear& a) : Layer({}, "tied"), weight_(a.weight()) {}
    Var operator()(const Var& x) override { return matmul(x, watch(x, weight_)); }  // x W
    std::vector<Member> members() override { return {weight_}; }

   private:
    Parameter weight_;
  } tied(first);

  MicroTape tape;
  const Var x = tape.leaf(random({3, 4}, 1));
  const Tensor dy = random({3, 4}, 2);
  const Gradients gradients = backward(tied(second(first(x))), dy);
  // y = (x W^T + b) W2^T W + ..: dW = h2^T dy from the last use, plus (dy W^T W2)^T x.
  const Tensor w = first.weight().value(), w2 = second.weight().value();
  const Var h1 = matmul_nt(x.value(), w), h2 = matmul_nt(h1, w2);  // the biases are 0
  const Var last = matmul_tn(h2, dy);
  const Var early = matmul_tn(matmul(matmul_nt(dy, w), w2), x.value());
  CHECK(close(gradients[first.weight()], (last + early).value(), 1e-13));
  CHECK(identical(gradients[first.weight()], gradients[tied.parameters()[0]].value()));
  CHECK(tape.watched().size() == 4);  // W once
}
