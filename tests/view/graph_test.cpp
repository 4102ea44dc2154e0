#include "view/graph_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("regions follow the scopes, and what a sweep recorded has regions of its own") {
  MicroTape tape;
  const Var x = tape.leaf(f64(1), "x");
  Var y;
  {
    const Scope outer = tape.scope("outer");
    {
      const Scope inner = tape.scope("inner");
      y = exp(x);
    }
    y = sin(y);
  }
  backward(y, Record::yes);
  exp(x);
  CHECK(items(tape) == "n0 outer[inner[n1] n2] backward[n3 outer[n4 n5 inner[n6]]] n7");
  CHECK(items(tape, {.unfold = 1}) == "n0 outer[b2 n2] backward[n3 outer[n4 n5 b5]] n7");
  CHECK(items(tape, {.unfold = 0}) == "n0 b1 backward[n3 b4] n7");
  const Graph graph = graph_of(tape, {});
  CHECK(region_detail(tape, graph, 1, Graph::Item::Kind::box) == "2 nodes, result []");
  CHECK(region_detail(tape, graph, 4, Graph::Item::Kind::box) == "3 nodes");
  CHECK(region_detail(tape, graph, 2, Graph::Item::Kind::box) == "1 node, result []");
}

TEST_CASE("a folded scope takes over the edges of its nodes, and several are one") {
  MicroTape tape;
  const Var x = tape.leaf(f64(1), "x"), c = tape.constant(f64(2), "c");
  Var y;
  {
    const Scope scope = tape.scope("s");
    y = exp(x) * x * c;
  }
  sin(y);
  CHECK(arrows(tape) == "n0>n2 n2>n3 n0>n3 n3>n4 n1>n4 n4>n5");
  CHECK(arrows(tape, {.unfold = 0}) == "n0>b1 x 2 n1>b1 b1>n5");
  const Graph graph = graph_of(tape, {.unfold = 0});
  CHECK(graph.arrows[0].is_active);
  CHECK_FALSE(graph.arrows[1].is_active);  // from the constant
  CHECK(region_detail(tape, graph, 1, Graph::Item::Kind::box) == "3 nodes, result []");
}

TEST_CASE("an arrow that stands for several carries the rule of one that is active") {
  MicroTape tape;
  const Var x = tape.leaf(f64(1), "x");
  const Scope scope = tape.scope("s");
  const Var constant = tape.constant(f64(2)), unused = detach(x);
  exp(constant) * x;
  const Graph graph = graph_of(tape, {.unfold = 0});
  REQUIRE(graph.arrows.size() == 1);
  CHECK(graph.arrows[0].is_active);
  CHECK(graph.arrows[0].edge->is_active());
}

TEST_CASE("constants are hidden with all that is computed from them alone, or shown") {
  MicroTape tape;
  const Var x = tape.leaf(f64(1), "x"), c = tape.constant(f64(2), "c");
  {
    const Scope scope = tape.scope("mask");
    exp(c);
  }
  x* tape.var(2);
  CHECK(items(tape) == "n0 n1 mask[n2] n3");
  CHECK(items(tape, {.hide = {Hide::constants}}) == "n0 n3");
  CHECK(items(tape, {.hide = {Hide::constants}, .unfold = 0}) == "n0 n3");
  CHECK(arrows(tape, {.hide = {Hide::constants}}) == "n0>n3");
  // A box of which all is hidden does not count.
  CHECK(graph_of(tape, {.hide = {Hide::constants}, .unfold = 0, .max_nodes = 2}).note.empty());
}

TEST_CASE("an edge from a constant that is hidden in a box is hidden, too") {
  MicroTape tape;
  const Var x = tape.leaf(f64(1), "x");
  Var c;
  {
    const Scope scope = tape.scope("s");
    c = tape.constant(f64(2));
    exp(x);
  }
  x* c;
  CHECK(arrows(tape, {.unfold = 0}) == "n0>b1 n0>n3 b1>n3");
  CHECK(arrows(tape, {.hide = {Hide::constants}, .unfold = 0}) == "n0>b1 n0>n3");
}

TEST_CASE("parameters are hidden with their edges") {
  MicroTape tape;
  const Parameter w("w", f64(1));
  const Var x = tape.leaf(f64(1), "x");
  x* tape.watch(w);
  CHECK(items(tape, {.hide = {Hide::parameters}}) == "n0 n2");
  CHECK(arrows(tape, {.hide = {Hide::parameters}}) == "n0>n2");
}

TEST_CASE("more nodes than max_nodes fold by scope on their own, with a note") {
  MicroTape tape;
  sin(chain(tape, 6));
  CHECK(graph_of(tape, {.max_nodes = 20}).note.empty());
  CHECK(items(tape, {.max_nodes = 19}) == "n0 b1 b2 b3 b4 b5 b6 n19");
  CHECK(graph_of(tape, {.max_nodes = 19}).note ==
        "20 nodes are more than max_nodes = 19; drawn with unfold = 0: 8 nodes");
  CHECK(graph_of(tape, {.max_nodes = 7}).note ==
        "20 nodes are more than max_nodes = 7; drawn with unfold = 0: 8 nodes");
  CHECK(graph_of(tape, {.fold_repeats = Fold::yes, .max_nodes = 5}).note.empty());
  CHECK(graph_of(tape, {.unfold = 0, .max_nodes = 8}).note.empty());
}

TEST_CASE("it folds no more than it must") {
  MicroTape tape;
  Var h = tape.leaf(f64(1));
  for (const char* name : {"a", "b"}) {
    const Scope outer = tape.scope(name);
    for (const char* part : {"c", "d"}) {
      const Scope inner = tape.scope(part);
      h = sin(exp(h));
    }
  }
  CHECK(items(tape, {.max_nodes = 9}) == "n0 a[c[n1 n2] d[n3 n4]] b[c[n5 n6] d[n7 n8]]");
  CHECK(items(tape, {.max_nodes = 8}) == "n0 a[b2 b3] b[b5 b6]");
  CHECK(items(tape, {.max_nodes = 4}) == "n0 b1 b4");
}

TEST_CASE("by default 300 nodes are drawn, and one more is noted even if there is no scope") {
  MicroTape tape;
  Var x = tape.leaf(f64(1));
  while (tape.size() < 300) x = exp(x);
  CHECK(graph_of(tape, {}).note.empty());
  exp(x);
  const Graph graph = graph_of(tape, {});
  CHECK(graph.items.size() == 301);
  CHECK(graph.note == "301 nodes are more than max_nodes = 300; there are no scopes to fold");
}

TEST_CASE("scopes deeper than any stack are drawn without recursion") {
  MicroTape tape;
  Var x = tape.leaf(f64(1));
  std::vector<Scope> open;
  for (int i = 0; i < 100'000; ++i) {
    open.push_back(tape.scope("s"));
    x = exp(x);
  }
  while (!open.empty()) open.pop_back();
  const Graph graph = graph_of(tape, {.fold_repeats = Fold::yes, .max_nodes = 1'000'000});
  CHECK(graph.items.size() == 100'001);
  CHECK(graph.regions.size() == 100'001);
}
