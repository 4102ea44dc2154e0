#include <microtape/layers/transformer.hpp>

#include "view/graph_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("equal scopes one after the other are drawn once, with their number") {
  MicroTape tape;
  sin(chain(tape, 6));
  CHECK(items(tape, {.fold_repeats = Fold::yes}) == "n0 block x 6[n1 n2 n3] n19");
  CHECK(arrows(tape, {.fold_repeats = Fold::yes}) == "n0>n1 n1>n2 n0>n2 n2>n3 n3>n19");
  CHECK(items(tape, {.unfold = 0, .fold_repeats = Fold::yes}) == "n0 b1 n19");
  CHECK(arrows(tape, {.unfold = 0, .fold_repeats = Fold::yes}) == "n0>b1 x 2 b1>n19");
  CHECK(items(tape, {.unfold = 0}) == "n0 b1 b2 b3 b4 b5 b6 n19");
  const Graph graph = graph_of(tape, {.fold_repeats = Fold::yes});
  CHECK(region_detail(tape, graph, 1, Graph::Item::Kind::node) ==
        "block0 to block5, one after the other; the first is drawn");
  CHECK(region_detail(tape, graph, 1, Graph::Item::Kind::box) ==
        "block0 to block5, one after the other; each 3 nodes, result [2]");
}

TEST_CASE("equal scopes side by side are drawn once, with the edges of all of them") {
  MicroTape tape;
  const Var a = tape.leaf(f64(1), "a"), b = tape.leaf(f64(2), "b");
  std::vector<Var> heads;
  for (const Var& x : {a, b}) {
    const Scope scope = tape.scope("head");
    heads.push_back(sin(exp(x)));
  }
  heads[0] + heads[1];
  const GraphOptions options{.fold_repeats = Fold::yes};
  CHECK(items(tape, options) == "n0 n1 head x 2[n2 n3] n6");
  CHECK(arrows(tape, options) == "n0>n2 n2>n3 n1>n2 n3>n6 n3>n6");
  CHECK(region_detail(tape, graph_of(tape, options), 1, Graph::Item::Kind::node) ==
        "head to head; the first is drawn");
}

TEST_CASE("scopes that differ in anything but a number at the end of a name are not folded") {
  const auto folds = [](const std::function<void(MicroTape&, int, Var&)>& make) {
    MicroTape tape;
    chain(tape, 2, [&](int i, Var& h) { make(tape, i, h); });
    const std::string text = items(tape, {.unfold = 0, .fold_repeats = Fold::yes});
    CHECK((text == "n0 b1" || text == "n0 b1 b2" || text == "n0 b1 b3"));
    return text == "n0 b1";
  };
  CHECK(folds([](MicroTape&, int, Var& h) { h = exp(h); }));
  CHECK(folds([](MicroTape&, int i, Var& h) { h = exp(h).named(cat("h_", i)); }));
  CHECK_FALSE(folds([](MicroTape&, int i, Var& h) { h = i ? exp(h) : sin(h); }));
  CHECK_FALSE(folds([](MicroTape&, int i, Var& h) { h = exp(h).named(i ? "a" : "b"); }));
  CHECK_FALSE(folds([](MicroTape&, int i, Var& h) { h = h * (i + 2.0); }));  // an attribute
  CHECK_FALSE(folds([](MicroTape& tape, int i, Var& h) {
    tape.constant(Tensor::zeros({i + 1}));  // a shape
    h = exp(h);
  }));
  CHECK_FALSE(folds([](MicroTape& tape, int i, Var& h) {
    tape.constant(Tensor::zeros({}, i ? float32 : float64));
    h = exp(h);
  }));
  CHECK_FALSE(folds([](MicroTape& tape, int i, Var& h) {
    i ? tape.leaf(f64(1)) : tape.constant(f64(1));
    h = exp(h);
  }));
  const auto pass = [](const Var& g) { return g; };
  CHECK_FALSE(folds([&](MicroTape&, int i, Var& h) {  // a list
    const Var x = h;
    const Indices of{i};
    h = record({"op", "@x", {{"of", of}}}, [&] { return x.value(); }, {{"x", x, "", pass}});
  }));
  CHECK_FALSE(folds([&](MicroTape&, int i, Var& h) {  // a formula
    const Var x = h;
    const auto forward = [&] { return x.value(); };
    h = i ? record({"op", "@x"}, forward, {{"x", x, "", pass}})
          : record({"op", "-@x"}, forward, {{"x", x, "", pass}});
  }));
  CHECK_FALSE(folds([](MicroTape& tape, int i, Var& h) {  // edges
    const Var a = exp(h), b = exp(h);
    h = i ? a * a : a * b;
    static_cast<void>(tape);
  }));
  CHECK_FALSE(folds([](MicroTape& tape, int i, Var& h) {  // edges from outside
    h = h * tape.var(i ? 0 : 3);
  }));
  CHECK_FALSE(folds([](MicroTape& tape, int i, Var& h) {  // scopes inside
    const Scope scope = tape.scope(i ? "a" : "b");
    h = exp(h);
  }));
  CHECK_FALSE(folds([](MicroTape& tape, int i, Var& h) {  // where they end
    {
      const Scope scope = tape.scope("a");
      h = exp(h);
      if (i == 0) h = exp(h);
    }
    if (i == 1) h = exp(h);
  }));
  CHECK_FALSE(folds([](MicroTape& tape, int i, Var& h) {  // where they begin
    if (i == 0) h = exp(h);
    const Scope scope = tape.scope("a");
    if (i == 1) h = exp(h);
    h = exp(h);
  }));
}

TEST_CASE("what scopes take from outside corresponds one to one, or they are not folded") {
  const auto folds = [](std::pair<int, int> first, std::pair<int, int> second) {
    MicroTape tape;
    std::vector<Var> x{tape.leaf(f64(1)), tape.leaf(f64(2)), tape.constant(f64(3))};
    for (const auto& [a, b] : {first, second}) {
      const Scope scope = tape.scope("s");
      x[static_cast<std::size_t>(a)] * x[static_cast<std::size_t>(b)];
    }
    return graph_of(tape, {.unfold = 0, .fold_repeats = Fold::yes}).items.size() == 4;
  };
  CHECK(folds({0, 1}, {0, 1}));
  CHECK(folds({0, 1}, {1, 0}));
  CHECK(folds({0, 0}, {1, 1}));
  CHECK_FALSE(folds({0, 0}, {0, 1}));
  CHECK_FALSE(folds({0, 1}, {0, 0}));
  CHECK_FALSE(folds({0, 1}, {0, 2}));  // the one carries an adjoint, the other does not
}

TEST_CASE("a number at the end of a name may have a sign before it") {
  CHECK(without_number("block_12") == "block");
  CHECK(without_number("block.0") == "block");
  CHECK(without_number("block 1-2") == "block 1");
  CHECK(without_number("W_Q") == "W_Q");
  CHECK(without_number("12") == "12");
  CHECK(without_number("_1") == "_1");
  CHECK(without_number("") == "");
}

TEST_CASE("the word for repeats has the name they share, with its number if that is the same") {
  for (const bool counts : {false, true}) {
    MicroTape tape;
    Var h = tape.leaf(f64(1));
    for (int i = 0; i < 2; ++i) {
      const Scope scope = tape.scope(counts ? cat("conv", i) : "conv2");
      h = exp(h);
    }
    CHECK(region_name(tape, graph_of(tape, {.fold_repeats = Fold::yes}), 1) ==
          (counts ? "conv x 2" : "conv2 x 2"));
  }
}

TEST_CASE("the result of the last of equal scopes is shown by the first") {
  MicroTape tape;
  chain(tape, 2);
  const Graph drawn = graph_of(tape, {}), folded = graph_of(tape, {.fold_repeats = Fold::yes});
  CHECK(drawn.is_used == std::vector<bool>{true, true, true, true, true, true, false});
  CHECK(folded.is_used == std::vector<bool>{true, true, true, false, true, true, false});
}

TEST_CASE("equal scopes with a node between them are not folded") {
  MicroTape tape;
  Var h = tape.leaf(f64(1));
  for (int i = 0; i < 2; ++i) {
    {
      const Scope scope = tape.scope("s");
      h = exp(h);
    }
    h = sin(h);
  }
  CHECK(items(tape, {.fold_repeats = Fold::yes}) == "n0 s[n1] n2 s[n3] n4");
}

TEST_CASE("the blocks of a Gpt are one, forward and in the backward pass that was recorded") {
  MicroTape tape;
  Gpt gpt({.vocabulary = 5, .context = 4, .width = 4, .num_heads = 2, .depth = 6});
  const Var logits = gpt(tape.constant(i64({{1, 2, 3}}), "tokens"));
  const GraphOptions options{.unfold = 1, .fold_repeats = Fold::yes};
  CHECK(items(tape, options) == "n0 gpt[b2 b3 b4 b94 n368]");
  CHECK(region_name(tape, graph_of(tape, options), 4) == "block x 6");
  backward(logits, Tensor::full(logits.shape(), 1), Record::yes);
  const Graph graph = graph_of(tape, options);
  const auto of_six = std::count_if(graph.items.begin(), graph.items.end(), [&](const auto& item) {
    return item.kind == Graph::Item::Kind::box && graph.regions[item.index].repeats == 6;
  });
  CHECK(of_six == 2);
  // The edges of one block, not of all.
  for (const Graph::Arrow& arrow : graph.arrows) CHECK(arrow.count < 60);
  // Edges lead on along the tape, not back: nothing is a loop.
  for (const Graph::Arrow& arrow : graph.arrows) CHECK(arrow.from < arrow.to);
}
