// Scopes in a derivation: a line each, or unfolded.

#include <microtape/tape/ops.hpp>

#include "view/derivation_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

Var half(const Var& x, std::string_view rule) {
  const Scope scope = x.tape()->scope("half", R"(\frac{1}{2} @x)", rule);
  return (x + 0.0) / 2;
}

}  // namespace

TEST_CASE("a scope with a formula and a rule is one line until it is unfolded") {
  MicroTape tape;
  const Var x = tape.leaf(normal({3}, 1), "x");
  const Var y = half(exp(x), R"(\frac{1}{2} @g)").named("y");
  CHECK(derived(tape, y) == "y = exp(x) / 2\ngiven dy:\ndx = dy * exp(x) / 2\n");
  CHECK(derived(tape, y, {.scopes = ScopeLines::unfolded}) ==
        "y = (exp(x) + 0) / 2\ngiven dy:\ndx = dy * exp(x) / 2\n");
}

TEST_CASE("a scope without a rule is unfolded if an adjoint flows through it") {
  MicroTape tape;
  const Var x = tape.leaf(normal({3}, 1), "x"), c = tape.constant(normal({3}, 1), "c");
  CHECK(derived(tape, half(x, "").named("y")).starts_with("y = (x + 0) / 2\n"));
  CHECK(derived(tape, (half(c, "") * x).named("y")).starts_with("y = c * x / 2\n"));
}

TEST_CASE("a scope that y leaves in the middle is unfolded") {
  MicroTape tape;
  const Var x = tape.leaf(normal({3}, 1), "x");
  Var inner, result, two;
  {
    const Scope scope = tape.scope("f", R"(\operatorname{f}(@x))", R"(\operatorname{f}(@g))");
    inner = tanh(x).named("inner");
    result = exp(inner).named("result");
  }
  CHECK(derived(tape, inner).starts_with("inner = tanh(x)\n"));
  // Two results.
  CHECK(derived(tape, inner * result).starts_with("inner = tanh(x)\nresult = exp(inner)\n"));
  CHECK(to_text(derivation(tape, result)) == "result = f(x)\ngiven dresult:\ndx = f(dresult)\n");
}

TEST_CASE("a scope that reads two values is unfolded, and one inside it may still be a line") {
  MicroTape tape;
  const Var x = tape.leaf(normal({3}, 1), "x"), z = tape.leaf(normal({3}, 2), "z");
  const Var y = [&] {
    const Scope scope = tape.scope("f", R"(\operatorname{f}(@x))", R"(\operatorname{f}(@g))");
    return (half(x, R"(\frac{1}{2} @g)") * z).named("y");
  }();
  CHECK(derived(tape, y) == "y = x * z / 2\ngiven dy:\ndx = dy * z / 2\ndz = dy * x / 2\n");
}

TEST_CASE("of two scopes with a formula, one in the other, the outer one is the line") {
  MicroTape tape;
  const Var x = tape.leaf(normal({3}, 1), "x");
  const Var y = [&] {
    const Scope scope = tape.scope("f", R"(\operatorname{f}(@x))", R"(\operatorname{f}(@g))");
    return half(tanh(x), R"(\frac{1}{2} @g)").named("y");
  }();
  CHECK(to_text(derivation(tape, y)) == "y = f(x)\ngiven dy:\ndx = f(dy)\n");
}

TEST_CASE("a recorded sweep does not unfold the scopes that it goes through") {
  MicroTape tape;
  const Var x = tape.leaf(normal({3}, 1), "x");
  const Var y = sum(half(exp(x), R"(\frac{1}{2} @g)")).named("y");
  const std::string before = to_text(derivation(tape, y));
  backward(y, Record::yes);
  CHECK(to_text(derivation(tape, y)) == before);
  CHECK(before.starts_with("y = sum(exp(x)) / 2\n"));
}
