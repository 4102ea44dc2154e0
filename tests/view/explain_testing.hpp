#pragma once

#include <algorithm>
#include <sstream>
#include <string>

#include <microtape/tape/view/utf8.hpp>

#include "catch.hpp"

// What the tests of explain() share.

namespace microtape::testing {

inline std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// The first sentence about a rule that stops, in one line without its number and scope:
/// "relu at [1]: its input x is -2; ..".
inline std::string stop_in(const std::string& lines) {
  const std::string text = in_one_line(lines);
  const std::string verb = " stops the adjoint";
  const std::size_t at = text.find(verb);
  if (at == std::string::npos) return text;
  const std::size_t start = text.rfind(". ", at) + 2;
  const std::string who = text.substr(start, text.find('#', start) - start - 1);
  const std::size_t rest = at + verb.size();
  return who + text.substr(rest, text.size() - rest - 2);  // without the last ". "
}

/// The columns of the widest line.
inline std::size_t widest(const std::string& text) {
  std::istringstream in(text);
  std::size_t width = 0;
  for (std::string line; std::getline(in, line);)
    width = std::max(width, utf8::display_width(line));
  return width;
}

}  // namespace microtape::testing
