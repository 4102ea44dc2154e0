#include <microtape/tape/checkpoint.hpp>

#include <microtape/tape/gradcheck.hpp>
#include <microtape/tape/ops.hpp>
#include <microtape/tape/view/text.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

using Vars = std::span<const Var>;

/// Uses its argument three times.
Var thrice(const Var& x) { return tanh(x) * x + exp(-x) / 3; }

/// Runs f on a tape of either kind and gives the adjoints of all leaves and parameters.
template <class F>
std::vector<Tensor> gradients_of(F f, const std::vector<Tensor>& x, Keep keep) {
  MicroTape tape(keep);
  std::vector<Var> leaves;
  for (const Tensor& value : x) leaves.push_back(tape.leaf(value));
  const Gradients g = backward(sum(f(Vars(leaves))));
  std::vector<Tensor> out;
  for (const Var& leaf : leaves) out.push_back(g[leaf].value());
  for (const MicroTape::Watched& watched : tape.watched())
    out.push_back(g[watched.parameter].value());
  return out;
}

template <class F, class G>
void check_same(F plain, G with_checkpoint, const std::vector<Tensor>& x) {
  for (const Keep keep : {Keep::everything, Keep::needed}) {
    const std::vector<Tensor> expected = gradients_of(plain, x, keep);
    const std::vector<Tensor> got = gradients_of(with_checkpoint, x, keep);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(identical(got[i], expected[i]));
  }
}

const std::string kSomethingElse =
    "checkpoint: f computed something else the second time: y [2], before [2]; it must depend on "
    "nothing but its arguments and parameters";

}  // namespace

TEST_CASE("checkpoint gives the gradients of f to the bit, also where x is used in and outside") {
  const std::vector<Tensor> x{Tensor::randn({3, 4}, 1, float64), Tensor::randn({4}, 2, float64)};
  const auto f = [](Vars in) {
    const Var a = thrice(in[0]);
    return a * in[1] + in[0];
  };
  const auto outside = [](const Var& y, Vars in) {
    const Var e = exp(in[0]), q = square(in[0]);
    return y * e + q / in[1];
  };
  check_same([&](Vars in) { return outside(f(in), in); },
      [&](Vars in) { return outside(checkpoint(f, {in[0], in[1]}), in); }, x);
  // One Var in both places, and one checkpoint in another.
  check_same([&](Vars in) { return f(std::vector{in[1], in[1]}); },
      [&](Vars in) { return checkpoint(f, {in[1], in[1]}); }, x);
  check_same([&](Vars in) { return exp(f(in)) + in[1]; },
      [&](Vars in) {
        return checkpoint(
            [f](Vars a) { return exp(checkpoint(f, {a[0], a[1]})) + a[1]; }, {in[0], in[1]});
      },
      x);
}

TEST_CASE("checkpoint finds the parameters that f watches, and those bound to something else") {
  const Parameter w("w", Tensor::randn({4, 4}, 3, float64)), b("b", ramp({4}));
  const auto f = [w, b](const Var& x) {
    MicroTape* tape = x.tape();
    const Var h = tanh(matmul(x, tape->watch(w)) + tape->watch(b));
    return matmul(h, tape->watch(w));  // w twice
  };
  const auto again = [f](Vars in) { return f(in[0]); };
  const std::vector<Tensor> x{Tensor::randn({3, 4}, 1, float64)};
  check_same(
      [&](Vars in) {
        const Var twice = f(f(in[0]));
        return twice * f(in[0]);
      },
      [&](Vars in) {
        const Var twice = checkpoint(again, {checkpoint(again, {in[0]})});
        return twice * f(in[0]);
      },
      x);

  MicroTape tape;
  const Var bound = tape.leaf(Tensor::randn({4, 4}, 4, float64));
  tape.bind(w, bound);
  const Var at = tape.leaf(x[0]);
  const Var composed = f(at), y = checkpoint(again, {at});
  CHECK(identical(y, composed.value()));
  CHECK(identical(backward(sum(exp(y)))[bound], backward(sum(exp(composed)))[bound].value()));
}

TEST_CASE("a parameter changed between the two computations of a checkpoint changes nothing") {
  const Parameter w("w", f64({1, 2}));
  MicroTape tape(Keep::needed);
  const Var x = tape.leaf(f64({3, 4}));
  const Var y = checkpoint([w](Vars in) { return in[0].tape()->watch(w) * square(in[0]); }, {x});
  w.mutable_value() = f64({100, 100});
  const Gradients g = backward(sum(y));
  CHECK(is(g[x], {6, 16}));
  CHECK(is(g[w], {9, 16}));
}

TEST_CASE("f of a checkpoint runs once forward and once in each sweep") {
  int calls = 0;
  MicroTape tape(Keep::needed);
  const Var x = tape.leaf(f64({1, 2})), z = tape.leaf(f64({3, 4}));
  const Var y = checkpoint(
      [&calls](Vars in) {
        ++calls;
        return square(in[0]) * in[1];
      },
      {x, z});
  CHECK(calls == 1);
  backward(sum(y));
  CHECK(calls == 2);
  backward(sum(y));
  CHECK(calls == 3);
}

TEST_CASE("a tape keeps one node of a checkpoint, and the table names its inputs") {
  MicroTape tape;
  const Parameter w("w", f64({1, 2}));
  const Var x = tape.leaf(f64({1, 2}), "x"), c = tape.constant(f64({5, 6}), "c");
  const NodeId before = tape.size();
  const Var y =
      checkpoint([w](Vars in) { return exp(in[0].tape()->watch(w) * in[0]) + in[1]; }, {x, c});
  CHECK(tape.size() == before + 2);  // the parameter, y
  const Node& node = tape.node(y.node());
  CHECK(node.op() == "checkpoint");
  REQUIRE(node.edges().size() == 3);
  CHECK(node.edges()[0].is_active());
  CHECK_FALSE(node.edges()[1].is_active());
  CHECK(node.edges()[2].is_active());
  CHECK(to_text(tape).find("checkpoint(x, c, w)") != std::string::npos);
}

TEST_CASE("each contribution of a checkpoint is reported by the sweep, and the last completes") {
  MicroTape tape;
  const Var x = tape.leaf(f64(2)), z = tape.leaf(f64(5));
  const Var y = checkpoint([](Vars in) { return in[0] * in[0] + in[1]; }, {x, z});
  Sweep sweep(y, f64(1));
  const Sweep::Step step = sweep.step();
  REQUIRE(step.contributions.size() == 3);
  int complete = 0;
  Var sum_of_x;
  for (const Sweep::Contribution& part : step.contributions) {
    complete += part.complete;
    if (part.edge->input() == x.node()) sum_of_x = part.after;
  }
  CHECK(complete == 2);
  CHECK(step.contributions.back().complete);
  CHECK(sum_of_x.item() == 4);
  CHECK(sweep.done());
}

TEST_CASE("a checkpoint may return its argument, a parameter, or what depends on neither") {
  MicroTape tape;
  const Parameter w("w", f64({1, 2}));
  const Var x = tape.leaf(f64({1, 2}));
  CHECK(is(backward(sum(3 * checkpoint([](Vars in) { return in[0]; }, {x})))[x], {3, 3}));
  const Var y = checkpoint([w](Vars in) { return in[0].tape()->watch(w); }, {x});
  const Gradients g = backward(sum(2 * y));
  CHECK(is(g[w], {2, 2}));
  CHECK_FALSE(g.reached(x));
  CHECK_FALSE(checkpoint([](Vars) { return Var(f64(1)); }, {x}).is_active());
  // Without a tape it is f.
  CHECK(is(checkpoint([](Vars in) { return 2 * in[0]; }, {f64({1, 2})}), {2, 4}));
}

TEST_CASE("gradcheck passes a checkpoint at first order") {
  const GradcheckReport report = gradcheck(
      [](Vars in) {
        return checkpoint([](Vars a) { return thrice(a[0]) * a[1]; }, {in[0], in[1]}) * in[1];
      },
      {Tensor::randn({2, 3}, 5, float64), Tensor::randn({3}, 6, float64)}, {.order = 1});
  INFO(report.str());
  CHECK(report.passed());
}

TEST_CASE("a checkpoint says why it has no second derivative") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}));
  const Var y = sum(checkpoint([](Vars in) { return exp(in[0]); }, {x}));
  CHECK_THROWS_MATCHES(backward(y, Record::yes), TapeError,
      says(
          "checkpoint: its backward pass cannot be recorded: the tape has not kept the nodes of f; "
          "for second derivatives, compute f without checkpoint"));
}

TEST_CASE("what f of a checkpoint must not do is refused") {
  MicroTape tape, other;
  const Var x = tape.leaf(f64({1, 2}), "x"), z = other.leaf(f64({1, 2}));
  const auto identity = [](Vars in) { return in[0]; };
  const NodeId size = tape.size();
  CHECK_THROWS_MATCHES(checkpoint(identity, {}), ValueError,
      says("checkpoint: no arguments: there must be at least one"));
  CHECK_THROWS_MATCHES(checkpoint(identity, {x, z}), TapeError,
      says("checkpoint: the inputs stand on two tapes; put all of them on one"));
  CHECK_THROWS_MATCHES(checkpoint([x](Vars in) { return in[0] * x; }, {x}), TapeError,
      says("mul: the inputs stand on two tapes; put all of them on one"));
  CHECK_THROWS_MATCHES(checkpoint([x](Vars) { return x; }, {x}), TapeError,
      says("checkpoint: f returned a Var of another tape: it captured one; f takes every Var as an "
           "argument"));
  CHECK(tape.size() == size);

  // A function that is not the same the second time.
  int calls = 0;
  const auto changing = [&calls](auto second) {
    calls = 0;
    return [&calls, second](Vars in) { return calls++ == 0 ? exp(in[0]) : second(in); };
  };
  const Parameter w("w", f64({1, 2}));
  std::uint64_t draws = 0;
  const auto fails_with = [&](auto f, const std::string& text) {
    const Var y = sum(checkpoint(f, {x}));
    CHECK_THROWS_MATCHES(backward(y), TapeError, says(text));
  };
  fails_with(changing([](Vars) { return Var(f64({1, 2})); }), kSomethingElse);
  fails_with(changing([w](Vars in) { return in[0].tape()->watch(w) * in[0]; }), kSomethingElse);
  fails_with(changing([](Vars in) { return sum(in[0]); }),
      "checkpoint: f computed something else the second time: y [], before [2]; it must depend on "
      "nothing but its arguments and parameters");
  fails_with(changing([&draws](Vars in) {
    in[0].tape()->next_draw(draws);
    return in[0];
  }),
      "checkpoint: f drew more random numbers the second time; it must depend on nothing but its "
      "arguments and parameters");
  CHECK(draws == 0);

  // Bug: the node stood on an empty tape, and its edges led nowhere.
  const auto clears = [&](Vars) { return tape.clear(), Var(f64({1, 2})); };
  CHECK_THROWS_MATCHES(checkpoint(clears, {x}), TapeError,
      says("checkpoint: x is from a tape that was cleared or destroyed since; compute it again"));
  CHECK(tape.size() == 0);
}

TEST_CASE("f of a checkpoint must draw as often the second time") {
  // Bug: only more draws were refused; fewer, as after eval(), gave wrong gradients.
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}));
  std::uint64_t draws = 0;
  int calls = 0;
  const Var y = checkpoint(
      [&](Vars in) {
        if (calls++ == 0) in[0].tape()->next_draw(draws);
        return exp(in[0]);
      },
      {x});
  CHECK_THROWS_MATCHES(backward(sum(y)), TapeError, says(kSomethingElse));
}

TEST_CASE("a parameter that is bound to a constant gets no adjoint from a checkpoint") {
  // Bug: its place among the nodes was looked up, though it has none, and written to.
  for (const Keep keep : {Keep::everything, Keep::needed}) {
    MicroTape tape(keep);
    const Parameter w("w", f64({1, 2}));
    tape.bind(w, tape.constant(f64({5, 6})));
    const Var x = tape.leaf(f64({1, 2}));
    const Var y = checkpoint([w](Vars in) { return in[0].tape()->watch(w) * in[0]; }, {x});
    CHECK(is(y, {5, 12}));
    CHECK(is(backward(sum(y))[x], {5, 6}));
  }
}

TEST_CASE("a checkpoint of plain arguments refuses a captured Var too") {
  // Bug: the Var lost its tape, and its gradient was gone.
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}));
  CHECK_THROWS_AS(checkpoint([x](Vars in) { return in[0] * x; }, {f64({1, 2})}), TapeError);
}

TEST_CASE("an error of f in a checkpoint tells the scope outside, and that inside") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}));
  int calls = 0;
  const auto fail = [&calls](int at) {
    return [&calls, at](Vars in) {
      const Scope scope = in[0].tape()->scope("inner");
      return calls++ == at ? matmul(in[0], in[0]) : exp(in[0]);
    };
  };
  const std::string text =
      "in outer/inner: matmul: needs matrices: a [2] has rank 1, b [2] has rank 1; both need rank "
      "2 or more; reshape it to [1, 2] or [2, 1]";
  const Scope scope = tape.scope("outer");
  CHECK_THROWS_MATCHES(checkpoint(fail(0), {x}), ShapeError, says(text));
  calls = 0;
  const Var y = sum(checkpoint(fail(1), {x}));
  CHECK_THROWS_MATCHES(backward(y), ShapeError, says(text));
}
