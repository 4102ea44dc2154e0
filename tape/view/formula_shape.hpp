#pragma once

#include <optional>
#include <string_view>

#include <microtape/tape/view/formula.hpp>

// The shapes of formulas. Internal to tape/view.

namespace microtape {

/// The shape of the value, as far as the names and calls tell it; nothing if they do not, or if the
/// operands do not fit.
std::optional<Shape> shape_of(const Formula& formula);

/// The formula with a shape for each call that depends on where it leads: broadcast, sumto ..
Formula with_target(Formula formula, const Shape& target);

/// Whether a call is of a function of each number by itself.
bool is_elementwise(const Formula& call);

/// The integers of a call's subscript, one behind the other.
Indices axes_of(const Formula& call);

}  // namespace microtape
