#include <microtape/tape/view/dot.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Sweep swept(const Var& y) {
  Sweep sweep(y, Tensor::full(y.shape(), 1, y.dtype()));
  while (!sweep.done()) sweep.advance();
  return sweep;
}

}  // namespace

TEST_CASE("the graph of a small tape, to the letter") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(3), "x");
  const Parameter w("w", Tensor::of(2));
  const Scope scope = tape.scope("model");
  const Var y = (x * tape.watch(w)).named("y");
  const Sweep sweep = swept(y);
  CHECK(to_dot(tape, &sweep, {.id_prefix = "page"}) == R"dot(digraph tape {
  graph [id="page", rankdir=TB, nodesep=0.3, ranksep=0.4,
    fontname="Helvetica,Arial,sans-serif", fontsize=12];
  node [fontname="Helvetica,Arial,sans-serif", fontsize=13, margin="0.1,0.05", penwidth=1.2];
  edge [fontname="Helvetica,Arial,sans-serif", fontsize=11, color="#444444", arrowsize=0.7];
  n0 [id="page_n0", shape=box, style=filled, fillcolor="#cfe6f7", color="#0072b2", penwidth=2.4,
    label=<<table border="0" cellborder="0" cellspacing="0" cellpadding="1">
    <tr><td><b>x</b></td></tr>
    <tr><td><font point-size="10" color="#444444">leaf []</font></td></tr>
    <tr><td><table border="0" cellborder="0" cellspacing="0"><tr><td><font face="DejaVu Sans Mono,Courier,monospace" point-size="10" color="#222222">3<br align="left"/></font></td></tr></table></td></tr>
    <tr><td><table border="0" cellborder="0" cellspacing="0"><tr><td><font point-size="11">dx =</font></td><td><font face="DejaVu Sans Mono,Courier,monospace" point-size="10" color="#a03c00">2<br align="left"/></font></td></tr></table></td></tr></table>>];
  subgraph cluster_1 {
    id="page_c1"; label=<<b>model</b>>; labeljust=l; style="rounded,filled"; color="#999999"; fillcolor="#f6f6f6";
    n1 [id="page_n1", shape=cylinder, margin="0.1,0.1", style=filled, fillcolor="#ffdf9e", color="#8f5f00",
      label=<<table border="0" cellborder="0" cellspacing="0" cellpadding="1">
    <tr><td><b>w</b></td></tr>
    <tr><td><font point-size="10" color="#444444">parameter []</font></td></tr>
    <tr><td><table border="0" cellborder="0" cellspacing="0"><tr><td><font face="DejaVu Sans Mono,Courier,monospace" point-size="10" color="#222222">2<br align="left"/></font></td></tr></table></td></tr>
    <tr><td><table border="0" cellborder="0" cellspacing="0"><tr><td><font point-size="11">dw =</font></td><td><font face="DejaVu Sans Mono,Courier,monospace" point-size="10" color="#a03c00">3<br align="left"/></font></td></tr></table></td></tr></table>>];
    n2 [id="page_n2", shape=box, style="filled,rounded", peripheries=2, fillcolor="#d3efe3", color="#00694e",
      label=<<table border="0" cellborder="0" cellspacing="0" cellpadding="1">
    <tr><td><b>y</b>&#160;= x * w</td></tr>
    <tr><td><font point-size="10" color="#444444">mul []</font></td></tr>
    <tr><td><table border="0" cellborder="0" cellspacing="0"><tr><td><font face="DejaVu Sans Mono,Courier,monospace" point-size="10" color="#222222">6<br align="left"/></font></td></tr></table></td></tr>
    <tr><td><table border="0" cellborder="0" cellspacing="0"><tr><td><font point-size="11">dy =</font></td><td><font face="DejaVu Sans Mono,Courier,monospace" point-size="10" color="#a03c00">1<br align="left"/></font></td></tr></table></td></tr></table>>];
  }
  n0 -> n2 [id="page_e2_0", label=<&#160;a&#160;<br/><font point-size="10" color="#444444">&#160;dx += dy * w&#160;</font>>, dir=both, color="#444444:#a03c00"];
  n1 -> n2 [id="page_e2_1", label=<&#160;b&#160;<br/><font point-size="10" color="#444444">&#160;dw += dy * x&#160;</font>>, dir=both, color="#444444:#a03c00"];
}
)dot");
}

TEST_CASE("each kind of node has a shape and a colour of its own") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(3), "x"), c = tape.constant(Tensor::of(4), "c");
  const Parameter w("w", Tensor::of(2));
  const Var y = exp(x * tape.watch(w) + c);
  backward(y, Record::yes);
  const std::string dot = to_dot(tape, nullptr, {.id_prefix = "p"});
  const char* styles[] = {
      R"(n0 [id="p_n0", shape=box, style=filled, fillcolor="#cfe6f7", color="#0072b2", penwidth=2.4)",
      R"(n1 [id="p_n1", shape=note, style=filled, fillcolor="#e4e4e4")",
      R"(n2 [id="p_n2", shape=cylinder, margin="0.1,0.1", style=filled, fillcolor="#ffdf9e")",
      R"(n3 [id="p_n3", shape=box, style="filled,rounded", fillcolor="#ffffff")",
      R"(n6 [id="p_n6", shape=note, style=filled, fillcolor="#e4e4e4")",
      R"(n7 [id="p_n7", shape=box, style="filled,rounded", fillcolor="#fdeee2")",
      R"(n8 [id="p_n8", shape=box, style="filled,rounded", peripheries=2, fillcolor="#d3efe3")"};
  for (const char* style : styles) {
    INFO(style);
    CHECK(contains(dot, style));
  }
}

TEST_CASE("edges without an adjoint are dashed and have no rule") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(3), "x");
  x* tape.constant(Tensor::of(4), "c");
  const std::string dot = to_dot(tape, nullptr, {.id_prefix = "p"});
  CHECK(contains(dot, R"(n1 -> n2 [id="p_e2_1", label=<&#160;b&#160;>, style=dashed];)"));
  CHECK(contains(dot, "&#160;dx += d#2 * c&#160;</font>>];"));
  CHECK_FALSE(contains(dot, "dc +="));
}

TEST_CASE("an edge has a line back where the sweep has carried an adjoint, and nowhere else") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(3), "x"), y = exp(x), z = exp(y);
  sin(x);
  Sweep sweep(z, Tensor::of(1));
  const auto has_line_back = [&](const std::string& id) {
    const std::string dot = to_dot(tape, &sweep, {.id_prefix = "p"});
    const std::size_t edge = dot.find("[id=\"p_" + id);
    return dot.substr(edge, dot.find('\n', edge) - edge).find("dir=both") != std::string::npos;
  };
  CHECK_FALSE(has_line_back("e2_0"));
  sweep.advance();
  CHECK(has_line_back("e2_0"));
  CHECK_FALSE(has_line_back("e1_0"));
  sweep.advance();
  CHECK(has_line_back("e1_0"));
  CHECK_FALSE(has_line_back("e3_0"));
  CHECK_FALSE(contains(to_dot(tape, &sweep, {.adjoints = Show::no}), "dir=both"));
}

TEST_CASE("few numbers are shown, of many the least, the largest and the norm") {
  MicroTape tape;
  tape.leaf(Tensor::full({17}, 0.125), "x");
  tape.leaf(Tensor::full({2}, 0.375), "z");
  const std::string dot = to_dot(tape);
  CHECK(contains(dot, "min&#160;0.125,&#160;max&#160;0.125<br align=\"left\"/>norm&#160;0.5154"));
  CHECK(contains(dot, "[0.375&#160;0.375]"));
  CHECK_FALSE(contains(to_dot(tape, nullptr, {.values = Show::no}), "0.375"));
}

TEST_CASE("an adjoint that was not computed is told from one that is 0") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(3), "x"), z = tape.leaf(Tensor::of(5), "z");
  const Var y = (x * 0.0).named("y");
  tape.constant(Tensor::of(7), "c");
  const Sweep sweep = swept(y);
  const std::string dot = to_dot(tape, &sweep);
  CHECK(contains(dot,
      "dx =</font></td><td><font face=\"DejaVu Sans Mono,Courier,monospace\" "
      "point-size=\"10\" color=\"#a03c00\">0<br align=\"left\"/></font>"));
  CHECK(contains(dot,
      "dz =</font></td><td><font face=\"DejaVu Sans Mono,Courier,monospace\" "
      "point-size=\"10\" color=\"#777777\"><i>not&#160;computed<br "
      "align=\"left\"/></i></font>"));
  CHECK_FALSE(contains(dot, "dc ="));
  CHECK_FALSE(contains(to_dot(tape, &sweep, {.adjoints = Show::no}), "dx ="));
  CHECK_FALSE(contains(to_dot(tape), "not&#160;computed"));
}

TEST_CASE("what a training tape dropped is not called uncomputed") {
  MicroTape tape(Keep::needed);
  const Var x = tape.leaf(Tensor::of(3), "x"), y = exp(x).named("y"), z = exp(y);
  Sweep sweep(z, Tensor::of(1));
  CHECK(contains(to_dot(tape, &sweep), "<i>not&#160;computed"));  // dx, not yet
  while (!sweep.done()) sweep.advance();
  const std::string dot = to_dot(tape, &sweep);
  CHECK(contains(dot, "dy =</font>"));
  CHECK(contains(dot, "<i>not&#160;kept"));
  CHECK_FALSE(contains(dot, "not&#160;computed"));
}

TEST_CASE("the attributes of an op stand beside its shape, a user's too") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of({{1, 2}, {3, 4}}), "x");
  softmax(x);
  matmul(x, x, Scale{0.5, R"(\frac{1}{\sqrt{d}})"});
  matmul(x, x);
  const Indices of{4, 5};
  record({"my_op", "", {{"n", 12345.0}, {"r", 1.0 / 3}, {"of", of}}}, [&] { return x.value(); },
      {{"x", x}});
  const std::string dot = to_dot(tape);
  CHECK(contains(dot, ">softmax [2, 2], axis = -1<"));
  CHECK(contains(dot, ">matmul [2, 2], c = 0.5<"));
  CHECK(contains(dot, ">matmul [2, 2]<"));  // a factor of 1 is none
  CHECK(contains(dot, ">my_op [2, 2], n = 12345, r = 0.3333,<br/>of = [4, 5]<"));
  CHECK_FALSE(contains(to_dot(tape, nullptr, {.hide = {Hide::attributes}}), "axis = -1"));
}

TEST_CASE("an edge into a folded scope carries no rule, which would speak of what is not seen") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(3), "x");
  Var y;
  {
    const Scope scope = tape.scope("s");
    y = exp(x).named("y");
  }
  sin(y);
  const std::string dot = to_dot(tape, nullptr, {.unfold = 0});
  CHECK_FALSE(contains(dot, "dx +="));
  CHECK(contains(dot, "dy += d#2 * cos(y)"));
  CHECK_FALSE(contains(to_dot(tape, nullptr, {.hide = {Hide::rules}}), "+="));
}

TEST_CASE("an op without formulas is drawn as op(inputs), and its rule by its name") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(3), "x"), z = tape.leaf(Tensor::of(5), "z");
  record({"blend", ""}, [&] { return x.value(); },
      {{"a", x, "", [](const Var& g) { return g; }}, {"b", z, "", [](const Var& g) { return g; }}});
  const std::string dot = to_dot(tape);
  CHECK(contains(dot, "<b>#2</b>&#160;= blend(x, z)"));
  CHECK(contains(dot, "dx += rule of blend"));
}

TEST_CASE("scopes nest as frames, and a graph is the same each time") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(3), "x");
  const Scope outer = tape.scope("encoder"), inner = tape.scope("attn");
  exp(x);
  const std::string dot = to_dot(tape, nullptr, {.id_prefix = "p"});
  CHECK(contains(dot, "  subgraph cluster_1 {\n    id=\"p_c1\"; label=<<b>encoder</b>>;"));
  CHECK(contains(dot, "    subgraph cluster_2 {\n      id=\"p_c2\"; label=<<b>attn</b>>;"));
  CHECK(contains(dot, "      n1 [id=\"p_n1\", shape=box"));
  CHECK(contains(dot, "    }\n  }\n"));
  CHECK(to_dot(tape) == to_dot(tape));
}

TEST_CASE(
    "names with quotes, markup, backslashes, line ends and letters of all kinds are escaped") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(3), "a\"b<c>&d\\N\ne🙂ğ\xff\x01");
  const Scope scope = tape.scope("<s&\\L>\r");
  exp(x).named("}|{");
  const std::string dot = to_dot(tape);
  CHECK(contains(dot, R"(<b>a&quot;b&lt;c&gt;&amp;d\\N<br/>e🙂ğ)"
                      "\uFFFD\uFFFD</b>"));
  CHECK(contains(dot, "<<b>&lt;s&amp;\\\\L&gt;\uFFFD</b>>;"));
  CHECK(contains(dot, "<b>}|{</b>"));
  CHECK_FALSE(contains(dot, "\x01"));
}

TEST_CASE("an id prefix is one that XML and DOT read, and else refused") {
  const MicroTape tape;
  CHECK(contains(to_dot(tape, nullptr, {.id_prefix = "Page-1_b"}), "id=\"Page-1_b\""));
  for (const char* wrong : {"1a", "a b", "-", "a\"", "ğ"})
    CHECK_THROWS_MATCHES(to_dot(tape, nullptr, {.id_prefix = wrong}), ValueError,
        says("graph: id_prefix cannot begin an id: \"" + std::string(wrong) +
             "\"; it is a letter, then letters, digits, - and _"));
}

TEST_CASE("graphs that differ have no id in common, and the same graph has the same ids") {
  const auto graph_of = [](double number) {
    MicroTape tape;
    exp(tape.leaf(Tensor::of(number), "x"));
    return to_dot(tape);
  };
  const auto ids = [](const std::string& dot) {
    std::set<std::string> out;
    for (std::size_t at = 0; (at = dot.find("id=\"", at)) != std::string::npos; ++at)
      out.insert(dot.substr(at + 4, dot.find('"', at + 4) - at - 4));
    return out;
  };
  const std::set<std::string> a = ids(graph_of(1)), b = ids(graph_of(2));
  CHECK(a.size() == 4);  // the graph, two nodes, an edge
  CHECK(b.size() == 4);
  for (const std::string& id : a) CHECK(b.count(id) == 0);
  CHECK(graph_of(1) == graph_of(1));
}

TEST_CASE("Graphviz reads the graph without complaint") {
  if (std::system("dot -V > dot_test.log 2>&1") != 0) {
    WARN("there is no dot here");
    return;
  }
  MicroTape tape;
  const Var x = tape.leaf(Tensor::randn({4, 4}, 1), "a\"b<c>&d\\N\ne🙂ğ\xff\x01");
  const Scope scope = tape.scope("<s&\\L>\r");
  const Var y = sum(softmax(matmul(x, x, Scale{0.5, R"(\frac{1}{\sqrt{d}})"})));
  {
    // Bug: the text was longer than Graphviz reads.
    const Scope longest = tape.scope(std::string(10'000, '\xff'));
    exp(x).named(std::string(10'000, '"'));
  }
  {
    // Bug: U+FFFF, which XML does not have, stayed in equations and rules.
    const Scope scope_of_none = tape.scope("\xef\xbf\xbf");
    exp(tape.leaf(Tensor::of(3), "\xef\xbf\xbf")).named("\xef\xbf\xbe");
  }
  const Sweep sweep = swept(y);
  std::ofstream("dot_test.dot") << to_dot(tape, &sweep);
  CHECK(std::system("dot -Tsvg dot_test.dot -o dot_test.svg > dot_test.log 2>&1") == 0);
  std::ifstream log("dot_test.log"), picture("dot_test.svg");
  CHECK(std::string(std::istreambuf_iterator<char>(log), {}).empty());
  const std::string svg(std::istreambuf_iterator<char>(picture), {});
  // Graphviz has put neither the name of the node nor that of the frame in place of \N and \L.
  CHECK(contains(svg, R"(>a&quot;b&lt;c&gt;&amp;d\N<)"));
  CHECK(contains(svg, ">&lt;s&amp;\\L&gt;\uFFFD<"));
  for (const char* file : {"dot_test.dot", "dot_test.svg", "dot_test.log"}) std::remove(file);
}
