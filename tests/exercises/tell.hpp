#pragma once

#include <iostream>
#include <string>

#include "exercise.hpp"

// What the programs of rules share.

namespace microtape::testing {

/// Prints what a student would be told of a solution.
/// @param told  a part of that, for a wrong solution; empty: the solution is right
/// @return whether that is told, and in six lines: a wrong solution that is accepted, a right one
///         that is rejected and a cause that is not the true one are failures
inline bool tell(
    const std::string& name, const char* what, const Exercise& exercise, std::string_view told) {
  const Verdict verdict = check(exercise);
  const std::vector<std::string> lines = verdict.lines(name);
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  const bool holds = verdict.is_right() == told.empty() && lines.size() <= 6 &&
                     text.find(told) != std::string::npos;
  std::cout << "== " << what << (holds ? "\n" : " [EXPECTED: ") << (holds ? "" : told)
            << (holds ? "" : "]\n") << text << '\n';
  return holds;
}

}  // namespace microtape::testing
