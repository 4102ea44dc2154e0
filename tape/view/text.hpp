#pragma once

#include <string>

#include <microtape/tape/backward.hpp>

namespace microtape {

/// The tape as a table of at most 80 columns: number, name, equation, shape, value and, if swept,
/// the adjoint, beside the value or in a row of its own below. Scopes are headings. The numbers
/// have four digits; of a Tensor of more than 16 the least, the largest and the Euclidean norm are
/// shown. A value that the tape did not keep reads "not kept", an adjoint that the sweep did not
/// reach "-". The same tape always gives the same bytes.
/// @param sweep  over this tape, done or on its way; null: no adjoints
std::string to_text(const MicroTape& tape, const Sweep* sweep = nullptr);

}  // namespace microtape
