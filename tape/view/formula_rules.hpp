#pragma once

#include <optional>
#include <span>

#include <microtape/tape/view/formula.hpp>

// The algebra of formulas: each rule is an identity that a student knows. Internal to tape/view.

namespace microtape {

/// A changed formula; nothing if the rule does not apply.
using FormulaRule = std::optional<Formula> (*)(const Formula& formula);

/// A broadcast, and a reshape that only merges rows, vanish where the value is the same without
/// them, and move outward to where that is so; sums have their axes named.
std::span<const FormulaRule> silent_rules();

/// The formula under silent_rules().
Formula literal_form(Formula formula);

/// The same, and scalars and signs moved outward, transposes inward.
Formula textbook_form(Formula formula);

/// c (A B) as (c A) B, which is written without parentheses; everywhere in the formula.
Formula numbers_in_front(Formula formula);

/// What the left side of an equation is.
enum class LineOf : std::uint8_t { value, adjoint };

/// The formula as a right side: what a reader does anyway when the left side has another shape is
/// left out. That is a broadcast, a reshape that merges rows or, in an adjoint, takes them apart
/// again, and a sum over the rows of all batches that belongs to a product.
Formula line_form(const Formula& formula, LineOf line);

/// The formula as a value of a shape: a sum over named axes, a broadcast or a reshape is put around
/// it if its shape is another.
Formula with_shape(Formula formula, const Shape& shape);

/// a + b + .., as a tree whose depth is the logarithm of its size.
Formula sum_of(std::span<const Formula> terms);

}  // namespace microtape
