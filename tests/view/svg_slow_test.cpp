#include <microtape/tape/view/svg.hpp>

#include "testing.hpp"
#include "view/dot_program.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("a dot that does not end is ended after half a minute") {
  const Folder folder;
  const DotProgram endless("exec /bin/sleep 200");
  CHECK_THROWS_MATCHES(write_svg(folder / "a.svg", "digraph { a -> b }"), FileError,
      says("write_svg: dot did not finish within 30 s; show less of the tape, by unfold, "
           "fold_repeats or hide; the graph is in \"" +
           (folder / "a.dot").string() + "\""));
  CHECK(folder.count() == 1);
}
