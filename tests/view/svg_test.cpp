#include <microtape/tape/view/svg.hpp>

#include <microtape/tape/ops.hpp>
#include <microtape/tape/view/dot.hpp>

#include "testing.hpp"
#include "view/dot_program.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

constexpr const char* kGraph = "digraph { a -> b }";

}  // namespace

// Bug: the picture was opened before dot ran, and removed when dot failed.
TEST_CASE("write_svg without dot names the package, and leaves the picture that was there") {
  const Folder folder;
  put(folder / "a.svg", "an old picture");
  const DotProgram none;
  CHECK_THROWS_MATCHES(write_svg(folder / "a.svg", kGraph), FileError,
      says("write_svg: the program dot is missing; it is in the package graphviz: apt-get install "
           "graphviz, or brew install graphviz; the graph is in \"" +
           (folder / "a.dot").string() + "\""));
  CHECK(bytes_of(folder / "a.svg") == "an old picture");
  CHECK(bytes_of(folder / "a.dot") == kGraph);
  CHECK(folder.count() == 2);
}

TEST_CASE("to_svg without dot names the package, and says that there is the text") {
  MicroTape tape;
  exp(tape.leaf(Tensor::of(1)));
  const DotProgram none;
  const std::string missing =
      "to_svg: the program dot is missing; it is in the package graphviz: apt-get install "
      "graphviz, or brew install graphviz; ";
  CHECK_THROWS_MATCHES(to_svg(tape), FileError, says(missing + "to_dot() is the graph as text"));
  CHECK_THROWS_MATCHES(to_svg(kGraph), FileError, says(missing + "its text is what was given"));
}

TEST_CASE("a dot that fails, and one that draws nothing, leave no picture behind") {
  const Folder folder;
  const std::string graph = "the graph is in \"" + (folder / "a.dot").string() + "\"";
  {
    const DotProgram failing("exit 3");
    CHECK_THROWS_MATCHES(write_svg(folder / "a.svg", kGraph), FileError,
        says("write_svg: dot could not lay out the graph (exit status 3); " + graph));
  }
  {
    const DotProgram silent("exit 0");
    CHECK_THROWS_MATCHES(write_svg(folder / "a.svg", kGraph), FileError,
        says("write_svg: dot wrote no picture; " + graph));
  }
  CHECK(folder.count() == 1);
  CHECK(bytes_of(folder / "a.dot") == kGraph);
}

TEST_CASE("dot is given the graph, and what it draws becomes the file") {
  const Folder folder;
  {
    const DotProgram copying("echo '</svg>'; while read -r line; do echo \"$line $*\"; done");
    write_svg(folder / "a.svg", "digraph\n{}\n");
  }
  CHECK(bytes_of(folder / "a.svg") == "</svg>\ndigraph -Tsvg\n{} -Tsvg\n");
  CHECK(folder.count() == 2);
}

TEST_CASE("write_svg into a folder that does not exist is a FileError") {
  CHECK_THROWS_MATCHES(write_svg("/no such folder/a.svg", kGraph), FileError,
      says("write_svg: cannot write: file \"/no such folder/a.dot\": No such file or directory"));
}

TEST_CASE("a picture does not replace its own graph") {
  const Folder folder;
  CHECK_THROWS_MATCHES(write_svg(folder / "a.dot", kGraph), ValueError,
      says("write_svg: the picture would replace its graph: file \"" + (folder / "a.dot").string() +
           "\"; its extension must not be .dot"));
  CHECK(folder.count() == 0);
}

TEST_CASE("more nodes than dot can lay out are refused before it starts, by number") {
  const Folder folder;
  const DotProgram never("echo '</svg>'");
  MicroTape tape;
  Var x = tape.leaf(Tensor::of(1));
  while (tape.size() < 1000) x = exp(x);
  CHECK_NOTHROW(to_svg(tape));
  exp(x);
  const std::string text =
      "too many nodes for dot: 1001 are visible, at most 1000 are laid out; fold scopes by unfold "
      "or max_nodes, or open some to be folded; ";
  CHECK_THROWS_MATCHES(
      to_svg(tape), ValueError, says("to_svg: " + text + "to_dot() is the graph as text"));
  CHECK_THROWS_MATCHES(write_svg(folder / "a.svg", tape), ValueError,
      says("write_svg: " + text + "the graph is in \"" + (folder / "a.dot").string() + "\""));
  CHECK(bytes_of(folder / "a.dot") == to_dot(tape));
  CHECK(folder.count() == 1);
}

TEST_CASE("Graphviz lays a tape out, with the ids of the graph, and refuses what is no graph") {
  if (!has_dot()) {
    WARN("there is no dot here");
    return;
  }
  const Folder folder;
  MicroTape tape;
  const Scope scope = tape.scope("s");
  const Var y = exp(tape.leaf(Tensor::of(1), "x"));
  Sweep sweep(y, Tensor::of(1));
  const GraphOptions options{.id_prefix = "p"};
  write_svg(folder / "a.svg", tape, &sweep, options);
  const std::string svg = bytes_of(folder / "a.svg");
  for (const char* part : {"<g id=\"p\" class=\"graph\"", "<g id=\"p_n0\" class=\"node\"",
           "<g id=\"p_n1\" class=\"node\"", "<g id=\"p_e1_0\" class=\"edge\"",
           "<g id=\"p_c1\" class=\"cluster\"", ">not computed<"}) {
    INFO(part);
    std::string text = svg;
    for (std::size_t at = 0; (at = text.find("\xc2\xa0", at)) != std::string::npos;)
      text.replace(at, 2, " ");
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(svg == to_svg(tape, &sweep, options));
  CHECK(bytes_of(folder / "a.dot") == to_dot(tape, &sweep, options));
  CHECK_THROWS_AS(write_svg(folder / "a.svg", "no graph"), FileError);
  CHECK(bytes_of(folder / "a.svg") == svg);
}
