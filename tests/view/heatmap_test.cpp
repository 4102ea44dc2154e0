#include <microtape/tape/view/heatmap.hpp>

#include <cmath>

#include <microtape/core/error.hpp>
#include <microtape/tape/view/utf8.hpp>

#include "catch.hpp"

using namespace microtape;
using microtape::testing::says;

using Words = std::vector<std::string>;

TEST_CASE("a heatmap shades each number in fifths, with the words on both axes") {
  const Tensor p = Tensor::of({{0.1, 0.2, 0.7}, {0.39, 0.4, 0.6}, {0, 1, 0.8}}, float64);
  const Words rows{"bir", "iki", "şemsiye"}, columns{"ağ", "🙂", "son"};
  CHECK(heatmap(p, rows, columns) ==
        "            s\n"
        "        a   o\n"
        "        ğ 🙂n\n"
        "bir       ░░▓▓\n"
        "iki     ░░▒▒▓▓\n"
        "şemsiye   ████\n"
        "from ░░ 0.2  ▒▒ 0.4  ▓▓ 0.6  ██ 0.8 to 1\n");
}

TEST_CASE("a heatmap can be scaled to its largest number") {
  const Tensor p = Tensor::of({{0, 1, 2, 4}});
  CHECK(heatmap(p, Words{"x"}, Words{"a", "b", "c", "d"}, DarkestShade::largest) ==
        "  a b c d\n"
        "x   ░░▒▒██\n"
        "from ░░ 0.8  ▒▒ 1.6  ▓▓ 2.4  ██ 3.2 to 4\n");
  CHECK(heatmap(Tensor::zeros({1, 1}), Words{"x"}, Words{"a"}, DarkestShade::largest) ==
        "  a\nx\nfrom ░░ 0  ▒▒ 0  ▓▓ 0  ██ 0 to 0\n");
}

TEST_CASE("a heatmap of odd numbers and words keeps its form") {
  const Tensor p = Tensor::of({{-1.0, 7.0, NAN}});
  CHECK(heatmap(p, Words{"a\nb"}, Words{"", "\t", "c"}) ==
        "        c\na b   ██??\nfrom ░░ 0.2  ▒▒ 0.4  ▓▓ 0.6  ██ 0.8 to 1\n");
}

TEST_CASE("a wide heatmap is cut at 80 columns and says so") {
  const Words columns(60, "w");
  const std::string text =
      heatmap(Tensor::full({1, 60}, 1), Words{"a very long word indeed"}, columns);
  std::size_t start = 0;
  for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    CHECK(utf8::display_width(text.substr(start, end - start)) <= 80);
  CHECK(text.find("a very long wor… █") != std::string::npos);
  CHECK(text.find("\n(29 more columns do not fit: 31 of 60 are shown)\n") != std::string::npos);
  const std::string high = heatmap(Tensor::full({1, 1}, 1), Words{"r"}, Words{"abcdefghijklmnop"});
  CHECK(high.find("  k\n  …\nr ██\n") != std::string::npos);
}

TEST_CASE("a heatmap needs a matrix and a word for each row and column") {
  CHECK_THROWS_MATCHES(heatmap(Tensor::zeros({2, 2, 2}), Words{}, Words{}), ShapeError,
      says("heatmap: not a matrix: [2, 2, 2] has rank 3; needs [rows, columns]"));
  CHECK_THROWS_MATCHES(heatmap(Tensor::zeros({2, 1}), Words{"a"}, Words{"b"}), ShapeError,
      says("heatmap: the words do not fit: matrix [2, 1], 1 row words, 1 column words; "
           "there is one for each row and one for each column"));
}
