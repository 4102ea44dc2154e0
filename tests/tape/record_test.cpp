// Ops of the user's own, right ones and wrong ones.

#include <microtape/tape/record.hpp>

#include <optional>

#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/tape/gradcheck.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

/// x^2 with a rule that is any function of g and x.
template <class Rule>
Var square_with(const Var& x, Rule rule) {
  return record({"square", "@x^{2}"}, [&] { return kernels::mul(x.value(), x.value()); },
      {
          {"x", x, R"(2 @g \odot @x)", std::move(rule)},
      });
}

Var own_square(const Var& x) {
  return square_with(x, [x](const Var& g) { return 2 * g * x; });
}

Var times_result(const Var& g, const Var& y) { return g * y; }

}  // namespace

TEST_CASE("an op of the user's own is differentiated twice like any other") {
  const GradcheckReport report = gradcheck(
      [](std::span<const Var> x) { return own_square(x[0]) * x[1]; }, {ramp({2, 3}), ramp({3})});
  INFO(report.str());
  CHECK(report.passed());
}

TEST_CASE("a rule may take the result, and gets it on either kind of tape") {
  for (const Keep keep : {Keep::everything, Keep::needed}) {
    MicroTape tape(keep);
    const Var x = tape.leaf(f64({0, 1}));
    const Var y =
        record({"my_exp", R"(\operatorname{exp}(@x))"}, [&] { return kernels::exp(x.value()); },
            {{"x", x, R"(@g \odot @y)", [](const Var& g, const Var& value) { return g * value; }}});
    CHECK(tape.node(y.node()).has_value());
    CHECK(identical(backward(y, f64({1, 1}))[x], y.value()));
  }
}

TEST_CASE("a rule may be a function that has a name") {
  MicroTape tape;
  const Var x = tape.leaf(f64({0, 1}));
  const auto my_exp = [&](auto&& rule) {
    return record({"my_exp", R"(\operatorname{exp}(@x))"}, [&] { return kernels::exp(x.value()); },
        {{"x", x, R"(@g \odot @y)", rule}});
  };
  const Var y = my_exp(times_result), z = my_exp(&times_result);
  CHECK(identical(backward(y, f64({1, 1}))[x], y.value()));
  CHECK(identical(backward(z, f64({1, 1}))[x], z.value()));
}

TEST_CASE("a rule that overwrites its g spoils no other adjoint") {
  const auto in_place = [](Var g) {
    Tensor numbers = std::move(g).value();
    for (double& number : numbers.mutable_data<double>()) number *= 3;
    return Var(numbers);
  };
  for (const Keep keep : {Keep::everything, Keep::needed}) {
    MicroTape tape(keep);
    const Var x = tape.leaf(f64({1, 2})), z = tape.leaf(f64({1, 2}));
    const Var y = record({"triple", "3 @x"}, [&] { return kernels::scale(x.value(), 3); },
        {{"x", x, "3 @g", in_place}});
    const Tensor seed = f64({1, 10});
    const Gradients g = backward(y + z, seed);  // add hands the same g to both
    CHECK(is(g[x], {3, 30}));
    CHECK(is(g[z], {1, 10}));
    CHECK(is(seed, {1, 10}));
    if (keep == Keep::everything) CHECK(is(g[y], {1, 10}));
  }
}

TEST_CASE("a training tape gives a rule that takes g by value the only handle on it") {
  MicroTape tape(Keep::needed);
  const Var x = tape.leaf(ramp({64}));
  const void* before = nullptr;
  const void* after = nullptr;
  const Var y = record(
      {"keep", "@x"}, [&] { return x.value(); }, {{"x", x, "@g", [&](Var g) {
                                                     Tensor numbers = std::move(g).value();
                                                     before = numbers.raw();
                                                     after = numbers.mutable_data<double>().data();
                                                     return Var(numbers);
                                                   }}});
  backward(sum(2 * y));
  CHECK(before != nullptr);
  CHECK(before == after);
}

TEST_CASE("an input without a rule may be int64, is listed, and carries no adjoint") {
  MicroTape tape;
  const Tensor at = i64({1, 0});
  const Var x = tape.leaf(f64({2, 3})), i = tape.constant(at, "i");
  const auto pick = [&] {
    return record({"pick", R"(\operatorname{where}(@i, @x, 0))"},
        [&] { return kernels::where(at, x.value(), Tensor::zeros({2}, float64)); },
        {
            {"i", i},
            {"x", x, R"(\operatorname{where}(@i, @g, 0))",
                [i](const Var& g) { return where(i, g, 0); }},
        });
  };
  const Var y = pick();
  const Node& node = tape.node(y.node());
  REQUIRE(node.edges().size() == 2);
  CHECK(node.edges()[0].input() == i.node());
  CHECK_FALSE(node.edges()[0].is_active());
  CHECK(node.edges()[0].formula().empty());
  CHECK(is(backward(y, f64({5, 7}))[x], {5, 0}));
}

TEST_CASE("rules that return what does not fit their input are refused in the form of the house") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}));
  const std::string rule = "; a rule returns the adjoint of its input, of its shape and dtype";
  const Var none = square_with(x, [](const Var&) { return Var(); });
  CHECK_THROWS_MATCHES(backward(sum(none)), TapeError,
      says("backward: square: the rule of x returned no value" + rule));
  const Var small = square_with(x, [](const Var& g) { return sum(g); });
  CHECK_THROWS_MATCHES(backward(sum(small)), ShapeError,
      says("backward: square: the rule of x returned shape [] for an input of shape [2]" + rule));
  const Var single = square_with(x, [](const Var& g) { return Var(g.value().to(float32)); });
  CHECK_THROWS_MATCHES(backward(sum(single)), DTypeError,
      says("backward: square: the rule of x returned float32 for an input of float64" + rule));
  const Var wrong = [&] {
    const Scope scope = tape.scope("mine");
    return square_with(x, [](const Var& g) { return sum(g); });
  }();
  CHECK_THROWS_MATCHES(backward(sum(wrong)), ShapeError,
      says("in mine: backward: square: the rule of x returned shape [] for an input of shape [2]" +
           rule));
}

TEST_CASE("a training tape knows the shape that a rule must return without keeping the value") {
  MicroTape tape(Keep::needed);
  const Var x = tape.leaf(f64({1, 2}));
  const Var inner = x + 1;  // its value is not kept
  const Var y = square_with(inner, [](const Var& g) { return sum(g); });
  CHECK_FALSE(tape.node(inner.node()).has_value());
  CHECK_THROWS_AS(backward(sum(y)), ShapeError);
}

TEST_CASE("an exception out of a rule leaves the tape as it was and usable") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}));
  bool fails = true;
  const Var y = [&] {
    const Scope scope = tape.scope("inner");
    return square_with(x, [&fails, x](const Var& g) {
      if (fails) throw std::runtime_error("no");
      return 2 * g * x;
    });
  }();
  const Var loss = sum(y);
  const Scope scope = tape.scope("outer");
  for (const Record record : {Record::no, Record::yes}) {
    fails = true;
    const NodeId size = tape.size();
    CHECK_THROWS_MATCHES(backward(loss, record), std::runtime_error, says("no"));
    CHECK(tape.is_recording());
    CHECK(tape.scope_path(tape.current_scope()) == "outer");
    if (record == Record::no) CHECK(tape.size() == size);
    fails = false;
    CHECK(is(backward(loss, record)[x], {2, 4}));
    const NodeId next = tape.size();
    CHECK(exp(x).node() == next);
  }
}

TEST_CASE("an error of an op in a rule tells the scope of the node that it belongs to") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}));
  const Var y = [&] {
    const Scope scope = tape.scope("attn");
    return square_with(x, [](const Var& g) { return matmul(g, g); });
  }();
  CHECK_THROWS_MATCHES(backward(sum(y)), ShapeError,
      says("in attn: matmul: needs matrices: a [2] has rank 1, b [2] has rank 1; both need rank 2 "
           "or more; "
           "reshape it to [1, 2] or [2, 1]"));
}

TEST_CASE("an error in the forward computation records nothing") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}));
  const auto failing = [&]() -> Tensor { throw ValueError("mine: no"); };
  const auto run = [&] { return record({"mine", "@x"}, failing, {{"x", x}}); };
  CHECK_THROWS_MATCHES(run(), ValueError, says("mine: no"));
  const Scope scope = tape.scope("here");
  CHECK_THROWS_MATCHES(run(), ValueError, says("in here: mine: no"));
  CHECK(tape.size() == 1);
}

TEST_CASE("the forward computation may neither clear its tape nor end it") {
  // Bug: the node's edges led to nodes that were gone.
  std::optional<MicroTape> tape(std::in_place);
  const auto run = [&](auto end) {
    const Var x = tape->leaf(f64({1, 2}));
    const Scope scope = tape->scope("here");
    const auto forward = [&] { return end(), f64({1, 2}); };
    CHECK_THROWS_MATCHES(record({"mine", "@x"}, forward, {{"x", x}}), TapeError,
        says("mine: x is from a tape that was cleared or destroyed since; compute it again"));
  };
  run([&] { tape->clear(); });
  CHECK(tape->size() == 0);
  run([&] { tape.reset(); });
}

TEST_CASE("a recorded rule that returns a Var of another tape is refused") {
  // Bug: its node number was looked up on the tape of the sweep: a wrong node, or none.
  MicroTape tape, other;
  const Var x = tape.leaf(f64(2), "x");
  Var foreign = other.leaf(f64(7));
  for (int i = 0; i < 5; ++i) foreign = foreign + 1;
  const Var y = square_with(x, [foreign](const Var&) { return foreign; });
  CHECK_THROWS_MATCHES(backward(y, Record::yes), TapeError,
      says("backward: square: the rule of x returned a Var of another tape; a rule returns the "
           "adjoint of its input, of its shape and dtype"));
  CHECK(is(backward(y)[x], 12));  // not recorded, its number is taken
}

TEST_CASE("a rule may not clear its own tape") {
  // Bug: it destroyed itself while it ran, and the sweep then set a scope that was gone.
  MicroTape tape;
  const Scope scope = tape.scope("here");
  const Var x = tape.leaf(f64({1, 2}));
  const Var y = square_with(x, [x, &tape](const Var& g) {
    tape.clear();
    return 2 * g * x;
  });
  CHECK_THROWS_MATCHES(backward(sum(y)), TapeError,
      says("in here: clear: a rule of this tape is running; clear it after the sweep"));
  CHECK(is(backward(sum(x * x))[x], {2, 4}));
  tape.clear();
  CHECK(tape.size() == 0);
  CHECK(tape.current_scope() == 0);
}
