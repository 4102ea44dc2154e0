#include <microtape/tape/backward.hpp>

#include <optional>

#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("a value used on several paths gets the sum of what comes back on each") {
  MicroTape tape;
  const Var x = tape.leaf(f64(3));
  const Var a = x * x, b = exp(0 * a) + a;  // 1 + x^2
  CHECK(backward(a * b)[x].item() == 2 * 3 + 4 * 27);
}

TEST_CASE("doubling forty times takes forty steps of a sweep, not 2 to the 40") {
  MicroTape tape;
  const Var x = tape.leaf(f64(1));
  Var y = x;
  for (int i = 0; i < 40; ++i) y = y + y;
  int steps = 0, rules = 0;
  Sweep sweep(y, f64(1));
  while (!sweep.done()) {
    rules += static_cast<int>(sweep.step().contributions.size());
    ++steps;
  }
  CHECK(steps == 40);
  CHECK(rules == 80);
  CHECK(sweep.gradients()[x].item() == 0x1p40);
}

TEST_CASE("backward refuses what is not a scalar and accepts one element of any rank") {
  MicroTape tape;
  const Var x = tape.leaf(f64({3, 4}));
  CHECK_THROWS_MATCHES(backward(x * x), ShapeError,
      says("backward: y is not a scalar: y [2] has 2 elements; reduce it with sum() or mean(), or "
           "give a "
           "seed of its shape"));
  CHECK_THROWS_AS(backward(slice(x, 0, 0, 0)), ShapeError);
  for (const Indices& extents : {Indices{}, Indices{1}, Indices{1, 1}})
    CHECK(is(backward(reshape(sum(x * x), extents))[x], {6, 8}));
}

TEST_CASE("backward refuses a y that depends on nothing") {
  const auto text = says(
      "backward: y is a constant: it depends on no leaf or parameter of a tape; there is nothing "
      "to "
      "differentiate");
  MicroTape tape, training(Keep::needed);
  CHECK_THROWS_MATCHES(backward(Var(f64(1))), TapeError, text);
  CHECK_THROWS_MATCHES(backward(tape.constant(f64(1))), TapeError, text);
  CHECK_THROWS_MATCHES(backward(detach(tape.leaf(f64(1)))), TapeError, text);
  CHECK_THROWS_MATCHES(backward(training.constant(f64(1))), TapeError, text);
}

TEST_CASE("backward refuses a seed of another shape or dtype") {
  MicroTape tape;
  const Var y = tape.leaf(f64({3, 4}));
  CHECK_THROWS_MATCHES(backward(y, f64({1, 2, 3})), ShapeError,
      says("backward: the seed does not fit: seed [3], y [2]; the adjoint of y has y's shape"));
  CHECK_THROWS_MATCHES(backward(y, f64({{1, 2}})), ShapeError,
      says("backward: the seed does not fit: seed [1, 2], y [2]; the adjoint of y has y's shape"));
  CHECK_THROWS_MATCHES(backward(y, Tensor::of({1, 2})), DTypeError,
      says(
          "backward: the seed does not fit: seed float32, y float64; convert it with to(float64)"));
}

TEST_CASE("backward from a leaf gives the seed") {
  for (const Keep keep : {Keep::everything, Keep::needed}) {
    MicroTape tape(keep);
    const Var x = tape.leaf(f64({3, 4}));
    CHECK(is(backward(x, f64({5, 6}))[x], {5, 6}));
  }
}

TEST_CASE("the adjoint of what y does not depend on is 0 and was not reached") {
  MicroTape tape;
  const Var x = tape.leaf(f64(2)), idle = tape.leaf(Tensor::of({1, 2}));
  const Var y = x * x, later = y * y;
  const Gradients g = backward(y);
  CHECK(g.reached(x));
  CHECK(g.reached(y));
  CHECK_FALSE(g.reached(idle));
  CHECK_FALSE(g.reached(later));
  CHECK_FALSE(g.reached(Var(f64(1))));
  CHECK(identical(g[idle], Tensor::zeros({2}, float32)));
  CHECK(g[later].item() == 0);
}

TEST_CASE("Gradients refuse what has no adjoint") {
  MicroTape tape;
  const Var x = tape.leaf(f64(2)), c = tape.constant(f64({1, 2}));
  const Gradients g = backward(x * x);
  const auto constant = says(
      "Gradients: x [2] is a constant; only what depends on a leaf or parameter has an adjoint");
  CHECK_THROWS_MATCHES(g[c], TapeError, constant);
  CHECK_THROWS_MATCHES(g[Var(f64({1, 2}))], TapeError, constant);
  const Var newer = x * x;
  CHECK_THROWS_MATCHES(g[newer], TapeError,
      says("Gradients: x [] was computed after the sweep, node 3; y cannot depend on it; sweep "
           "again from "
           "what does"));
  MicroTape other;
  CHECK_THROWS_MATCHES(g[other.leaf(f64(1))], TapeError,
      says("Gradients: x is not from the tape of this sweep, or the tape was cleared between the "
           "two"));
}

TEST_CASE("Gradients survive the clearing and the end of their tape") {
  const Parameter w("w", f64({2, 3}));
  std::optional<MicroTape> tape(std::in_place);
  const Var x = tape->leaf(f64({5, 7}));
  const Gradients plain = backward(sum(x * tape->watch(w)));
  const Gradients recorded = backward(sum(x * tape->watch(w)), Record::yes);
  const auto check = [&] {
    for (const Gradients* g : {&plain, &recorded}) {
      CHECK(is((*g)[x], {2, 3}));
      CHECK(is((*g)[w], {5, 7}));
      CHECK(g->reached(w));
    }
    CHECK(is(plain[x] * 2, {4, 6}));  // a plain Var, to go on with
  };
  check();
  tape->clear();
  check();
  const Var fresh = tape->leaf(f64({1, 1}));
  CHECK_THROWS_AS(plain[fresh], TapeError);
  CHECK_FALSE(plain.reached(fresh));
  tape.reset();
  check();
}

TEST_CASE("without Record::yes adjoints stand on no tape even if the seed or a rule does") {
  MicroTape tape;
  const Var x = tape.leaf(f64({2, 3})), seed = tape.leaf(f64({1, 10}));
  const NodeId before = tape.size();
  const Gradients g = backward(x + 1, seed);
  CHECK(tape.size() == before + 1);
  // Bug: the seed went down the chain as it was, a Var of the tape, and was refused after clear().
  CHECK(g[x].tape() == nullptr);
  // A rule that returns what it captured.
  const Var y = record({"half_dot", "@x"}, [&] { return x.value(); },
      {{"x", x, "@x", [x](const Var&) { return x; }}});
  const Gradients h = backward(y, f64({1, 1}));
  CHECK(is(h[x], {2, 3}));
  CHECK(h[x].tape() == nullptr);
}

TEST_CASE(
    "a training tape keeps the adjoints of leaves and parameters and names the other choice") {
  MicroTape tape(Keep::needed);
  const Parameter w("w", f64(5));
  const Var x = tape.leaf(f64(2)), p = tape.watch(w);
  const Var y = x * p, z = exp(y);
  const Gradients g = backward(z * 0 + y);
  CHECK(g[x].item() == 5);
  CHECK(g[w].item() == 2);
  CHECK_THROWS_MATCHES(g[y], TapeError,
      says("Gradients: the adjoint of node 2 [] was not kept: the tape is Keep::needed, which "
           "keeps those "
           "of leaves and parameters; use Keep::everything"));
  CHECK_THROWS_MATCHES(g[tape.constant(f64(1))], TapeError,
      says("Gradients: x [] is a constant; only what depends on a leaf or parameter has an "
           "adjoint"));
  // What the rules captured is still there: sweep again, and once more with a record.
  CHECK(backward(y)[x].item() == 5);
  CHECK(backward(y, Record::yes)[w].item() == 2);
}

TEST_CASE("the third derivative of x cubed is 6") {
  for (const Keep keep : {Keep::everything, Keep::needed}) {
    MicroTape tape(keep);
    const Var x = tape.leaf(f64(3));
    const Var first = backward(x * x * x, Record::yes)[x];
    const Var second = backward(first, Record::yes)[x];
    const Var third = backward(second, Record::yes)[x];
    CHECK(first.item() == 27);
    CHECK(second.item() == 18);
    CHECK(third.item() == 6);
  }
}

TEST_CASE("a recorded sweep can be differentiated by its seed") {
  MicroTape tape;
  const Var x = tape.leaf(f64({2, 3})), seed = tape.leaf(f64({1, 10}));
  const Var dx = backward(x * x, seed, Record::yes)[x];
  CHECK(is(dx, {4, 60}));
  const Gradients g = backward(sum(dx));
  CHECK(is(g[seed], {4, 6}));
  CHECK(is(g[x], {2, 20}));
}

TEST_CASE("recorded adjoints of named nodes are named d and their name") {
  MicroTape tape;
  const Var q = tape.leaf(f64({{1, 2}}), "Q"), k = tape.leaf(f64({{3, 4}}), "K");
  const Var s = matmul_nt(q, k).named("S", R"(\mathbf{S})");
  const Var loss = sum(exp(s) + s).named("loss");
  const Gradients g = backward(loss, Record::yes);
  const auto name = [&](const Var& v) { return std::string(tape.node(v.node()).name()); };
  CHECK(name(g[q]) == "dQ");
  CHECK(name(g[k]) == "dK");
  CHECK(name(g[s]) == "dS");  // the sum of both contributions, not the first
  CHECK(tape.node(g[s].node()).op() == "add");
  int sums = 0;
  for (const Node& node : tape.nodes()) sums += node.name() == "dS";
  CHECK(sums == 1);
  CHECK(std::string(tape.node(g[s].node()).latex()) == R"(d\mathbf{S})");
  CHECK(name(g[loss]) == "dloss");
}
