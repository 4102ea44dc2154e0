#include "tape/op_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

const Tensor kX = f64({{1, 2, 3}, {4, 5, 6}});

/// The op of the newest node.
std::string_view newest(const MicroTape& tape) { return tape.node(tape.size() - 1).op(); }

}  // namespace

TEST_CASE("broadcast_to repeats without copying and its adjoint sums what was repeated") {
  MicroTape tape;
  const Var x = tape.leaf(f64({{1}, {2}}));
  const Var y = broadcast_to(x, {2, 2, 3});
  CHECK(is(y, {{{1, 1, 1}, {2, 2, 2}}, {{1, 1, 1}, {2, 2, 2}}}));
  CHECK(y.value().shares_memory_with(x.value()));
  CHECK(is(backward(y, ramp({2, 2, 3}))[x], {{30}, {48}}));  // 1+2+3+7+8+9, 4+5+6+10+11+12
}

TEST_CASE("sum_to sums down and its adjoint repeats") {
  const Pulled p = pull([](const Var& x) { return sum_to(x, {1, 3}); }, kX, f64({{1, 2, 3}}));
  CHECK(is(p.y, {{5, 7, 9}}));
  CHECK(is(p.dx, {{1, 2, 3}, {1, 2, 3}}));
}

TEST_CASE("reshape keeps the order of the numbers, in the adjoint too") {
  const Pulled p =
      pull([](const Var& x) { return reshape(x, {3, -1}); }, kX, f64({{1, 2}, {3, 4}, {5, 6}}));
  CHECK(is(p.y, {{1, 2}, {3, 4}, {5, 6}}));
  CHECK(is(p.dx, {{1, 2, 3}, {4, 5, 6}}));
}

TEST_CASE("what changes nothing records nothing") {
  MicroTape tape;
  const Var x = tape.leaf(kX);
  const NodeId size = tape.size();
  CHECK(reshape(x, {2, 3}).node() == x.node());
  CHECK(reshape(x, {-1, 3}).node() == x.node());  // Bug: an inferred extent recorded a node
  CHECK(broadcast_to(x, {2, 3}).node() == x.node());
  CHECK(sum_to(x, {2, 3}).node() == x.node());
  CHECK(tape.size() == size);
}

TEST_CASE("a reshape records the extents that were inferred") {
  MicroTape tape;
  const Var y = reshape(tape.leaf(kX), {3, -1});
  CHECK(tape.node(y.node()).attributes()[0].list() == Indices{3, 2});
}

TEST_CASE("permute and its adjoint undo each other for orders that are not their own inverse") {
  const Pulled p =
      pull([](const Var& x) { return permute(x, {1, 2, 0}); }, ramp({2, 3, 1}), ramp({3, 1, 2}));
  CHECK(is(p.y, {{{1, 4}}, {{2, 5}}, {{3, 6}}}));
  CHECK(is(p.dx, {{{1}, {3}, {5}}, {{2}, {4}, {6}}}));
  const Pulled t =
      pull([](const Var& x) { return transpose(x); }, kX, f64({{1, 2}, {3, 4}, {5, 6}}));
  CHECK(is(t.y, {{1, 4}, {2, 5}, {3, 6}}));
  CHECK(is(t.dx, {{1, 3, 5}, {2, 4, 6}}));
}

TEST_CASE("slice and unslice are adjoint to each other") {
  const Pulled s = pull([](const Var& x) { return slice(x, 1, 1, 3); }, kX, f64({{7, 8}, {9, 10}}));
  CHECK(is(s.y, {{2, 3}, {5, 6}}));
  CHECK(is(s.dx, {{0, 7, 8}, {0, 9, 10}}));
  const Pulled u = pull([](const Var& x) { return unslice(x, 0, 1, 4); }, kX, ramp({4, 3}));
  CHECK(is(u.y, {{0, 0, 0}, {1, 2, 3}, {4, 5, 6}, {0, 0, 0}}));
  CHECK(is(u.dx, {{4, 5, 6}, {7, 8, 9}}));
}

TEST_CASE("an empty slice is empty and its adjoint is 0") {
  const Pulled s = pull([](const Var& x) { return slice(x, 1, 2, 2); }, kX);
  CHECK(s.y.shape() == Shape{2, 0});
  CHECK(is(s.dx, {{0, 0, 0}, {0, 0, 0}}));
}

TEST_CASE("concat puts parts of unequal extents in order and gives each its piece of the adjoint") {
  MicroTape tape;
  const Var a = tape.leaf(f64({{1}, {2}})), b = tape.leaf(f64({{3, 4}, {5, 6}})),
            c = tape.leaf(Tensor::zeros({2, 0}, float64));
  const Var y = concat({a, b, c, a}, 1);
  CHECK(is(y, {{1, 3, 4, 1}, {2, 5, 6, 2}}));
  const Gradients g = backward(y, ramp({2, 4}));
  CHECK(is(g[a], {{5}, {13}}));  // 1 + 4, 5 + 8: used twice
  CHECK(is(g[b], {{2, 3}, {6, 7}}));
  CHECK(g[c].shape() == Shape{2, 0});
}

TEST_CASE("stack makes a new axis anywhere and gives each part its layer of the adjoint") {
  MicroTape tape;
  const Var a = tape.leaf(f64({1, 2})), b = tape.leaf(f64({3, 4})), c = tape.leaf(f64({5, 6}));
  CHECK(is(stack({a, b, c}, 0), {{1, 2}, {3, 4}, {5, 6}}));
  const Var y = stack({a, b, c}, -1);
  CHECK(is(y, {{1, 3, 5}, {2, 4, 6}}));
  const Gradients g = backward(y, f64({{10, 20, 30}, {40, 50, 60}}));
  CHECK(is(g[a], {10, 40}));
  CHECK(is(g[b], {20, 50}));
  CHECK(is(g[c], {30, 60}));
  CHECK(is(stack({Var(f64(1)), Var(f64(2))}, 0), {1, 2}));  // of scalars
}

TEST_CASE("ops that only move numbers take int64 and leave it inactive") {
  MicroTape tape;
  const Var x = tape.constant(i64({{1, 2, 3}, {4, 5, 6}}));
  for (const Var& y : {reshape(x, {3, 2}), transpose(x), slice(x, 1, 0, 2),
           broadcast_to(x, {2, 2, 3}), concat({x, x}, 0), stack({x, x}, 0), permute(x, {1, 0}),
           detach(x), unslice(x, 0, 0, 3)}) {
    CHECK(y.dtype() == int64);
    CHECK_FALSE(tape.node(y.node()).is_active());
  }
}

TEST_CASE("detach keeps the numbers and cuts the history") {
  MicroTape tape;
  const Var x = tape.leaf(f64({2, 3}));
  const Var y = detach(x);
  CHECK(newest(tape) == "detach");
  CHECK_FALSE(tape.node(y.node()).is_active());
  CHECK(tape.node(y.node()).edges()[0].input() == x.node());
  CHECK(y.value().shares_memory_with(x.value()));
  CHECK(is(backward(sum(x * y))[x], {2, 3}));  // not 2x
  Tensor copy = y.value();
  copy.mutable_data<double>()[0] = 99;
  CHECK(is(x, {2, 3}));
  CHECK(is(y, {2, 3}));
}
