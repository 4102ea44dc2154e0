#include "layer_testing.hpp"

// Layer and Parameter: members, modes, states, and what ties.

using namespace microtape;
using namespace microtape::testing;

namespace {

/// Two maps with a dropout between them: a layer of layers with a parameter of its own.
class Net : public Layer {
 public:
  explicit Net(std::string first = "first", std::string second = "second")
      : Layer({}, "net"),
        gain_("gain", Tensor::full({2}, 2, float64)),
        first_(3, 4, {.name = std::move(first), .dtype = float64, .seed = 1}),
        drop_(0.5),
        second_(4, 2, {.name = std::move(second), .dtype = float64, .seed = 2}) {}
  Var operator()(const Var& x) override {
    const auto scope = enter(x);
    const Var y = second_(drop_(first_(x)));
    return y * watch(x, gain_);
  }
  std::vector<Member> members() override { return {gain_, first_, drop_, second_}; }
  Linear& first() { return first_; }
  Dropout& drop() { return drop_; }
  const Parameter& gain() const { return gain_; }

 private:
  Parameter gain_;
  Linear first_;
  Dropout drop_;
  Linear second_;
};

/// Two Linears on one weight.
class Tied : public Layer {
 public:
  Tied() : Layer({}, "tied"), a_(3, 3, {.name = "a"}), other_("other", a_.weight()) {}
  Var operator()(const Var& x) override { return matmul(a_(x), watch(x, other_.weight)); }
  std::vector<Member> members() override { return {a_, other_}; }

 private:
  struct Other : Layer {
    Other(const std::string& name, const Parameter& w) : Layer({.name = name}, ""), weight(w) {}
    Var operator()(const Var& x) override { return matmul(x, watch(x, weight)); }
    std::vector<Member> members() override { return {weight}; }
    Parameter weight;
  };
  Linear a_;
  Other other_;
};

/// x + 1 of anything, without parameters.
class Shift : public Layer {
 public:
  Shift() : Layer({}, "shift") {}
  Var operator()(const Var& x) override { return x + 1; }
  std::vector<Member> members() override { return {}; }
};

}  // namespace

TEST_CASE("a Parameter's copy is a handle on the same value") {
  const Parameter a("weight", f64({1, 2}), "W");
  const Parameter b = a;
  b.mutable_value().mutable_data<double>()[0] = 7;
  CHECK(is(a.value(), {7, 2}));
  CHECK(a == b);
  CHECK(a != Parameter("weight", f64({7, 2}), "W"));
  CHECK(a.symbol() == "W");
  CHECK(Parameter("weight", f64({1})).symbol() == "weight");
}

TEST_CASE("a tape keeps the value that a parameter had when it was watched") {
  const Parameter w("w", f64({3}));
  MicroTape tape;
  const Var x = tape.leaf(f64({2}));
  const Var y = x * tape.watch(w);
  w.mutable_value().mutable_data<double>()[0] = 100;
  CHECK(is(backward(y)[x], {3}));
  CHECK(is(w.value(), {100}));
}

TEST_CASE("parameters come in order: a layer's own, then those of its children") {
  Net net;
  const std::vector<Parameter> all = net.parameters();
  REQUIRE(all.size() == 5);
  CHECK(all[0] == net.gain());
  CHECK(all[1] == net.first().weight());
  CHECK(all[2] == net.first().bias());
  CHECK(net.state_dict().size() == 5);
  CHECK(net.state_dict().contains("gain"));
  CHECK(net.state_dict().contains("second.weight"));
}

TEST_CASE("train and eval reach every child, and a new layer trains") {
  Net net;
  CHECK(net.is_training());
  CHECK(net.drop().is_training());
  net.eval();
  CHECK_FALSE(net.is_training());
  CHECK_FALSE(net.drop().is_training());
  CHECK_FALSE(net.first().is_training());
  const Tensor x = random({4, 3}, 1);
  CHECK(identical(net.forward(x), net.forward(x)));
  net.train();
  CHECK(net.drop().is_training());
  CHECK_FALSE(identical(net.forward(x), net.forward(x)));
}

TEST_CASE("a layer of layers gives every parameter its gradient, its own too") {
  Net net;
  net.eval();
  const Tensor x = random({4, 3}, 1), dy = random({4, 2}, 2);
  const Tensor y = net.forward(x);
  net.backward(dy);
  // y = h * gain: dgain = sum of dy * h = sum of dy * y / 2 over the rows.
  const Var expected = sum(Var(dy) * (Var(y) * 0.5), 0);
  CHECK(close(net.gradients()[net.gain()], expected.value(), 1e-14));
  for (const Parameter& p : net.parameters()) CHECK(max(abs(net.gradients()[p])).item() > 1e-3);
}

TEST_CASE("two parameters of one name are refused by name, not merged in silence") {
  Net net("same", "same");
  const std::string text =
      "state_dict: two parameters of net are called same.weight; give each layer a name of its "
      "own: LayerOptions{.name}";
  CHECK_THROWS_MATCHES(net.state_dict(), ValueError, says(text));
  CHECK_THROWS_MATCHES(net.load_state_dict({}), ValueError, says(text));
  CHECK(net.parameters().size() == 5);
}

TEST_CASE("a tied parameter is listed once, so that no optimizer steps it twice") {
  Tied tied;
  CHECK(tied.parameters().size() == 2);  // weight, bias
  const TensorMap state = tied.state_dict();
  CHECK(state.size() == 3);
  CHECK(identical(state.at("a.weight"), state.at("other.weight")));
  CHECK_NOTHROW(tied.load_state_dict(state));
}

TEST_CASE("a layer without parameters still has a backward") {
  Shift layer;
  CHECK(is(layer.forward(f64({1, 2})), {2, 3}));
  CHECK(is(layer.backward(f64({5, 6})), {5, 6}));
  CHECK(layer.state_dict().empty());
  CHECK_NOTHROW(layer.load_state_dict({}));
  CHECK_THROWS_MATCHES(layer.load_state_dict({{"w", f64({1})}}), ValueError,
      says("load_state_dict: w is unknown: shift has no such parameter; leave it out"));
}

TEST_CASE("backward through data that carries no derivative says so") {
  class Same : public Layer {
   public:
    Same() : Layer({}, "same") {}
    Var operator()(const Var& x) override { return x; }
    std::vector<Member> members() override { return {}; }
  } layer;
  CHECK(is(layer.forward(i64({1, 2})), {1, 2}));
  CHECK_THROWS_AS(layer.backward(i64({1, 1})), TapeError);
}

TEST_CASE("the gradient of a foreign parameter is a TapeError that names it") {
  Net net, other;
  net.forward(random({4, 3}, 1));
  net.backward(random({4, 2}, 2));
  CHECK_THROWS_MATCHES(net.gradients()[other.gain()], TapeError,
      says("Gradients: the tape did not watch parameter gain [2]; only what was used has a "
           "gradient"));
}

TEST_CASE("layers move without throwing, as a vector of them needs") {
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<Linear>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<MultiHeadAttention>);
  STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<Linear>);
}

TEST_CASE("a layer that was moved from still computes, on the same parameters") {
  // Bug: its parameters were null pointers.
  Net net;
  net.eval();
  const Tensor x = random({4, 3}, 1), y = net.forward(x);
  Net moved = std::move(net);
  CHECK(identical(moved.forward(x), y));
  CHECK(identical(net.forward(x), y));
  CHECK(net.gain() == moved.gain());
}
