#pragma once

#include <string_view>

// Internal: what a user may give as the LaTeX of a name.

namespace microtape {

/// Refuses what would break the formula that it stands in, and commands that do more than write.
/// The name itself is no LaTeX, but text, whatever it holds.
/// @param op    who was given it
/// @param name  of what
/// @throws ValueError
void check_latex(std::string_view op, std::string_view name, std::string_view latex);

}  // namespace microtape
