#include <microtape/tape/view/heatmap.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/view/array.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kCellWidth = 2;  // two characters of a terminal make a square
constexpr std::size_t kRowWords = 16;
constexpr std::size_t kColumnWords = 12;
constexpr std::array<std::string_view, 5> kShades{" ", "░", "▒", "▓", "█"};

std::string shade(double value, double top) {
  if (std::isnan(value)) return "??";
  const double steps = top > 0 ? std::floor(value / top * kShades.size()) : 0;
  const double step = std::clamp(steps, 0.0, static_cast<double>(kShades.size() - 1));
  const std::string_view half = kShades[static_cast<std::size_t>(step)];
  return cat(half, half);
}

/// The words above the columns, written downwards, their last letters in one line.
std::string column_words(std::span<const std::string> words, std::size_t indent) {
  std::vector<std::vector<std::string>> letters;
  std::size_t height = 0;
  for (const std::string& word : words) {
    letters.push_back(utf8::characters(word));
    if (letters.back().size() > kColumnWords) {
      letters.back().resize(kColumnWords - 1);
      letters.back().push_back("…");
    }
    height = std::max(height, letters.back().size());
  }
  std::string out;
  for (std::size_t i = 0; i < height; ++i) {
    std::string line(indent, ' ');
    for (const std::vector<std::string>& word : letters) {
      const bool is_above = i + word.size() < height;
      line += utf8::padded(is_above ? "" : word[i + word.size() - height], kCellWidth);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

/// What the shades stand for: `░ 0.2  ▒ 0.4  ▓ 0.6  █ 0.8 .. 1`, each from its number on.
std::string legend(double top) {
  std::string out = "from";
  for (std::size_t i = 1; i < kShades.size(); ++i) {
    const double least = top * static_cast<double>(i) / static_cast<double>(kShades.size());
    out += cat(i == 1 ? " " : "  ", kShades[i], kShades[i], " ", number(least, 3));
  }
  return cat(out, " to ", number(top, 3), "\n");
}

void check(const Tensor& matrix, std::size_t rows, std::size_t columns) {
  const Shape shape = matrix.shape();
  if (shape.rank() != 2)
    throw ShapeError(cat(
        "heatmap: not a matrix: ", shape, " has rank ", shape.rank(), "; needs [rows, columns]"));
  if (shape[0] == static_cast<Index>(rows) && shape[1] == static_cast<Index>(columns)) return;
  throw ShapeError(cat("heatmap: the words do not fit: matrix ", shape, ", ", rows, " row words, ",
      columns, " column words; there is one for each row and one for each column"));
}

}  // namespace

std::string heatmap(const Tensor& matrix, std::span<const std::string> rows,
    std::span<const std::string> columns, DarkestShade darkest) {
  check(matrix, rows.size(), columns.size());
  const Array x = to_array(matrix);
  double top = 1;
  if (darkest == DarkestShade::largest) {
    top = 0;
    for (const double value : x.values)
      if (std::isfinite(value)) top = std::max(top, value);
  }

  std::size_t indent = 0;
  for (const std::string& word : rows) indent = std::max(indent, utf8::display_width(word));
  indent = std::min(indent, kRowWords) + 1;
  const std::size_t shown = std::min(columns.size(), (kWidth - indent) / kCellWidth);
  std::string out = column_words(columns.first(shown), indent);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string line = utf8::padded(utf8::shortened(utf8::printable(rows[i]), kRowWords), indent);
    for (std::size_t j = 0; j < shown; ++j) line += shade(x.values[i * columns.size() + j], top);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  out += legend(top);
  if (shown < columns.size())
    out += cat("(", columns.size() - shown, " more columns do not fit: ", shown, " of ",
        columns.size(), " are shown)\n");
  return out;
}

}  // namespace microtape
