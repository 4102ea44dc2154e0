// Scopes and parameters: where a node belongs, and what outlives the tape.

#include <microtape/tape/backward.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("nodes know the scope in which they were computed, by its path") {
  MicroTape tape;
  const auto path = [&](const Var& v) { return tape.scope_path(tape.node(v.node()).scope()); };
  const Var x = tape.leaf(f64(1));
  CHECK(path(x).empty());
  {
    const Scope encoder = tape.scope("encoder");
    CHECK(path(exp(x)) == "encoder");
    {
      const Scope attn =
          tape.scope("attn", R"(\operatorname{attn}(@x))", R"(\operatorname{back}(@g))");
      const Scope q = tape.scope("q_proj");
      CHECK(path(exp(x)) == "encoder/attn/q_proj");
      CHECK(tape.scopes()[tape.current_scope()].name == "q_proj");
      CHECK(tape.scopes()[2].formula == R"(\operatorname{attn}(@x))");
      CHECK(tape.scopes()[2].rule == R"(\operatorname{back}(@g))");
      CHECK(tape.scopes()[3].rule.empty());
    }
    CHECK(path(exp(x)) == "encoder");
    const Scope again = tape.scope("attn");
    CHECK(path(exp(x)) == "encoder/attn");
  }
  CHECK(path(exp(x)).empty());
  CHECK(tape.current_scope() == 0);
  CHECK(tape.scopes().size() == 5);  // a scope that is opened twice counts twice
}

TEST_CASE("a scope can be moved and closes once") {
  MicroTape tape;
  {
    Scope outer = tape.scope("outer");
    Scope moved = std::move(outer);
    CHECK(tape.current_scope() == 1);
  }
  CHECK(tape.current_scope() == 0);
}

TEST_CASE("scopes that outlive a clear do not touch those that were opened since") {
  MicroTape tape;
  {
    const Scope a = tape.scope("a");
    auto b = std::make_unique<Scope>(tape.scope("b"));
    tape.clear();
    CHECK(tape.current_scope() == 0);
    CHECK(tape.scopes().size() == 1);
    {
      const Scope c = tape.scope("c");
      CHECK(tape.scope_path(tape.current_scope()) == "c");
    }
    // Bug: b took the tape back to scope 1, which is c now, and c is closed.
    b.reset();
    CHECK(tape.current_scope() == 0);
  }
  CHECK(tape.current_scope() == 0);
}

TEST_CASE("a recorded sweep puts its nodes in the scope of the node that it visits") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}));
  const Var y = [&] {
    const Scope scope = tape.scope("layer");
    return x * x;
  }();
  const Var loss = sum(y);
  const NodeId forward = tape.size();
  const Scope outside = tape.scope("outside");
  const Var dx = backward(loss, Record::yes)[x];
  CHECK(tape.scope_path(tape.current_scope()) == "outside");
  CHECK(tape.scope_path(tape.node(dx.node()).scope()) == "layer");
  int in_layer = 0;
  for (NodeId id = forward; id < tape.size(); ++id)
    in_layer += tape.scope_path(tape.node(id).scope()) == "layer";
  CHECK(in_layer == 3);  // two products and their sum
}

TEST_CASE("a scope may outlive its tape") {
  // Bug: the scope asked the tape, which was freed, for the scope to return to.
  auto tape = std::make_unique<MicroTape>();
  const Scope scope = tape->scope("a");
  tape.reset();
  MicroTape next;  // in the slot of the first
  const Scope other = next.scope("b");
  CHECK(next.scope_path(next.current_scope()) == "b");
}

TEST_CASE("scopes may be closed in any order") {
  // Bug: closing b, after a around it, opened a again, for good.
  MicroTape tape;
  auto a = std::make_unique<Scope>(tape.scope("a")), b = std::make_unique<Scope>(tape.scope("b"));
  a.reset();
  CHECK(tape.current_scope() == 0);
  auto c = std::make_unique<Scope>(tape.scope("c"));
  b.reset();
  CHECK(tape.scope_path(tape.current_scope()) == "c");
  c.reset();
  CHECK(tape.current_scope() == 0);
}

TEST_CASE("copies of a parameter are handles on one value") {
  const Parameter w("w", f64({1, 2}));
  const Parameter tied = w;
  tied.mutable_value() = f64({5, 6});
  CHECK(is(w.value(), {5, 6}));
  CHECK(w == tied);
  CHECK_FALSE(w == Parameter("w", f64({5, 6})));
  CHECK(tied.name() == "w");
}

TEST_CASE("a parameter that is watched twice is one leaf whose adjoints add up") {
  MicroTape tape;
  const Parameter w("w", f64({2, 3}));
  const Parameter tied = w;
  const Var a = tape.watch(w), b = tape.watch(tied);
  CHECK(a.node() == b.node());
  CHECK(tape.watched().size() == 1);
  const Gradients g = backward(sum(a * b));
  CHECK(is(g[w], {4, 6}));
  CHECK(is(g[tied], {4, 6}));
  CHECK(g.reached(w));
}

TEST_CASE("a tape keeps the value that a parameter had when it was first watched") {
  MicroTape tape;
  const Parameter w("w", f64({2, 3}));
  const Var x = tape.watch(w);
  const Var loss = sum(x * x * x);
  w.mutable_value().mutable_data<double>()[0] = 100;
  CHECK(is(w.value(), {100, 3}));
  CHECK(is(tape.watch(w), {2, 3}));
  CHECK(is(backward(loss)[w], {12, 27}));
  tape.clear();
  CHECK(is(tape.watch(w), {100, 3}));
}

TEST_CASE("a parameter that is bound is the Var that was given") {
  MicroTape tape;
  const Parameter w("w", f64({2, 3}));
  const Var x = tape.leaf(f64({10, 20}));
  const Var doubled = 2 * x;
  tape.bind(w, doubled);
  CHECK(tape.watch(w).node() == doubled.node());
  const Gradients g = backward(sum(tape.watch(w) * tape.watch(w)));
  CHECK(is(g[w], {40, 80}));
  CHECK(is(g[x], {80, 160}));
}

TEST_CASE("bind refuses what does not fit and what is watched already") {
  MicroTape tape, other;
  const Parameter w("w", f64({2, 3}));
  CHECK_THROWS_MATCHES(
      tape.bind(w, Var(f64({1, 2}))), TapeError, says("bind: x is not on this tape: parameter w"));
  CHECK_THROWS_MATCHES(tape.bind(w, other.leaf(f64({1, 2}))), TapeError,
      says("bind: x is not on this tape: parameter w"));
  CHECK_THROWS_MATCHES(tape.bind(w, tape.leaf(f64({1, 2, 3}))), ShapeError,
      says("bind: shapes differ: x [3], parameter w [2]; they must be equal"));
  CHECK_THROWS_MATCHES(tape.bind(w, tape.leaf(Tensor::of({1, 2}))), DTypeError,
      says("bind: dtypes differ: x float32, parameter w float64; they must be equal"));
  CHECK(tape.watched().empty());
  tape.watch(w);
  CHECK_THROWS_MATCHES(tape.bind(w, tape.leaf(f64({1, 2}))), TapeError,
      says("bind: the tape watches w already; bind before its first use"));
}

TEST_CASE("the gradient of a parameter that the tape did not watch is an error that names it") {
  MicroTape tape;
  const Parameter used("used", f64(1)), unused("unused", f64({1, 2})), idle("idle", f64({3, 4}));
  tape.watch(idle);
  const Var w = tape.watch(used);
  const Gradients g = backward(w * w);
  CHECK_THROWS_MATCHES(g[unused], TapeError,
      says("Gradients: the tape did not watch parameter unused [2]; only what was used has a "
           "gradient"));
  CHECK(is(g[idle], {0, 0}));
  CHECK_FALSE(g.reached(idle));
}
