#include <microtape/tape/view/svg.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

std::string contents(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// PATH without any program, for as long as it lives.
class NoPrograms {
 public:
  NoPrograms() : path_(std::getenv("PATH")) { setenv("PATH", "/nowhere", 1); }
  ~NoPrograms() { setenv("PATH", path_.c_str(), 1); }

 private:
  std::string path_;
};

}  // namespace

// Bug: the picture was opened before dot ran, and removed when dot failed.
TEST_CASE("write_svg without dot names the package, and leaves the picture that was there") {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "microtape_kept.svg";
  std::ofstream(path) << "an old picture";
  const NoPrograms nothing;
  CHECK_THROWS_MATCHES(write_svg(path, "digraph { a -> b }"), FileError,
      says("write_svg: the program dot is missing; it is in the package graphviz: apt-get install "
           "graphviz, or brew install graphviz"));
  CHECK(contents(path) == "an old picture");
  CHECK_FALSE(std::filesystem::exists(path.string() + ".tmp"));
  std::filesystem::remove(path);
}

TEST_CASE("write_svg into a folder that does not exist is a FileError") {
  CHECK_THROWS_AS(write_svg("/no such folder/a.svg", "digraph { a -> b }"), FileError);
}

TEST_CASE("write_svg lays out a graph, and refuses what is none") {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "microtape_new.svg";
  std::filesystem::remove(path);
  try {
    write_svg(path, "digraph { a -> b }");
  } catch (const FileError& error) {
    WARN(error.what());  // Graphviz is not everywhere
    return;
  }
  CHECK(contents(path).find("<svg") != std::string::npos);
  CHECK_THROWS_AS(write_svg(path, "no graph"), FileError);
  CHECK(contents(path).find("<svg") != std::string::npos);
  std::filesystem::remove(path);
}
