#include <microtape/tape/view/mermaid.hpp>

#include <microtape/tape/ops.hpp>

#include "core/file_testing.hpp"
#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the flowchart of a small tape, to the letter") {
  MicroTape tape;
  const Var x = tape.leaf(f64(3), "x"), c = tape.constant(f64(5), "c");
  const Parameter w("w", f64(2));
  const Scope scope = tape.scope("model");
  const Var y = (x * tape.watch(w) + c).named("y");
  Sweep sweep(y, f64(1));
  sweep.advance();
  CHECK(to_mermaid(tape, &sweep) == R"(flowchart TB
  n0["<b>x</b><br/>leaf []<br/>3<br/>dx = <i>not computed</i>"]:::leaf
  n1>"<b>c</b><br/>constant []<br/>5"]:::constant
  subgraph c1["model"]
    n2[("<b>w</b><br/>parameter []<br/>2<br/>dw = <i>not computed</i>")]:::parameter
    n3("<b>#35;3</b> = x #42; w<br/>mul []<br/>6<br/>d#35;3 = 1"):::op
    n4(["<b>y</b> = #35;3 + c<br/>add []<br/>11<br/>dy = 1"]):::output
  end
  n0 -->|"a<br/>dx += d#35;3 #42; w"| n3
  n2 -->|"b<br/>dw += d#35;3 #42; x"| n3
  n3 -->|"a<br/>d#35;3 += dy"| n4
  n1 -.->|"b"| n4
  classDef leaf fill:#cfe6f7,stroke:#0072b2,stroke-width:3px,color:#000
  classDef parameter fill:#ffdf9e,stroke:#8f5f00,color:#000
  classDef constant fill:#e4e4e4,stroke:#555555,color:#000
  classDef op fill:#ffffff,stroke:#222222,color:#000
  classDef backward fill:#fdeee2,stroke:#a03c00,color:#000
  classDef output fill:#d3efe3,stroke:#00694e,stroke-width:4px,color:#000
  classDef box fill:#f0f0f0,stroke:#222222,color:#000
)");
}

TEST_CASE("a flowchart folds, hides and notes what a graph does") {
  MicroTape tape;
  Var h = tape.leaf(f64(1), "x");
  for (int i = 0; i < 3; ++i) {
    const Scope scope = tape.scope(cat("block", i));
    h = sin(exp(h));
  }
  backward(h, Record::yes);
  const std::string folded =
      to_mermaid(tape, nullptr, {.unfold = 0, .fold_repeats = Fold::yes, .id_prefix = "p_"});
  CHECK(contains(folded,
      "p_b1[[\"block x 3<br/>block0 to block2, one after the other; each 2 nodes, result "
      "[]\"]]:::box\n"));
  CHECK(contains(folded, "  subgraph p_c4[\"backward\"]\n"));
  CHECK(contains(folded, "  p_n0 -->|\"x\"| p_b1\n"));
  const std::string open = to_mermaid(tape, nullptr, {.fold_repeats = Fold::yes});
  CHECK(contains(open,
      "subgraph c1[\"block x 3: block0 to block2, one after the other; the first is drawn\"]"));
  CHECK(contains(open, ":::backward\n"));
  CHECK(contains(to_mermaid(tape, nullptr, {.max_nodes = 5}),
      "  note[\"17 nodes are more than max#95;nodes = 5; drawn with unfold = 0: 8 nodes\"]\n"));
}

TEST_CASE("what has a meaning in Mermaid, Markdown or HTML is written as a code") {
  MicroTape tape;
  tape.leaf(f64(1), "a\"b#c;<d>&e\\f`g*h_i~j$k%l\nm|n]o\xff\x01ğ🙂");
  const std::string text = to_mermaid(tape);
  CHECK(contains(text,
      "[\"<b>a#34;b#35;c;#60;d#62;#38;e#92;f#96;g#42;h#95;i#126;j#36;k#37;l<br/>m|n]o\uFFFD\uFFFD"
      "ğ🙂</b><br/>"));
}

TEST_CASE("a flowchart is the same each time, and a file holds what the string does") {
  const Folder folder;
  MicroTape tape;
  exp(tape.leaf(f64(1)));
  CHECK(to_mermaid(tape) == to_mermaid(tape));
  write_mermaid(folder / "a.mmd", tape, nullptr, {.values = Show::no});
  CHECK(bytes_of(folder / "a.mmd") == to_mermaid(tape, nullptr, {.values = Show::no}));
  CHECK(to_mermaid(tape) != to_mermaid(tape, nullptr, {.values = Show::no}));
  CHECK_THROWS_MATCHES(write_mermaid("/no such folder/a", tape), FileError,
      says("write_mermaid: cannot write: file \"/no such folder/a\": No such file or directory"));
}
