#pragma once

// Text for messages and tables. Internal: included by sources only (g++ 12 has no <format>).

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

#include <microtape/core/shape.hpp>

namespace microtape {

inline void append(std::string& out, std::string_view text) { out += text; }
inline void append(std::string& out, const Shape& shape) { out += shape.str(); }
inline void append(std::string& out, DType dtype) { out += name(dtype); }
void append(std::string& out, const Indices& list);

template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>)
void append(std::string& out, T number) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
}

/// `digits` significant digits, as %g would print them in the C locale: 0.75, 1e-09, nan, -inf.
std::string number(double value, int digits = 6);
/// The shortest text that reads back as the same number.
std::string exact(double value);
inline void append(std::string& out, double value) { out += exact(value); }

/// The text in quotation marks, for a message; shortened if it is long.
std::string in_quotes(std::string_view text);

/// Concatenates its arguments as text.
template <class... Args>
std::string cat(const Args&... args) {
  std::string out;
  (append(out, args), ...);
  return out;
}

}  // namespace microtape
