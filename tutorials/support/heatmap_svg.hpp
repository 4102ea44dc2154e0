#pragma once

// Matrices of numbers from 0 to 1 side by side, as an SVG: the darker the larger, hatched where a
// mask forbids.

#include <algorithm>
#include <string>
#include <vector>

#include <microtape/microtape.hpp>

#include "plot.hpp"

namespace heatmap_svg {

using microtape::Index;
using microtape::Tensor;

/// One matrix, and what it is called.
struct Panel {
  std::string title;
  Tensor matrix;  ///< [rows, columns], from 0 to 1
  Tensor mask;    ///< of the same shape; below 0: forbidden
};

namespace detail {

using plot::detail::format;

constexpr int kCell = 32, kLabels = 64, kTop = 92;

inline std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

/// White at 0, dark blue at 1, with the number, unless that would be 0.00.
inline std::string cell(double x, double y, double value, bool is_forbidden) {
  const auto channel = [&](double dark) { return static_cast<int>(255 + (dark - 255) * value); };
  std::string out = format(
      "<rect x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" stroke=\"#999\" "
      "stroke-width=\"0.5\" ",
      x, y, kCell, kCell);
  if (is_forbidden) return out + "fill=\"url(#forbidden)\"/>\n";
  out += format("fill=\"#%02x%02x%02x\"/>\n", channel(16), channel(76), channel(130));
  if (value < 0.005) return out;
  return out + format(
                   "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\" font-size=\"11\" "
                   "fill=\"%s\">%.2f</text>\n",
                   x + kCell / 2, y + kCell / 2 + 4, value > 0.5 ? "white" : "black", value);
}

inline std::string panel(const Panel& p, double left, const std::vector<std::string>& words) {
  std::string out = format(
      "<text x=\"%.0f\" y=\"26\" font-size=\"15\">%s</text>\n", left + kLabels, p.title.c_str());
  for (Index i = 0; i < p.matrix.extent(0); ++i) {
    const std::string word = escaped(words[static_cast<std::size_t>(i)]);
    const double at = static_cast<double>(i * kCell), middle = at + kCell / 2;
    out += format("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%s</text>\n", left + kLabels - 6,
        kTop + middle + 4, word.c_str());
    out += format("<text transform=\"translate(%.0f %d) rotate(-45)\">%s</text>\n",
        left + kLabels + middle, kTop - 6, word.c_str());
    for (Index j = 0; j < p.matrix.extent(1); ++j)
      out += cell(left + kLabels + static_cast<double>(j * kCell), kTop + at, p.matrix.at({i, j}),
          p.mask.at({i, j}) < 0);
  }
  return out;
}

}  // namespace detail

/// @param words  of the rows, and of the columns
inline std::string draw(const std::vector<Panel>& panels, const std::vector<std::string>& words) {
  const int size = detail::kCell * static_cast<int>(words.size());
  const int width = detail::kLabels + size + 24;
  std::string out = plot::detail::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n"
      "<defs><pattern id=\"forbidden\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#eee\"/>"
      "<path d=\"M0 0V6\" stroke=\"#888\" stroke-width=\"2\"/></pattern></defs>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      static_cast<int>(panels.size()) * width, detail::kTop + size + 24);
  for (std::size_t i = 0; i < panels.size(); ++i)
    out += detail::panel(panels[i], static_cast<double>(i) * width, words);
  return out + "</svg>\n";
}

}  // namespace heatmap_svg
