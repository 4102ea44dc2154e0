// Ops whose inputs share one rule.

#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/tape/gradcheck.hpp>
#include <microtape/tape/ops.hpp>

#include "tape/counted.hpp"
#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

using Parts = std::vector<Part>;

/// a b with any rule for both.
template <class Rule>
Var mul_with(const Var& a, const Var& b, Rule&& rule) {
  const RuleRef joint(rule);
  return record({"my_mul", R"(@a \odot @b)"}, [&] { return kernels::mul(a.value(), b.value()); },
      {
          {"a", a, R"(@g \odot @b)", joint},
          {"b", b, R"(@g \odot @a)", joint},
      });
}

Var my_mul(const Var& a, const Var& b) {
  return mul_with(a, b, [a, b](const Var& g) { return Parts{{0, g * b}, {1, g * a}}; });
}

}  // namespace

TEST_CASE("one joint rule serves all inputs of an op, and is differentiated like any other") {
  const GradcheckReport report =
      gradcheck([](std::span<const Var> x) { return my_mul(x[0], x[1]) * my_mul(x[1], x[1]); },
          {ramp({2, 3}), ramp({2, 3}, -1, 0.5)});
  INFO(report.str());
  CHECK(report.passed());
}

TEST_CASE("a joint rule passes on only what an active input is to get") {
  for (const Keep keep : {Keep::everything, Keep::needed}) {
    MicroTape tape(keep);
    const Var c = tape.constant(f64({2, 3})), x = tape.leaf(f64({5, 7}));
    CHECK(is(backward(sum(my_mul(c, x)))[x], {2, 3}));
    CHECK(is(backward(sum(my_mul(x, c)))[x], {2, 3}));
    CHECK(is(backward(sum(my_mul(x, x)))[x], {10, 14}));
  }
}

TEST_CASE("a joint rule may take the result, and stand beside a rule of one input") {
  for (const Keep keep : {Keep::everything, Keep::needed}) {
    MicroTape tape(keep);
    const Var a = tape.leaf(f64({1, 2})), b = tape.leaf(f64({3, 4})), c = tape.leaf(f64({0, 0}));
    const auto rule = [counted = Counted()](
                          const Var& g, const Var& y) { return Parts{{2, g * y}, {0, -g}}; };
    const RuleRef joint(rule);
    const Var y = record({"mine", "@a"}, [&] { return f64({10, 20}); },
        {
            {"a", a, "", joint},
            {"b", b, "2 @g", [counted = Counted()](const Var& g) { return 2 * g; }},
            {"c", c, "", joint},
        });
    const Gradients g = backward(sum(y));
    CHECK(is(g[a], {-1, -1}));
    CHECK(is(g[b], {2, 2}));
    CHECK(is(g[c], {10, 20}));
    CHECK(Counted::alive == 3);
    tape.clear();
    CHECK(Counted::alive == 1);
  }
}

TEST_CASE("the parts of a joint rule are added in their order, and the last one completes") {
  MicroTape tape;
  const Var a = tape.leaf(f64(1)), b = tape.leaf(f64(1));
  const Var y = mul_with(a, b, [](const Var&) {
    return Parts{{1, f64(1)}, {0, f64(1e16)}, {1, f64(2)}, {0, f64(1)}, {0, f64(-1e16)}};
  });
  Sweep sweep(y, f64(1));
  const Sweep::Step step = sweep.step();
  REQUIRE(step.contributions.size() == 5);
  std::vector<bool> complete;
  for (const Sweep::Contribution& part : step.contributions) complete.push_back(part.complete);
  CHECK(complete == std::vector<bool>{false, false, true, false, true});
  CHECK(sweep.adjoint(a.node()).item() == 0);  // (1e16 + 1) - 1e16
  CHECK(sweep.adjoint(b.node()).item() == 3);
  // The same without counting.
  CHECK(backward(y, f64(1))[b].item() == 3);
}

TEST_CASE("a joint rule lives once, as long as its node") {
  CHECK(Counted::alive == 0);
  {
    MicroTape tape;
    const Var x = tape.leaf(f64(1)), c = tape.constant(f64(1));
    const auto rule = [counted = Counted()](const Var& g) { return Parts{{0, g}, {1, g}}; };
    mul_with(x, x, rule);
    CHECK(Counted::alive == 2);
    mul_with(c, x, rule);
    CHECK(Counted::alive == 3);
    mul_with(c, c, rule);
    CHECK(Counted::alive == 3);
    tape.clear();
    CHECK(Counted::alive == 1);
  }
  CHECK(Counted::alive == 0);
}

TEST_CASE("a joint rule that leaves an input out, or does not fit it, is refused") {
  MicroTape tape;
  const Var a = tape.leaf(f64({1, 2})), b = tape.leaf(f64({3, 4}));
  const std::string end = "; a rule returns the adjoint of its input, of its shape and dtype";
  const auto fails_with = [&](auto rule, const std::string& text) {
    CHECK_THROWS_MATCHES(backward(sum(mul_with(a, b, rule))), Error, says(text + end));
  };
  fails_with([](const Var& g) { return Parts{{0, g}}; },
      "backward: my_mul: the rule of b returned no value");
  fails_with([](const Var& g) { return Parts{{0, g}, {1, Var()}}; },
      "backward: my_mul: the rule of b returned no value");
  fails_with([](const Var& g) { return Parts{{1, g}, {0, sum(g)}}; },
      "backward: my_mul: the rule of a returned shape [] for an input of shape [2]");
  fails_with([](const Var& g) { return Parts{{0, g}, {2, g}}; },
      "backward: my_mul: the rule of b returned no value");
}
