// Where a tape keeps rules and attributes, and for how long.

#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/tape/ops.hpp>
#include <microtape/tape/record.hpp>

#include "tape/counted.hpp"
#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("rules live as long as their node, once each, and only where an adjoint flows") {
  CHECK(Counted::alive == 0);
  {
    MicroTape tape;
    const auto rule = [counted = Counted()](const Var& g) { return g; };
    const Var c = tape.constant(f64(1)), x = tape.leaf(f64(1));
    CHECK(Counted::alive == 1);
    record({"mine", "@x"}, [&] { return c.value(); }, {{"x", c, "@g", rule}});
    record({"mine", "@x"}, [&] { return c.value(); }, {{"x", Var(f64(1)), "@g", rule}});
    CHECK(Counted::alive == 1);  // no leaf reaches these
    for (int i = 0; i < 10; ++i)
      record({"mine", "@x"}, [&] { return x.value(); }, {{"x", x, "@g", rule}});
    CHECK(Counted::alive == 11);
    tape.clear();
    CHECK(Counted::alive == 1);
    const Var y = tape.leaf(f64(1));
    record({"mine", "@x"}, [&] { return y.value(); }, {{"x", y, "@g", rule}});
    CHECK(Counted::alive == 2);
  }
  CHECK(Counted::alive == 0);
}

TEST_CASE("a rule that is const is copied to the tape, never moved") {
  // Bug: std::move() of one took its captures away.
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}));
  Var w = tape.constant(f64({3, 4}));
  auto rule = [w](const Var& g) { return g * w; };
  for (int i = 0; i < 2; ++i) {
    const Var y = record({"mine", "@x"}, [&] { return x.value(); },
        {{"x", x, R"(@g \odot @w)", std::move(std::as_const(rule))}, {"w", w}});
    CHECK(is(backward(sum(y))[x], {3, 4}));
  }
}

TEST_CASE("a rule that cannot be copied leaves no node and no other rule") {
  // Bug: a node without its edges stayed on the tape.
  struct Uncopied {
    Counted counted;
    Uncopied() = default;
    Uncopied(const Uncopied& other) : counted(other.counted) { throw std::runtime_error("no"); }
    Var operator()(const Var& g) const { return g; }
  };
  for (const Keep keep : {Keep::everything, Keep::needed}) {
    MicroTape tape(keep);
    const Var x = tape.leaf(f64(1)), plain = f64(2);
    const auto rule = [counted = Counted()](const Var& g) { return g; };
    const Uncopied uncopied;
    const auto op = [&] {
      return record({"mine", "@a + @b + @c"}, [&] { return x.value(); },
          {{"a", x, "@g", rule}, {"b", x, "@g", uncopied}, {"c", plain, "@g", rule}});
    };
    CHECK_THROWS_AS(op(), std::runtime_error);
    CHECK(tape.size() == 1);
    CHECK(Counted::alive == 2);
    const Var y = square(x);
    CHECK(y.node() == 1);
    CHECK(is(backward(y)[x], 2));
  }
  CHECK(Counted::alive == 0);
}

TEST_CASE("a rule lies where its type may lie, whatever stands before it") {
  static const void* volatile place;
  struct Aligned {
    std::max_align_t most = {};
    Var operator()(const Var& g) const {
      place = this;
      return g;
    }
  };
  MicroTape tape(Keep::needed);
  for (const Shape& shape : {Shape{}, Shape{2}, Shape{2, 1}, Shape{2, 1, 3}}) {
    const Var x = tape.leaf(Tensor::zeros(shape));
    backward(sum(record({"mine", "@x"}, [&] { return x.value(); }, {{"x", x, "@g", Aligned()}})));
    CHECK(reinterpret_cast<std::uintptr_t>(place) % alignof(std::max_align_t) == 0);
  }
}

TEST_CASE("attributes and their symbols are copied to the tape") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}));
  std::string symbol = R"(\tau)";
  Indices axes{0, 1};
  const Var y = record({"mine", "@t @x", {{"t", 0.5, symbol.c_str()}, {"axes", axes}}},
      [&] { return x.value(); },
      {{"x", x, "@t @g", [](const Var& g) { return 0.5 * g; }, {"u", 2.0}}});
  symbol = "gone";
  axes = {};
  const Node& node = tape.node(y.node());
  REQUIRE(node.attributes().size() == 2);
  CHECK(node.attributes()[0].name() == "t");
  CHECK(node.attributes()[0].number() == 0.5);
  CHECK(node.attributes()[0].symbol() == R"(\tau)");
  CHECK_FALSE(node.attributes()[0].is_list());
  CHECK(node.attributes()[1].list() == Indices{0, 1});
  REQUIRE(node.edges()[0].attribute() != nullptr);
  CHECK(node.edges()[0].attribute()->name() == "u");
}

TEST_CASE("a rule that records as it is copied does not stand for its node") {
  struct Recording {
    Var x;
    explicit Recording(Var of) : x(std::move(of)) {}
    Recording(const Recording& other) : x(other.x) { exp(x); }
    Var operator()(const Var& g) const { return 2 * g * x; }
  };
  for (const Keep keep : {Keep::everything, Keep::needed}) {
    MicroTape tape(keep);
    const Var x = tape.leaf(f64({2, 3}));
    const Recording rule(x);
    const Var y = record({"square", "@x^2"}, [&] { return kernels::mul(x.value(), x.value()); },
        {{"x", x, "", rule}});
    CHECK(tape.node(y.node()).op() == "square");
    CHECK(is(backward(sum(y))[x], {4, 6}));
  }
}
