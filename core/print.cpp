// Prints a Tensor as NumPy does by default: nested brackets, aligned columns, at most 8 digits
// after the point and no more than are needed to tell a number from its neighbours, lines of at
// most 75 characters. Numbers alone are NumPy's np.array2string, to the letter; an empty Tensor
// also tells its shape.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <ostream>

#include <microtape/core/format.hpp>
#include <microtape/core/tensor.hpp>

namespace microtape {
namespace {

constexpr std::size_t kPrecision = 8;
constexpr std::size_t kLineWidth = 75;
constexpr Index kMostPrinted = 1000;
/// When there are more, so many items are shown at each edge of each axis.
constexpr Index kEdge = 3;

using Words = std::vector<std::string>;

// --- one number --------------------------------------------------------------------------

/// The parts of "-12.25", or of "-1.225e+01"; the exponent is empty in positional notation.
struct Decimal {
  std::string whole, fraction, exponent;
};

/// By to_chars: the shortest text that tells T apart, or with a number of digits after the point.
template <class T, class... Digits>
std::string text_of(T value, std::chars_format format, Digits... digits) {
  char text[64];  // positional numbers are below 1e8
  return {text, std::to_chars(text, std::end(text), value, format, digits...).ptr};
}

Decimal split(const std::string& text) {
  const std::size_t e = std::min(text.find('e'), text.size());
  const std::size_t point = std::min(text.find('.'), e);
  Decimal out{text.substr(0, point), "", ""};
  if (point < e) out.fraction = text.substr(point + 1, e - point - 1);
  if (e < text.size()) out.exponent = text.substr(e + 1);
  return out;
}

Decimal without_trailing_zeros(Decimal x) {
  x.fraction.erase(x.fraction.find_last_not_of('0') + 1);
  return x;
}

template <class T>
Decimal scientific(T x) {
  const auto format = std::chars_format::scientific;
  const Decimal shortest = split(text_of(x, format));
  if (shortest.fraction.size() <= kPrecision) return shortest;
  return without_trailing_zeros(split(text_of(x, format, static_cast<int>(kPrecision))));
}

template <class T>
Decimal positional(T x) {
  const auto format = std::chars_format::fixed;
  const Decimal shortest = split(text_of(x, format));
  if (shortest.fraction.size() <= kPrecision) return shortest;
  return without_trailing_zeros(split(text_of(x, format, static_cast<int>(kPrecision))));
}

// --- all numbers, of one width -------------------------------------------------------------

std::string pad_left(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

/// Scientific notation if a number is large or small, or the largest is over 1000 times the
/// smallest.
template <class T>
bool needs_exponent(const std::vector<T>& numbers) {
  T largest = 0, smallest = 0;
  for (const T x : numbers) {
    if (!std::isfinite(x) || x == 0) continue;
    largest = std::max(largest, std::abs(x));
    smallest = smallest == 0 ? std::abs(x) : std::min(smallest, std::abs(x));
  }
  return largest != 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
}

/// How wide the parts of a number may get.
struct Widths {
  std::size_t whole = 0, fraction = 0, exponent = 0;
};

/// A finite number with its parts at these widths: a fraction ends in spaces, and before an
/// exponent in the digits that follow.
template <class T>
std::string word_of(T x, const Widths& widths) {
  if (widths.exponent == 0) {
    const Decimal d = positional(x);
    return d.whole + '.' + d.fraction + std::string(widths.fraction - d.fraction.size(), ' ');
  }
  const auto format = std::chars_format::scientific;
  const Decimal d = split(text_of(x, format, static_cast<int>(widths.fraction)));
  const std::string zeros(widths.exponent - d.exponent.size(), '0');
  return d.whole + '.' + d.fraction + 'e' + d.exponent.front() + zeros + d.exponent.substr(1);
}

/// Words for floating-point numbers: the points stand below each other.
template <class T>
Words words_of(const std::vector<T>& numbers) {
  const bool has_exponent = needs_exponent(numbers);
  Widths widths;
  for (const T x : numbers) {
    if (!std::isfinite(x)) continue;
    const Decimal d = has_exponent ? scientific(x) : positional(x);
    widths.whole = std::max(widths.whole, d.whole.size());
    widths.fraction = std::max(widths.fraction, d.fraction.size());
    widths.exponent = std::max(widths.exponent, d.exponent.size());
  }
  Words words;
  std::size_t width = 0;
  if (widths.whole > 0)
    width = widths.whole + 1 + widths.fraction + (has_exponent ? 1 + widths.exponent : 0);
  for (const T x : numbers) {
    words.push_back(std::isfinite(x) ? word_of(x, widths) : number(static_cast<double>(x)));
    width = std::max(width, words.back().size());
  }
  for (std::string& word : words) word = pad_left(word, width);
  return words;
}

Words words_of(const std::vector<std::int64_t>& numbers) {
  Words words;
  std::size_t width = 0;
  for (const std::int64_t x : numbers) {
    words.push_back(cat(x));
    width = std::max(width, words.back().size());
  }
  for (std::string& word : words) word = pad_left(word, width);
  return words;
}

// --- brackets ----------------------------------------------------------------------------

/// The indices of an axis that are printed: all, or if they are more than `most` those at the
/// edges.
std::vector<Index> shown(Index extent, Index most) {
  std::vector<Index> out;
  for (Index i = 0; i < extent; ++i) {
    if (extent > most && i == kEdge) i = extent - kEdge;
    out.push_back(i);
  }
  return out;
}

template <class T>
Words words_of(const Tensor& x, Index most) {
  // Multiply out the offsets axis by axis: row-major order.
  std::vector<Index> offsets{0};
  const Indices strides = x.strides();
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    std::vector<Index> next;
    for (const Index offset : offsets)
      for (const Index i : shown(x.shape().extents()[axis], most))
        next.push_back(offset + i * strides[axis]);
    offsets = std::move(next);
  }
  std::vector<T> numbers;
  for (const Index offset : offsets) numbers.push_back(static_cast<const T*>(x.raw())[offset]);
  return words_of(numbers);
}

/// Takes words one after another and puts them in nested brackets.
class Brackets {
 public:
  Brackets(const Shape& shape, Index most, const Words& words)
      : shape_(shape), most_(most), word_(words.begin()) {}

  std::string nested(Index axis) {
    if (axis == shape_.rank() - 1) return row();
    // Each item on a line of its own; the further out the axis, the more empty lines between.
    const auto rank = static_cast<std::size_t>(shape_.rank()),
               depth = static_cast<std::size_t>(axis);
    const std::string gap = std::string(rank - depth - 1, '\n') + std::string(depth + 1, ' ');
    std::string out = "[";
    for (const Index i : shown(shape_[axis], most_)) {
      if (i > 0) out += gap;
      if (is_gap(axis, i)) out += "..." + gap;
      out += nested(axis + 1);
    }
    return out + ']';
  }

 private:
  /// Whether the items before index i are left out.
  bool is_gap(Index axis, Index i) const {
    return shape_[axis] > most_ && i == shape_[axis] - kEdge;
  }

  std::string row() {
    const auto margin = static_cast<std::size_t>(shape_.rank());
    std::string out, line(margin, ' ');
    const auto add = [&](const std::string& word) {
      // Break the line if the word and all closing brackets do not fit.
      if (line.size() > margin && line.size() + word.size() > kLineWidth - margin) {
        out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
        line.assign(margin, ' ');
      }
      line += word + ' ';
    };
    for (const Index i : shown(shape_[-1], most_)) {
      if (is_gap(-1, i)) add("...");
      add(*word_++);
    }
    out += line;
    return '[' + out.substr(margin, out.size() - margin - 1) + ']';
  }

  const Shape& shape_;
  Index most_;  ///< items of an axis that are shown
  Words::const_iterator word_;
};

}  // namespace

std::string Tensor::str() const {
  const Shape whole = shape();
  if (size() == 0) return cat("[] (shape ", whole, ")");
  const Index most = size() > kMostPrinted ? 2 * kEdge : size();
  const Words words = dtype() == float32   ? words_of<float>(*this, most)
                      : dtype() == float64 ? words_of<double>(*this, most)
                                           : words_of<std::int64_t>(*this, most);
  return rank() == 0 ? words.front() : Brackets(whole, most, words).nested(0);
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.str(); }

}  // namespace microtape
