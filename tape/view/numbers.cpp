#include <microtape/tape/view/numbers.hpp>

#include <algorithm>
#include <cmath>

#include <microtape/core/format.hpp>
#include <microtape/tape/view/array.hpp>

namespace microtape {
namespace {

constexpr int kDigits = 4;

/// `min -1.2, max 3, norm 4.5` in one line, two or three, whatever fits.
std::vector<std::string> summary_lines(const Tensor& tensor, std::size_t width) {
  const Summary x = summary_of(tensor);
  const std::string min = "min " + number(x.min, kDigits), max = "max " + number(x.max, kDigits);
  const std::string range = min + ", " + max, norm = "norm " + number(x.norm, kDigits);
  if (range.size() + 2 + norm.size() <= width) return {range + ", " + norm};
  if (range.size() <= width) return {range, norm};
  return {min, max, norm};
}

/// How many axes begin or end at element i, so many brackets stand there.
std::size_t brackets(const Shape& shape, Index i) {
  std::size_t count = 0;
  Index block = 1;
  for (Index axis = shape.rank(); axis-- > 0;) {
    block *= shape[axis];
    if (i % block != 0) break;
    ++count;
  }
  return count;
}

/// The numbers as text, those of one column of the matrix equally wide.
std::vector<std::string> aligned(const Array& x) {
  std::vector<std::string> out;
  // A zero has no sign here.
  for (const double value : x.values) out.push_back(number(value == 0 ? 0 : value, kDigits));
  if (x.shape.rank() < 2) return out;
  const auto columns = static_cast<std::size_t>(x.shape[-1]);
  for (std::size_t column = 0; column < columns; ++column) {
    std::size_t width = 0;
    for (std::size_t i = column; i < out.size(); i += columns)
      width = std::max(width, out[i].size());
    for (std::size_t i = column; i < out.size(); i += columns)
      out[i].insert(0, width - out[i].size(), ' ');
  }
  return out;
}

}  // namespace

Summary summary_of(const Tensor& tensor) {
  Summary out{INFINITY, -INFINITY, 0};
  const std::vector<double> values = to_array(tensor).values;
  for (const double value : values) {
    out.min = std::fmin(out.min, value);
    out.max = std::fmax(out.max, value);
  }
  // Square no number whose square is not finite, or 0.
  const double largest = std::fmax(-out.min, out.max);
  const bool is_usual =
      (largest > 1e-140 && largest < 1e140) || !(largest > 0 && largest < INFINITY);
  const double unit = is_usual ? 1 : largest;
  double squares = 0;
  for (const double value : values) squares += (value / unit) * (value / unit);
  out.norm = unit * std::sqrt(squares);
  return out;
}

std::vector<std::string> number_lines(const Tensor& tensor, std::size_t width, Index most) {
  const Array x = to_array(tensor);
  if (x.size() == 0) return {"no numbers"};
  if (x.size() > most) return summary_lines(tensor, width);
  const auto rank = static_cast<std::size_t>(x.shape.rank());
  const std::vector<std::string> texts = aligned(x);
  std::vector<std::string> lines{std::string()};
  for (Index i = 0; i < x.size(); ++i) {
    const std::size_t opening = brackets(x.shape, i), closing = brackets(x.shape, i + 1);
    const std::string item = texts[static_cast<std::size_t>(i)] + std::string(closing, ']');
    const bool is_new_row = i > 0 && opening > 0;
    if (is_new_row || (i > 0 && lines.back().size() + 1 + item.size() > width)) {
      lines.push_back(std::string(rank - opening, ' '));
      lines.back() += std::string(opening, '[') + item;
    } else {
      lines.back() += (i > 0 ? " " : std::string(opening, '[')) + item;
    }
  }
  // Rows of very many axes may have more brackets than there is room.
  const bool fits = std::all_of(lines.begin(), lines.end(),
      [width](const std::string& line) { return line.size() <= width; });
  return fits ? lines : summary_lines(tensor, width);
}

}  // namespace microtape
