// Cases B of cases.json: broadcasting, empty and strange shapes, axes, views.

#include <filesystem>

#include <microtape/layers/linear.hpp>
#include <microtape/tape/ops.hpp>

#include "cases/case_file.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

const DType kBoth[] = {float32, float64};

}  // namespace

TEST_CASE("B01: the gradient of a row that is broadcast has the shape of the row") {
  for (const DType dtype : kBoth) {
    const Case c("B01", dtype);
    MicroTape tape;
    const Var in1 = tape.leaf(c.input("in1")), in2 = tape.leaf(c.input("in2"));
    const Var loss = sum(pow(c.input("label") - (in1 + in2), 2));
    const Gradients g = backward(loss);
    CHECK(c.holds("loss", loss));
    CHECK(c.holds("grad.in1", g[in1]));
    CHECK(c.holds("grad.in2", g[in2]));
  }
}

TEST_CASE("B02: both operands may repeat and each gradient has the shape of its operand") {
  for (const DType dtype : kBoth) {
    const Case c("B02", dtype);
    MicroTape tape;
    const Var column = tape.leaf(c.input("c")), row = tape.leaf(c.input("r"));
    const Gradients outer = backward(sum(column * row));
    CHECK(c.holds("grad.c", outer[column]));
    CHECK(c.holds("grad.r", outer[row]));
    const Var s = tape.leaf(c.input("s")), m = tape.leaf(c.input("M"));
    const Gradients scaled = backward(sum(s * m));
    CHECK(c.holds("grad.s", scaled[s]));
    CHECK(c.holds("grad.M", scaled[m]));
  }
}

TEST_CASE("B04: a scalar that is broadcast has a gradient that is a scalar") {
  for (const DType dtype : kBoth) {
    const Case c("B04", dtype);
    MicroTape tape;
    const Var v = tape.leaf(c.input("v")), ones = tape.constant(c.input("c"));
    const Var y = sum(ones * v);
    CHECK(c.holds("y", y));
    CHECK(c.holds("grad.v", backward(y)[v]));
    CHECK(c.holds("grad.v", backward(sum(ones + v))[v]));
    // v^c for c = [1, 1]: the exponent of pow is one number, so v is repeated first.
    const Var power = sum(pow(broadcast_to(v, {2}), 1));
    CHECK(c.holds("y", power));
    CHECK(c.holds("grad.v", backward(power)[v]));
    CHECK(sum(v).shape() == Shape{});
    CHECK(reshape(v, {}).shape() == Shape{});
    for (const Index axis : {Index{0}, Index{-1}})
      CHECK_THROWS_MATCHES(sum(v, axis), IndexError,
          says("sum: axis " + std::to_string(axis) +
               " does not exist: x [] is a scalar, rank 0; leave the axis out"));
  }
}

TEST_CASE("B06: sums over empty axes are 0, means are NaN, and gradients are empty") {
  for (const DType dtype : kBoth) {
    const Case c("B06", dtype);
    MicroTape tape;
    const Var e = tape.leaf(Tensor::zeros({0, 2}, dtype)),
              z = tape.leaf(Tensor::zeros({3, 0, 4}, dtype));
    CHECK(c.holds("sum", sum(e)));
    CHECK(c.holds("sum_axis0", sum(e, 0)));
    CHECK(c.holds("sum_axis1", sum(e, 1)));
    CHECK(is(mean(e, 0), {kNan, kNan}));
    CHECK(is(mean(e), kNan));
    CHECK(backward(sum(e * 3))[e].shape() == Shape{0, 2});
    CHECK(c.holds("Z_sum_axis1_keep", sum(z, 1, KeepAxes::yes)));
    CHECK(backward(sum(z))[z].shape() == Shape{3, 0, 4});
  }
}

TEST_CASE(
    "B07: a maximum over an axis with elements exists in an empty tensor, else it is an error") {
  for (const DType dtype : kBoth) {
    const Case c("B07", dtype);
    MicroTape tape;
    const Var m = tape.leaf(Tensor::zeros({2, 0}, dtype));
    CHECK(c.holds("max_axis0", max(m, 0)));
    CHECK(backward(sum(max(m, 0)))[m].shape() == Shape{2, 0});
    const auto text = says(
        "max: the maximum of zero elements does not exist: x [2, 0]; every axis that is reduced "
        "needs an "
        "element");
    CHECK_THROWS_MATCHES(max(m, 1), ValueError, text);
    CHECK_THROWS_MATCHES(max(m), ValueError, text);
  }
}

TEST_CASE("B08: negative axes count from the end over their full range and no further") {
  for (const DType dtype : kBoth) {
    const Case c("B08", dtype);
    const Var x = c.input("X");
    CHECK(c.holds("softmax_axis_-2", softmax(x, {.axis = -2})));
    CHECK(identical(softmax(x, {.axis = 1}), softmax(x, {.axis = -2}).value()));
    CHECK(c.holds("sum_axis_-3", sum(x, -3)));
    CHECK(identical(sum(x, 0), sum(x, -3).value()));
    for (const Index axis : {Index{-4}, Index{3}})
      CHECK_THROWS_MATCHES(softmax(x, {.axis = axis}), IndexError,
          says("softmax: axis " + std::to_string(axis) +
               " does not exist: x [2, 2, 2] has rank 3; axes are -3 .. 2"));
  }
}

TEST_CASE("B10: a reshape whose number of elements wraps around is refused") {
  const Case c("B10");
  const auto list = c.json().at("inputs").at("shape").get<std::vector<Index>>();
  const Indices extents{std::span<const Index>(list)};
  const Var packed = ramp({10});
  const Var strided = slice(Var(ramp({10, 2})), 1, 0, 1);
  CHECK_FALSE(strided.value().is_contiguous());
  const auto text = says(
      "Shape: too many elements: [2, 13, 419, 691, 823, 2977518503]; their number must fit in 63 "
      "bits");
  CHECK_THROWS_MATCHES(reshape(packed, extents), ShapeError, text);
  CHECK_THROWS_MATCHES(reshape(strided, extents), ShapeError, text);
}

TEST_CASE("B12: a transposed view is read in its own order, in the gradient too") {
  for (const DType dtype : kBoth) {
    const Case c("B12", dtype);
    MicroTape tape;
    const Var x = tape.leaf(c.input("x"));
    const Var y = reshape(transpose(x), {6});
    const Var loss = sum(y * ramp({6}, 1, 1, dtype));
    CHECK(c.holds("y", y));
    CHECK(c.holds("loss", loss));
    CHECK(c.holds("grad.x", backward(loss)[x]));
    const Tensor view = transpose(x).value();
    CHECK(view.str() == Tensor::of({{1, 4}, {2, 5}, {3, 6}}, dtype).str());
    const auto file = std::filesystem::temp_directory_path() / "microtape_b12.safetensors";
    write_safetensors(file, {{"view", view}});
    CHECK(identical(read_safetensors(file).tensors.at("view"), view));
    std::filesystem::remove(file);
  }
}

TEST_CASE("B14: shapes that do not match are refused with the op and both shapes") {
  const Var a = ramp({2, 3});
  CHECK_THROWS_MATCHES(a + ramp({2}), ShapeError,
      says("add: cannot broadcast: a [2, 3] with b [2]; axis -1 has extents 3 and 2; they must be "
           "equal, "
           "or one of them 1"));
  CHECK_THROWS_MATCHES(matmul(a, ramp({4, 5})), ShapeError,
      says("matmul: inner extents differ: a [2, 3] has 3 columns, b [4, 5] has 4 rows; a [.., m, "
           "k] needs "
           "b [.., k, n]"));
  CHECK_THROWS_MATCHES(concat({a, Var(ramp({2, 4}))}, 0), ShapeError,
      says("concat: the parts do not fit: part 0 [2, 3], part 1 [2, 4]; all but axis 0 must be "
           "equal"));
  CHECK_THROWS_MATCHES(reshape(Var(ramp({32})), {8}), ShapeError,
      says("reshape: cannot turn x [32] into [8]: 32 elements are not 8; the number of elements "
           "must stay "
           "the same"));
  Linear layer(3, 2);
  CHECK_THROWS_MATCHES(layer(Tensor::zeros({5, 4})), ShapeError,
      says("Linear: x does not fit: x [5, 4], weight [2, 3]; x must be [.., 3]"));
}

TEST_CASE("B15: a weight gets its gradient also where the input needs none") {
  for (const DType dtype : kBoth)
    for (const Keep keep : {Keep::everything, Keep::needed}) {
      const Case c("B15", dtype);
      MicroTape tape(keep);
      const Var x = tape.constant(c.input("X")), w = tape.leaf(c.input("W"));
      const Var loss = sum(matmul(x, w));
      const Gradients g = backward(loss);
      CHECK(c.holds("loss", loss));
      CHECK(c.holds("grad.W", g[w]));
      CHECK_THROWS_AS(g[x], TapeError);
      CHECK_FALSE(g.reached(x));
    }
}
