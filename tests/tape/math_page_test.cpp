// docs/math.md derives the rules of every op.

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "testing.hpp"

using namespace microtape::testing;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The functions that the menus declare, and the ops that their sources record.
std::set<std::string> names_of_ops() {
  std::set<std::string> names;
  const std::regex declared(R"re(\n(?:inline )?(?:std::vector<)?Var>? ?\(?([a-z_0-9]+)\)?\()re");
  const std::regex recorded(R"re(record\(\s*\{"([a-z_0-9]+)")re");
  for (const auto& file : std::filesystem::directory_iterator(tests_folder("../tape/ops"))) {
    const std::string text = text_of(file.path());
    if (text.find(" Internal") != std::string::npos) continue;
    const std::regex& pattern = file.path().extension() == ".hpp" ? declared : recorded;
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
      names.insert((*at)[1]);
  }
  return names;
}

}  // namespace

TEST_CASE("docs/math.md names every op") {
  const std::string page = text_of(tests_folder("../docs/math.md"));
  const std::set<std::string> names = names_of_ops();
  CHECK(names.size() >= 75);
  for (const std::string& op : names) {
    INFO(op);
    CHECK(page.find("`" + op + "`") != std::string::npos);
  }
}
