// Cases A of cases.json: the order of the sweep, lifetimes, values that change, sharing.

#include <microtape/tape/ops.hpp>

#include "cases/case_file.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

const DType kBoth[] = {float32, float64};

}  // namespace

TEST_CASE("A01: a non-leaf used on several paths gets each contribution once") {
  for (const DType dtype : kBoth) {
    const Case c("A01", dtype);
    MicroTape tape;
    const Var x = tape.leaf(c.input("x")), a = tape.leaf(c.input("a"));
    const Var xa = x * a;
    const Var f = x * xa + (x * x) * a + x * xa;
    const Gradients g = backward(f);
    CHECK(c.holds("f", f));
    CHECK(c.holds("grad.x", g[x]));
    CHECK(c.holds("grad.a", g[a]));
  }
}

TEST_CASE("A02: a diamond is swept after all of its users") {
  for (const DType dtype : kBoth) {
    const Case c("A02", dtype);
    MicroTape tape;
    const Var a = tape.leaf(c.input("a")), b = a + a, sum_of_b = b + b;
    const Gradients g = backward(sum_of_b);
    CHECK(c.holds("c", sum_of_b));
    CHECK(c.holds("grad.b", g[b]));
    CHECK(c.holds("grad.a", g[a]));
  }
}

TEST_CASE("A04: a second backward has nothing stale and adds up only where the caller adds") {
  for (const DType dtype : kBoth) {
    const Case c("A04", dtype);
    MicroTape tape;
    const Var a = tape.leaf(c.input("a")), b = tape.leaf(c.input("b")), d = tape.leaf(c.input("d"));
    const Var e = (a + b) * d;
    const Gradients first = backward(e), second = backward(e);
    const std::pair<const char*, Var> leaves[] = {{"grad.a", a}, {"grad.b", b}, {"grad.d", d}};
    for (const auto& [name, leaf] : leaves) {
      CHECK(c.holds(std::string("after1/") + name, first[leaf]));
      CHECK(c.holds(std::string("after1/") + name, second[leaf]));
      CHECK(c.holds(std::string("after2/") + name, first[leaf] + second[leaf]));
    }
  }
}

TEST_CASE("A11: a value overwritten between forward and backward does not change the gradient") {
  for (const DType dtype : kBoth) {
    const Case c("A11", dtype);
    MicroTape tape;
    const Var a = tape.leaf(c.input("a")), b = pow(a, 2), loss = sum(pow(b, 2));
    Tensor overwritten = b.value();
    if (dtype == float32)
      overwritten.mutable_data<float>()[1] = 3.3F;
    else
      overwritten.mutable_data<double>()[1] = 3.3;
    CHECK(overwritten.at({1}) == Tensor::full({}, 3.3, dtype).item());
    CHECK(c.holds("grad.a", backward(loss)[a]));
  }
}

TEST_CASE("A12: a parameter that an optimizer has changed does not change an older tape") {
  for (const DType dtype : kBoth) {
    const Case c("A12", dtype);
    MicroTape tape;
    const Parameter w("w", c.input("w"));
    const Var v = tape.watch(w), y = v * v * c.input("x");
    w.mutable_value() = c.input("w_new");
    CHECK(c.holds("grad.w", backward(y)[w]));
  }
}

TEST_CASE("A13: backward from a vector wants a seed of its shape and says so") {
  for (const DType dtype : kBoth) {
    const Case c("A13", dtype);
    MicroTape tape;
    const Var x = tape.leaf(c.input("x")), y = x * x;
    CHECK_THROWS_MATCHES(backward(y), ShapeError,
        says("backward: y is not a scalar: y [2] has 2 elements; reduce it with sum() or mean(), "
             "or give "
             "a seed of its shape"));
    CHECK(c.holds("grad.x", backward(y, c.input("seed"))[x]));
    CHECK_THROWS_MATCHES(backward(y, Tensor::zeros({3}, dtype)), ShapeError,
        says("backward: the seed does not fit: seed [3], y [2]; the adjoint of y has y's shape"));
    for (const Indices& extents : {Indices{1}, Indices{1, 1}})
      CHECK(is(backward(reshape(sum(y), extents))[x], {6, 8}));
  }
}

TEST_CASE("A15: detach cuts its own path and no other") {
  for (const DType dtype : kBoth) {
    const Case c("A15", dtype);
    MicroTape tape;
    const Var x = tape.leaf(c.input("x")), y = 5 * x + 6 * detach(x);
    CHECK(c.holds("y", y));
    CHECK(c.holds("grad.x", backward(y)[x]));
    const Var x2 = tape.leaf(c.input("x2")), z = x2 * detach(x2);
    CHECK(c.holds("z", z));
    CHECK(c.holds("grad.x2", backward(z)[x2]));
    // It shares memory, and writing to neither changes the other.
    Tensor copy = detach(x2).value();
    copy = Tensor::full({}, 7, dtype);
    CHECK(x2.item() == 3);
  }
}

TEST_CASE("A17: subtraction and division know their operands apart, numbers included") {
  for (const DType dtype : kBoth) {
    const Case c("A17", dtype);
    MicroTape tape;
    const Var a = tape.leaf(c.input("a")), b = tape.leaf(c.input("b")), x = tape.leaf(c.input("x"));
    const std::pair<std::string, Var> pairs[] = {{"a-b", a - b}, {"a/b", a / b}};
    for (const auto& [name, y] : pairs) {
      const Gradients g = backward(y);
      CHECK(c.holds(name + "/value", y));
      CHECK(c.holds(name + "/grad.a", g[a]));
      CHECK(c.holds(name + "/grad.b", g[b]));
    }
    const std::pair<std::string, Var> singles[] = {{"2-x", 2 - x}, {"6/x", 6 / x}};
    for (const auto& [name, y] : singles) {
      CHECK(c.holds(name + "/value", y));
      CHECK(c.holds(name + "/grad.x", backward(y)[x]));
    }
    CHECK(backward(-x)[x].item() == -1);
  }
}

TEST_CASE("A19: gradients carry no history over a thousand optimizer steps") {
  for (const DType dtype : kBoth) {
    const Case c("A19", dtype);
    MicroTape tape;
    const Parameter w("w", c.input("w"));
    for (int i = 0; i < 1000; ++i) {
      const Var v = tape.watch(w);
      const Gradients g = backward(v * v);
      CHECK(tape.size() == 2);
      CHECK(g[w].tape() == nullptr);  // plain: to compute with it records nothing
      tape.clear();
      w.mutable_value() = (Var(w.value()) - 0.001 * g[w]).value();
    }
    CHECK(c.holds("w", w.value()));
  }
}

TEST_CASE("A20: one Var as both operands receives both contributions") {
  for (const DType dtype : kBoth) {
    const Case c("A20", dtype);
    MicroTape tape;
    const Var x = tape.leaf(c.input("x"));
    const Var row = reshape(x, {1, 2}), column = reshape(x, {2, 1});
    CHECK(c.holds("grad_y", backward(sum(x * x * x))[x]));
    CHECK(c.holds("grad_dot", backward(matmul(row, column))[x]));
    CHECK(c.holds("grad_dot", backward(matmul_nt(row, row))[x]));
    CHECK(c.holds("grad_sub", backward(sum(x - x))[x]));
    CHECK(is(x / x, {1, 1}));
    CHECK(c.holds("grad_div", backward(sum(x / x))[x]));
  }
}

TEST_CASE("A21: adding to a Var makes a new node and leaves the leaf as it was") {
  for (const DType dtype : kBoth) {
    const Case c("A21", dtype);
    MicroTape tape;
    Var x = tape.leaf(c.input("x"));
    const Var p = x;  // a second handle on the leaf
    x = x + 1;
    const Var y = sum(x * x);
    const Gradients g = backward(y);
    CHECK(c.holds("y", y));
    CHECK(c.holds("grad.p", g[p]));
    CHECK(is(p, {1, 2, 3}));
    // Without a tape the number itself changes, as in an optimizer, and a later tape sees it.
    const Parameter w("w", c.input("x"));
    w.mutable_value() = (Var(w.value()) + 1).value();
    MicroTape later;
    const Var v = later.watch(w);
    CHECK(is(v, {2, 3, 4}));
    CHECK(c.holds("grad.p", backward(sum(v * v))[w]));
  }
}
