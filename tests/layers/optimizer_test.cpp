// Optimizers, clipping and the schedule against what PyTorch computed (tests/reference/
// generate_training.py).

#include <microtape/layers/optim/optimizer.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

/// Gradients whose value for `p` is g: the gradient of <p, g>.
Gradients gradients_of(const Parameter& p, const Tensor& g) {
  MicroTape tape(Keep::needed);
  return backward(sum(tape.watch(p) * Var(g)));
}

/// Twenty steps with PyTorch's gradients; after each, PyTorch's value.
void check_steps(const std::string& name, const Parameter& p, Optimizer& optimizer) {
  const TensorMap file = reference("training");
  for (int step = 0; step < 20; ++step) {
    optimizer.step(gradients_of(p, file.at(name + "/grad." + std::to_string(step))));
    INFO(name << ", step " << step);
    CHECK(close(p.value(), file.at(name + "/after." + std::to_string(step)), 1e-10, name));
  }
}

Parameter start(const std::string& name) {
  return Parameter("p", reference("training").at(name + "/value"));
}

}  // namespace

TEST_CASE("Sgd agrees with PyTorch over 20 steps, plain and with momentum and decay") {
  const Parameter a = start("sgd"), b = start("sgd_momentum");
  Sgd plain({a}, {.learning_rate = 0.05});
  check_steps("sgd", a, plain);
  Sgd momentum({b}, {.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.02});
  check_steps("sgd_momentum", b, momentum);
}

TEST_CASE("Adam and AdamW agree with PyTorch over 20 steps") {
  const Parameter a = start("adam"), b = start("adam_decay"), c = start("adamw");
  Adam adam({a}, {.learning_rate = 0.02, .beta1 = 0.8, .beta2 = 0.95});
  check_steps("adam", a, adam);
  Adam decay({b}, {.learning_rate = 0.02, .weight_decay = 0.1});
  check_steps("adam_decay", b, decay);
  AdamW adamw({c}, {.learning_rate = 0.02, .weight_decay = 0.3});
  check_steps("adamw", c, adamw);
}

TEST_CASE("an optimizer resumes to the bit from its state") {
  const TensorMap file = reference("training");
  const auto gradient = [&](int step) { return file.at("adamw/grad." + std::to_string(step)); };
  const Parameter a = start("adamw"), b = start("adamw");
  AdamW first({a}), second({b});
  for (int step = 0; step < 5; ++step) first.step(gradients_of(a, gradient(step)));
  for (int step = 0; step < 3; ++step) second.step(gradients_of(b, gradient(step)));
  const Parameter c("p", b.value());
  AdamW third({c});
  third.load_state_dict(second.state_dict());
  for (int step = 3; step < 5; ++step) third.step(gradients_of(c, gradient(step)));
  CHECK(close(c.value(), a.value(), 0, "value"));
  TensorMap broken = second.state_dict();
  broken.erase("steps");
  CHECK_THROWS_MATCHES(third.load_state_dict(broken), ValueError,
      says("load_state_dict: steps is missing; give every moment"));
}

TEST_CASE("an optimizer writes in place, and leaves alone what the sweep did not reach") {
  const Parameter used("used", Tensor::of({1, 2}, float64)),
      unused("unused", Tensor::of({3}, float64));
  const void* before = used.value().raw();
  Sgd sgd({used, unused}, {.learning_rate = 1});
  MicroTape tape(Keep::needed);
  tape.watch(unused);
  const Gradients d = backward(sum(tape.watch(used) * tape.watch(used)));
  tape.clear();
  sgd.step(d);
  CHECK(used.value().raw() == before);
  CHECK(close(used.value(), Tensor::of({-1, -2}, float64), 0, "used"));
  CHECK(unused.value().item() == 3);
}

// Bug: the first parameters were changed before the one that no tape had watched threw.
TEST_CASE("an optimizer passes over a parameter that the tape did not watch") {
  const Parameter used("used", Tensor::of({1, 2}, float64)),
      other("other", Tensor::of({3}, float64));
  Sgd sgd({used, other}, {.learning_rate = 1});
  const Gradients d = gradients_of(used, Tensor::of({1, 1}, float64));
  CHECK_FALSE(d.reached(other));
  CHECK_THROWS_MATCHES(d[other], TapeError,
      says("Gradients: the tape did not watch parameter other [1]; only what was used has a "
           "gradient"));
  sgd.step(d);
  CHECK(is(used.value(), {0, 1}));
  CHECK(is(other.value(), {3}));
}

TEST_CASE("a state of another shape or dtype is refused and changes nothing") {
  const Parameter p("p", Tensor::of({1, 2}, float64));
  Sgd sgd({p}, {.learning_rate = 1, .momentum = 0.5});
  sgd.step(gradients_of(p, Tensor::of({1, 1}, float64)));
  const TensorMap before = sgd.state_dict();
  TensorMap state = before;
  state["moment0.0"] = Tensor::zeros({3}, float64);
  CHECK_THROWS_MATCHES(sgd.load_state_dict(state), ShapeError,
      says("load_state_dict: moment0.0 has another shape: [3]; needs [2]"));
  state["moment0.0"] = Tensor::zeros({2});
  CHECK_THROWS_MATCHES(sgd.load_state_dict(state), DTypeError,
      says("load_state_dict: moment0.0 has another dtype: float32; needs float64: convert it with "
           "to(float64)"));
  CHECK(identical(sgd.state_dict().at("moment0.0"), before.at("moment0.0")));
}

TEST_CASE("the global norm and the factor that clips it agree with PyTorch") {
  const TensorMap file = reference("training");
  const Parameter a("a", Tensor::zeros({3, 4}, float64)), b("b", Tensor::zeros({5}, float64));
  const std::vector<Parameter> both{a, b};
  MicroTape tape;
  const Var la = sum(tape.watch(a) * Var(file.at("clip/grad.0")));
  const Gradients d = backward(la + sum(tape.watch(b) * Var(file.at("clip/grad.1"))));
  CHECK(global_norm(d, both) == Approx(file.at("clip/norm").item()).epsilon(1e-12));
  const double factor = clip_factor(d, both, 1.5);
  CHECK(close((factor * d[a]).value(), file.at("clip/clipped.0"), 1e-10, "a"));
  CHECK(close((factor * d[b]).value(), file.at("clip/clipped.1"), 1e-10, "b"));
  CHECK(clip_factor(d, both, 1e9) == 1);
  CHECK_THROWS_MATCHES(
      clip_factor(d, both, 0), ValueError, says("clip_factor: no such norm: 0; needs most > 0"));
}

TEST_CASE("the cosine schedule agrees with PyTorch, and warms up in a line") {
  const Tensor rates = reference("training").at("cosine/rates");
  const CosineOptions options{.peak = 0.3, .floor = 0.05, .warm_up = 0, .total = 30};
  for (Index step = 0; step < 30; ++step)
    CHECK(cosine_schedule(step, options) == Approx(rates.at(step)).epsilon(1e-10));
  CHECK(cosine_schedule(30, options) == 0.05);
  const CosineOptions warm{.peak = 0.4, .floor = 0, .warm_up = 4, .total = 8};
  CHECK(cosine_schedule(0, warm) == 0.1);
  CHECK(cosine_schedule(3, warm) == 0.4);
  CHECK(cosine_schedule(6, warm) == Approx(0.2).epsilon(1e-12));
  CHECK_THROWS_AS(cosine_schedule(-1, warm), ValueError);
  CHECK_THROWS_AS(cosine_schedule(0, {.warm_up = 9, .total = 8}), ValueError);
}

TEST_CASE("options out of range are refused before anything is changed") {
  const Parameter p("p", Tensor::zeros({2}));
  CHECK_THROWS_MATCHES(Adam({p}, {.beta1 = 1}), ValueError,
      says("Adam: beta1 is out of range: 1; needs 0 <= beta1 < 1"));
  CHECK_THROWS_MATCHES(Sgd({p}, {.momentum = -1}), ValueError,
      says("Sgd: momentum is out of range: -1; needs 0 or more"));
  CHECK_THROWS_MATCHES(Sgd({p}, {.learning_rate = -1}), ValueError,
      says("Optimizer: no such learning rate: -1; it must be finite and not negative"));
  CHECK_THROWS_MATCHES(Sgd(std::vector<Parameter>{}), ValueError,
      says("Optimizer: no parameters: there is nothing to change; give at least one"));
}
