#include <microtape/tape/view/dot.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <microtape/tape/ops.hpp>

#include "catch.hpp"

using namespace microtape;

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
  CHECK(to_dot(tape, &sweep) == R"dot(digraph tape {
  graph [rankdir=TB, nodesep=0.3, ranksep=0.4, fontname="Helvetica,Arial,sans-serif", fontsize=12];
  node [fontname="Helvetica,Arial,sans-serif", fontsize=13, margin="0.1,0.05", penwidth=1.2];
  edge [fontname="Helvetica,Arial,sans-serif", fontsize=11, color="#444444", arrowsize=0.7];
  n0 [shape=box, style=filled, fillcolor="#cfe6f7", color="#0072b2", penwidth=2.4,
    label=<<table border="0" cellborder="0" cellspacing="0" cellpadding="1">
    <tr><td><b>x</b></td></tr>
    <tr><td><font point-size="10" color="#444444">leaf []</font></td></tr>
    <tr><td><table border="0" cellborder="0" cellspacing="0"><tr><td><font face="DejaVu Sans Mono,Courier,monospace" point-size="10" color="#222222">3<br align="left"/></font></td></tr></table></td></tr>
    <tr><td><table border="0" cellborder="0" cellspacing="0"><tr><td><font point-size="11">dx =</font></td><td><font face="DejaVu Sans Mono,Courier,monospace" point-size="10" color="#a03c00">2<br align="left"/></font></td></tr></table></td></tr></table>>];
  subgraph cluster_1 {
    label=<<b>model</b>>; labeljust=l; style="rounded,filled"; color="#999999"; fillcolor="#f6f6f6";
    n1 [shape=cylinder, margin="0.1,0.1", style=filled, fillcolor="#ffdf9e", color="#8f5f00",
      label=<<table border="0" cellborder="0" cellspacing="0" cellpadding="1">
    <tr><td><b>w</b></td></tr>
    <tr><td><font point-size="10" color="#444444">parameter []</font></td></tr>
    <tr><td><table border="0" cellborder="0" cellspacing="0"><tr><td><font face="DejaVu Sans Mono,Courier,monospace" point-size="10" color="#222222">2<br align="left"/></font></td></tr></table></td></tr>
    <tr><td><table border="0" cellborder="0" cellspacing="0"><tr><td><font point-size="11">dw =</font></td><td><font face="DejaVu Sans Mono,Courier,monospace" point-size="10" color="#a03c00">3<br align="left"/></font></td></tr></table></td></tr></table>>];
    n2 [shape=box, style="filled,rounded", peripheries=2, fillcolor="#d3efe3", color="#00694e",
      label=<<table border="0" cellborder="0" cellspacing="0" cellpadding="1">
    <tr><td><b>y</b> = x * w</td></tr>
    <tr><td><font point-size="10" color="#444444">mul []</font></td></tr>
    <tr><td><table border="0" cellborder="0" cellspacing="0"><tr><td><font face="DejaVu Sans Mono,Courier,monospace" point-size="10" color="#222222">6<br align="left"/></font></td></tr></table></td></tr>
    <tr><td><table border="0" cellborder="0" cellspacing="0"><tr><td><font point-size="11">dy =</font></td><td><font face="DejaVu Sans Mono,Courier,monospace" point-size="10" color="#a03c00">1<br align="left"/></font></td></tr></table></td></tr></table>>];
  }
  n0 -> n2 [label=<&#160;a<br/><font point-size="10" color="#444444">&#160;dx += dy * w&#160;</font>>];
  n1 -> n2 [label=<&#160;b<br/><font point-size="10" color="#444444">&#160;dw += dy * x&#160;</font>>];
}
)dot");
}

TEST_CASE("each kind of node has a shape and a colour of its own") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(3), "x"), c = tape.constant(Tensor::of(4), "c");
  const Parameter w("w", Tensor::of(2));
  exp(x * tape.watch(w) + c);
  const std::string dot = to_dot(tape);
  CHECK(contains(dot, "n0 [shape=box, style=filled, fillcolor=\"#cfe6f7\""));
  CHECK(contains(dot, "n1 [shape=note, style=filled, fillcolor=\"#e4e4e4\""));
  CHECK(
      contains(dot, "n2 [shape=cylinder, margin=\"0.1,0.1\", style=filled, fillcolor=\"#ffdf9e\""));
  CHECK(contains(dot, "n3 [shape=box, style=\"filled,rounded\", fillcolor=\"#ffffff\""));
  CHECK(contains(
      dot, "n5 [shape=box, style=\"filled,rounded\", peripheries=2, fillcolor=\"#d3efe3\""));
}

TEST_CASE("edges without an adjoint are dashed and have no rule") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(3), "x");
  x* tape.constant(Tensor::of(4), "c");
  const std::string dot = to_dot(tape);
  CHECK(contains(dot, "n1 -> n2 [label=<&#160;b>, style=dashed];"));
  CHECK(contains(dot, "&#160;dx += d#2 * c&#160;"));
  CHECK_FALSE(contains(dot, "dc +="));
}

TEST_CASE("numbers are shown only if they are few, adjoints only if they were reached") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::full({17}, 0.125), "x"),
            z = tape.leaf(Tensor::full({16}, 0.375), "z");
  const Var y = sum(x * x);
  const Sweep sweep = swept(y);
  const std::string dot = to_dot(tape, &sweep);
  CHECK_FALSE(contains(dot, "0.125"));
  CHECK(contains(dot, "0.375"));
  CHECK(contains(dot, "d#3 ="));
  CHECK_FALSE(contains(dot, "dx ="));
  CHECK_FALSE(contains(dot, "dz ="));
}

TEST_CASE("scopes nest as frames, and a graph is the same each time") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(3), "x");
  const Scope outer = tape.scope("encoder"), inner = tape.scope("attn");
  exp(x);
  const std::string dot = to_dot(tape);
  CHECK(contains(dot, "  subgraph cluster_1 {\n    label=<<b>encoder</b>>;"));
  CHECK(contains(dot, "    subgraph cluster_2 {\n      label=<<b>attn</b>>;"));
  CHECK(contains(dot, "      n1 [shape=box"));
  CHECK(to_dot(tape) == dot);
}

TEST_CASE(
    "names with quotes, markup, backslashes, line ends and letters of all kinds are escaped") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(3), "a\"b<c>&d\\N\ne🙂ğ\xff\x01");
  const Scope scope = tape.scope("<s&\\L>\r");
  exp(x).named("}|{");
  const std::string dot = to_dot(tape);
  CHECK(contains(dot, R"(<b>a&quot;b&lt;c&gt;&amp;d\\N e🙂ğ)"
                      "\uFFFD </b>"));
  CHECK(contains(dot, R"(label=<<b>&lt;s&amp;\\L&gt; </b>>;)"));
  CHECK(contains(dot, "<b>}|{</b>"));
  CHECK_FALSE(contains(dot, "\x01"));
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
  const Sweep sweep = swept(y);
  std::ofstream("dot_test.dot") << to_dot(tape, &sweep);
  CHECK(std::system("dot -Tsvg dot_test.dot -o dot_test.svg > dot_test.log 2>&1") == 0);
  std::ifstream log("dot_test.log"), picture("dot_test.svg");
  CHECK(std::string(std::istreambuf_iterator<char>(log), {}).empty());
  const std::string svg(std::istreambuf_iterator<char>(picture), {});
  // Graphviz has put neither the name of the node nor that of the frame in place of \N and \L.
  CHECK(contains(svg, R"(>a&quot;b&lt;c&gt;&amp;d\N e)"));
  CHECK(contains(svg, R"(>&lt;s&amp;\L&gt; <)"));
  for (const char* file : {"dot_test.dot", "dot_test.svg", "dot_test.log"}) std::remove(file);
}
