// What the ops that move numbers refuse, to the letter.

#include "tape/refusal.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

const Tensor kX = ramp({2, 3});

}  // namespace

TEST_CASE("broadcast_to and sum_to refuse shapes that do not fit") {
  const auto widen = [](const Tensor& x, const Shape& shape) {
    return [=](const Make& make) { broadcast_to(make(x), shape); };
  };
  const auto narrow = [](const Shape& shape) {
    return [=](const Make& make) { sum_to(make(kX), shape); };
  };
  check_refused({
      refusal<ShapeError>(widen(kX, {3}),
          "broadcast_to: does not fit: x [2, 3] to [3]; each axis, counted from the right, must be "
          "equal, "
          "1 or missing in x"),
      refusal<ShapeError>(widen(kX, {2, 1}),
          "broadcast_to: does not fit: x [2, 3] to [2, 1]; each axis, counted from the right, must "
          "be "
          "equal, 1 or missing in x"),
      refusal<ShapeError>(narrow({2}),
          "sum_to: does not fit: x [2, 3] to [2]; each axis, counted from the right, must be as in "
          "x, 1 "
          "or missing"),
      refusal<ShapeError>(narrow({4, 2, 3}),
          "sum_to: does not fit: x [2, 3] to [4, 2, 3]; each axis, counted from the right, must be "
          "as in "
          "x, 1 or missing"),
  });
}

TEST_CASE("reshape refuses what does not have as many elements") {
  const auto to = [](const Indices& extents) {
    return [=](const Make& make) { reshape(make(kX), extents); };
  };
  check_refused({
      refusal<ShapeError>(to({4}),
          "reshape: cannot turn x [2, 3] into [4]: 6 elements are not 4; the number of elements "
          "must stay "
          "the same"),
      refusal<ShapeError>(to({4, -1}),
          "reshape: cannot turn x [2, 3] into [4, -1]: 6 elements do not fill rows of 4; the "
          "extents but "
          "-1 must divide the number of elements"),
      refusal<ShapeError>(to({-1, -1}),
          "reshape: cannot turn x [2, 3] into [-1, -1]: two extents are -1; at most one can be "
          "inferred"),
  });
}

TEST_CASE("permute and transpose refuse what is no permutation and no matrix") {
  const auto by = [](const Indices& order) {
    return [=](const Make& make) { permute(make(kX), order); };
  };
  check_refused({
      refusal<ValueError>(by({0, 0}),
          "permute: not a permutation: order [0, 0], x [2, 3]; name each of the 2 axes once"),
      refusal<ValueError>(
          by({0}), "permute: not a permutation: order [0], x [2, 3]; name each of the 2 axes once"),
      refusal<ValueError>(by({0, 1, -1}),
          "permute: not a permutation: order [0, 1, -1], x [2, 3]; name each of the 2 axes once"),
      refusal<IndexError>(
          by({0, 2}), "permute: axis 2 does not exist: x [2, 3] has rank 2; axes are -2 .. 1"),
      refusal<ShapeError>([](const Make& make) { transpose(make(ramp({3}))); },
          "transpose: no matrix: x [3] has rank 1; needs rank 2 or more"),
  });
}

TEST_CASE("slice and unslice refuse what lies outside the axis") {
  const auto cut = [](Index axis, Index start, Index stop) {
    return [=](const Make& make) { slice(make(kX), axis, start, stop); };
  };
  const auto pad = [](Index axis, Index start, Index extent) {
    return [=](const Make& make) { unslice(make(kX), axis, start, extent); };
  };
  const std::string rule = "; needs 0 <= start <= stop <= 3";
  check_refused({
      refusal<IndexError>(
          cut(2, 0, 1), "slice: axis 2 does not exist: x [2, 3] has rank 2; axes are -2 .. 1"),
      refusal<IndexError>(
          cut(-1, 0, 4), "slice: outside the axis: x [2, 3], axis 1, indices 0 to 4" + rule),
      refusal<IndexError>(
          cut(1, -1, 2), "slice: outside the axis: x [2, 3], axis 1, indices -1 to 2" + rule),
      refusal<IndexError>(
          cut(1, 2, 1), "slice: outside the axis: x [2, 3], axis 1, indices 2 to 1" + rule),
      refusal<IndexError>(
          pad(-3, 0, 4), "unslice: axis -3 does not exist: x [2, 3] has rank 2; axes are -2 .. 1"),
      refusal<IndexError>(pad(1, 2, 4),
          "unslice: outside the axis: x [2, 3] at 2 of axis 1 ends at 5; needs 0 <= start and an "
          "end of "
          "at most 4"),
      refusal<IndexError>(pad(1, -1, 4),
          "unslice: outside the axis: x [2, 3] at -1 of axis 1 ends at 2; needs 0 <= start and an "
          "end of "
          "at most 4"),
  });
}

TEST_CASE("concat and stack refuse parts that do not stand side by side") {
  const auto joined = [](const Tensor& a, const Tensor& b, Index axis) {
    return [=](const Make& make) { concat({make(a), make(b)}, axis); };
  };
  const auto stacked = [](const Tensor& a, const Tensor& b, Index axis) {
    return [=](const Make& make) { stack({make(a), make(b)}, axis); };
  };
  check_refused({
      refusal<ShapeError>(joined(kX, ramp({2, 4}), 0),
          "concat: the parts do not fit: part 0 [2, 3], part 1 [2, 4]; all but axis 0 must be "
          "equal"),
      refusal<ShapeError>(joined(kX, ramp({3}), 1),
          "concat: the parts do not fit: part 0 [2, 3], part 1 [3]; all but axis 1 must be equal"),
      refusal<IndexError>(joined(kX, kX, 2),
          "concat: axis 2 does not exist: x [2, 3] has rank 2; axes are -2 .. 1"),
      refusal<DTypeError>(joined(kX, kX.to(float32), 0),
          "concat: dtypes differ: part 0 float64, part 1 float32; convert one with to(float64)"),
      refusal<ShapeError>(stacked(kX, ramp({2, 4}), 0),
          "stack: the parts do not fit: part 0 [2, 3], part 1 [2, 4]; all must be equal"),
      refusal<DTypeError>(stacked(kX, kX.to(float32), 0),
          "stack: dtypes differ: part 0 float64, part 1 float32; convert one with to(float64)"),
  });
  CHECK_THROWS_MATCHES(
      concat({}, 0), ValueError, says("concat: no parts: there must be at least one"));
  CHECK_THROWS_MATCHES(
      stack({}, 0), ValueError, says("stack: no parts: there must be at least one"));
}

TEST_CASE("an axis of stack counts among those of the result") {
  const auto stacked = [](Index axis) {
    return [=](const Make& make) { stack({make(kX)}, axis); };
  };
  CHECK(stack({Var(kX)}, 2).shape() == Shape{2, 3, 1});
  CHECK(stack({Var(kX)}, -3).shape() == Shape{1, 2, 3});
  check_refused({refusal<IndexError>(
      stacked(3), "stack: axis 3 does not exist: x [2, 3, 1] has rank 3; axes are -3 .. 2")});
}

TEST_CASE("concat finds the open scope by any part that stands on a tape") {
  MicroTape tape;
  const Var x = tape.leaf(kX);
  const Scope scope = tape.scope("merge");
  CHECK_THROWS_MATCHES(concat({Var(ramp({2, 4})), x}, 0), ShapeError,
      says("in merge: concat: the parts do not fit: part 0 [2, 4], part 1 [2, 3]; all but axis 0 "
           "must "
           "be equal"));
}

TEST_CASE("indices and extents near the largest integer are refused without overflow") {
  // Bug: start + extent, and the sum of the parts, overflowed before they were looked at.
  constexpr Index kMost = std::numeric_limits<Index>::max();
  const Tensor longest = f64({1}).broadcast_to({kMost});
  check_refused({
      refusal<IndexError>([](const Make& make) { unslice(make(kX), 1, kMost, 4); },
          "unslice: outside the axis: x [2, 3] at 9223372036854775807 of axis 1 ends at "
          "9223372036854775807; needs 0 <= start and an end of at most 4"),
      refusal<ShapeError>(
          [longest](const Make& make) {
            const Var x = make(longest);
            concat({x, x}, 0);
          },
          "concat: too many elements: part 0 [9223372036854775807], 2 parts; their extents along "
          "axis 0 must add up to a number of 63 bits"),
  });
}
