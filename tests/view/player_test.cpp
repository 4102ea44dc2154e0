#include <microtape/tape/view/player.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include <microtape/tape/ops.hpp>

#include "cases/case_file.hpp"
#include "testing.hpp"
#include "view/sha256.hpp"

// The page as text; tests/player/ opens it in a browser.

using namespace microtape;
using namespace microtape::testing;

namespace {

/// What stands between two texts.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  REQUIRE(from != text.npos);
  const std::size_t to = text.find(end, from + begin.size());
  REQUIRE(to != text.npos);
  return text.substr(from + begin.size(), to - from - begin.size());
}
Json tape_of(const std::string& html) {
  return Json::parse(between(html, "id=\"tape-data\">", "</script>"));
}
Json page_of(const std::string& html) {
  return Json::parse(between(html, "id=\"page-data\">", "</script>"));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// y = x^2 * 3, x = [1, 2].
struct Small {
  MicroTape tape;
  Var x = tape.leaf(f64({1, 2}), "x");
  Var y = (square(x) * 3.0).named("y");
};

/// PATH without any program, for as long as it lives.
class NoPrograms {
 public:
  NoPrograms() : path_(std::getenv("PATH")) { setenv("PATH", "/nowhere", 1); }
  ~NoPrograms() { setenv("PATH", path_.c_str(), 1); }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("a page names nothing outside of itself") {
  const Small small;
  const std::string html = to_html(small.tape, small.y);
  for (const char* outside :
      {"http:", "https:", "src=", "href=", "@import", "import ", "url(\"", "url('"})
    CHECK(count(html, outside) == 0);
  CHECK(count(html, "<script") == 3);
  CHECK(count(html, "</script>") == 3);
}

TEST_CASE("the policy of a page allows its script and its style by their SHA-256") {
  CHECK(Sha256::base64("abc") == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");  // FIPS 180-4
  const Small small;
  const std::string html = to_html(small.tape, small.y);
  const std::string script = between(html, "<script type=\"module\">", "</script>");
  const std::string style = between(html, "<style>", "</style>");
  CHECK(between(html, "Content-Security-Policy\" content=\"", "\">") ==
        "default-src 'none'; script-src 'sha256-" + Sha256::base64(script) +
            "'; style-src 'sha256-" + Sha256::base64(style) +
            "'; base-uri 'none'; form-action 'none'");
}

TEST_CASE("a page without its data is smaller than 150 KB") {
  const Small small;
  const std::string html = to_html(small.tape, small.y);
  CHECK(html.size() - tape_of(html).dump().size() - page_of(html).dump().size() < 150'000);
}

TEST_CASE("the same tape gives the same page, byte for byte") {
  const Small one, other;
  CHECK(to_html(one.tape, one.y) == to_html(other.tape, other.y));
  // Also after a sweep, which takes the time of each rule.
  const std::string before = to_html(one.tape, one.y);
  backward(one.y, f64({1, 1}));
  CHECK(to_html(one.tape, one.y) == before);
}

TEST_CASE("the adjoint of y is ones, unless a seed is given") {
  const Small small;
  const auto adjoint = [&](const HtmlOptions& options) {
    return tape_of(to_html(small.tape, small.y, options))["steps"][0]["adjoint"]["numbers"];
  };
  CHECK(adjoint({}) == Json{1.0, 1.0});
  CHECK(adjoint({.seed = f64({5, -2})}) == Json{5.0, -2.0});
}

TEST_CASE("a page has the steps of a sweep, and each formula in MathML") {
  const Small small;
  const std::string html = to_html(small.tape, small.y);
  const Json tape = tape_of(html), page = page_of(html);
  REQUIRE(tape["steps"].size() == 2);
  CHECK(tape["steps"][1]["contributions"][0]["value"]["numbers"] == Json{6.0, 12.0});
  CHECK(page["y"] == 2);
  REQUIRE(page["mathml"].size() == 3);
  CHECK(page["mathml"][0]["name"] == "<mi>x</mi>");
  CHECK(page["mathml"][0]["equation"] == "");
  CHECK(page["mathml"][2]["name"] == "<mi>y</mi>");
  CHECK(page["mathml"][1]["rules"][0].get<std::string>().find("<mi>x</mi>") != std::string::npos);
}

TEST_CASE("the title is the last equation, unless one is given") {
  const Small small;
  CHECK(between(to_html(small.tape, small.y), "<title>", "</title>") == "y = 3 #1");
  CHECK(between(to_html(small.tape, small.y, {.title = "A & <B>"}), "<title>", "</title>") ==
        "A &amp; &lt;B&gt;");
}

TEST_CASE("E02, E11: names are text wherever they stand") {
  MicroTape tape;
  Var sum = tape.leaf(f64(1), "x");
  std::vector<std::string> names = case_of("E02").at("inputs").at("names");
  for (const char* name : {"</script><script>alert(1)</script>", "<!-- -->", "</template>",
           "@PAGE@", "İstanbul ığüşöç 模型 😀", "ok\xff", "bell\x07"})
    names.emplace_back(name);
  for (const std::string& name : names) sum = sum + tape.leaf(f64(2), name);
  const std::string html =
      to_html(tape, sum, {.title = names[5], .words = {{"x", {}}}, .max_nodes = 100});

  CHECK(count(html, "<script") == 3);
  CHECK(count(html, "<!--") == 0);
  CHECK(count(html, "alert(1)</script>") == 0);
  CHECK(count(html, "</template>") == count(html, "<template"));
  const Json nodes = tape_of(html)["nodes"];
  std::vector<std::string> read;
  for (const Json& node : nodes)
    if (node["kind"] == "leaf") read.push_back(node["name"]);
  for (const std::string& name : names)
    if (name[0] != 'o' && name[0] != 'b') CHECK(std::count(read.begin(), read.end(), name) == 1);
  CHECK(std::count(read.begin(), read.end(), "ok\xef\xbf\xbd") == 1);
  // No control character, and no byte that is not UTF-8, stands in the file.
  CHECK(
      std::none_of(html.begin(), html.end(), [](char c) { return c >= 0 && c < 32 && c != '\n'; }));
  CHECK(html.find('\xff') == html.npos);
}

TEST_CASE("E08: of 15001 nodes without scopes there is the list, and a note") {
  MicroTape tape;
  Var y = tape.leaf(f64(0.5), "x");
  for (int i = 0; i < case_of("E08").at("inputs").at("iterations"); ++i) y = tanh(y) + y * 0.5;
  const std::string html = to_html(tape, y);
  CHECK(page_of(html)["graph_note"] ==
        "15001 nodes are more than max_nodes = 300; there are no scopes to fold");
  CHECK(page_of(html)["graphs"] == 0);
  CHECK(tape_of(html)["nodes"].size() == 15001);
}

TEST_CASE("a page has a graph for each depth of scopes") {
  MicroTape tape;
  const Var x = tape.leaf(f64(1), "x");
  const auto inner = [&] {
    const auto outer_scope = tape.scope("outer");
    const auto scope = tape.scope("inner");
    return square(x);
  };
  const std::string html = to_html(tape, (inner() + x).named("y"));
  if (page_of(html)["graphs"] == 0) {
    WARN(page_of(html)["graph_note"].get<std::string>());  // Graphviz is not everywhere
    return;
  }
  CHECK(page_of(html)["graphs"] == 3);
  CHECK(page_of(html)["graph_note"] == "");
  CHECK(count(html, "<template id=\"graph-") == 3);
  CHECK(count(html, "id=\"g0_b1\"") == 1);  // outer, as a box
  CHECK(count(html, "id=\"g1_b2\"") == 1);
  CHECK(count(html, "id=\"g2_n1\"") == 1);
}

TEST_CASE("without dot a page says which package is missing") {
  const Small small;
  const NoPrograms nothing;
  const std::string html = to_html(small.tape, small.y);
  CHECK(page_of(html)["graphs"] == 0);
  CHECK(page_of(html)["graph_note"].get<std::string>().find("apt-get install graphviz") !=
        std::string::npos);
  CHECK(tape_of(html)["nodes"].size() == 3);
}

TEST_CASE("of a large value a page has evenly spaced rows and columns") {
  MicroTape tape;
  const Var x = tape.leaf(ramp({10, 6}, 0), "x");
  const Json page = page_of(to_html(tape, square(x).named("y"), {.most_numbers = 20}));
  const Json sample = page["samples"]["nodes"][0];
  CHECK(sample["kept"] == Json{{0, 2, 4, 6, 8}, {0, 2, 4}});
  CHECK(sample["numbers"][0] == 0.0);
  CHECK(sample["numbers"][1] == 2.0);
  CHECK(sample["numbers"][14] == 52.0);  // row 8, column 4
  CHECK(page["samples"]["steps"][0]["contributions"][0]["value"]["numbers"][14] == 104.0);
  CHECK(page_of(to_html(tape, square(x)))["samples"]["nodes"][0] == nullptr);
}

TEST_CASE("a long tape has fewer numbers of each value, so that its page stays below 10 MB") {
  MicroTape tape;
  Var x = tape.leaf(ramp({64, 64}, 0, 1e-3), "x");
  for (int i = 0; i < 150; ++i) x = tanh(x);
  const std::string html = to_html(tape, x, {.max_nodes = 10});
  CHECK(html.size() < 10'000'000);
  CHECK(html.size() > 2'000'000);
}

TEST_CASE("words stand in a page by the name of the node") {
  MicroTape tape;
  const Var x = tape.leaf(f64({{1, 2}}), "x");
  const Var y = square(x).named("y");
  const AxisWords words{{"kedi"}, {"a", "b"}};
  CHECK(page_of(to_html(tape, y, {.words = {{"y", words}}}))["words"]["y"]["columns"] ==
        Json{"a", "b"});
  CHECK_THROWS_MATCHES(to_html(tape, y, {.words = {{"y", {{"a", "b"}, {}}}}}), ShapeError,
      says("to_html: the words do not fit: y [1, 2], 2 words for rows, 0 for columns; an axis has "
           "none, or one for each place"));
  const Var unnamed = square(x);  // has no name to give words by
  CHECK_THROWS_AS(to_html(tape, unnamed, {.words = {{"", {}}}}), ValueError);
  CHECK_THROWS_MATCHES(to_html(tape, y, {.words = {{"z", words}}}), ValueError,
      says("to_html: there are words for z, but the tape has no node of that name"));
}

TEST_CASE("to_html says what it cannot show") {
  const Small small;
  MicroTape needed(Keep::needed), other;
  const Var x = needed.leaf(f64(1));
  CHECK_THROWS_MATCHES(to_html(needed, square(x)), TapeError,
      says("to_html: the tape is Keep::needed: it does not have all numbers; step over a "
           "Keep::everything tape"));
  CHECK_THROWS_MATCHES(to_html(other, small.y), TapeError, says("to_html: y is not on this tape"));
  CHECK_THROWS_AS(to_html(small.tape, small.y, {.seed = f64(1)}), ShapeError);
  CHECK_THROWS_AS(to_html(other, other.constant(f64(1))), TapeError);
  CHECK_THROWS_MATCHES(to_html(small.tape, small.y, {.most_numbers = 0}), ValueError,
      says("to_html: most_numbers is 0; it is 1 or more"));
}

TEST_CASE("a page that cannot be made leaves the file that was there") {
  const Small small;
  const auto path = std::filesystem::temp_directory_path() / "microtape_page.html";
  const auto contents = [&] {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  std::ofstream(path) << "an old page";
  CHECK_THROWS_AS(write_html(path, small.tape, small.y, {.seed = f64(1)}), ShapeError);
  CHECK(contents() == "an old page");
  write_html(path, small.tape, small.y);
  CHECK(contents() == to_html(small.tape, small.y));
  std::filesystem::remove(path);
  CHECK_THROWS_AS(write_html("/no such folder/page.html", small.tape, small.y), FileError);
}
