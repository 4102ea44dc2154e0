#pragma once

#include <optional>
#include <string_view>

#include <microtape/tape/view/formula.hpp>

// What a formula is, for those that change formulas. Internal to tape/view.

namespace microtape {

/// A change of a formula; nothing if it does not apply.
using Changed = std::optional<Formula>;

bool is_call(const Formula& f, std::string_view function);

/// A number, or a value of rank 0.
bool is_scalar(const Formula& f);

/// An addition or a subtraction.
bool is_sum(const Formula& f);

/// A matrix product, not scaling.
bool is_matrix_product(const Formula& f);

/// An operation of two arguments on each pair of numbers.
bool is_pointwise_pair(const Formula& f);

/// The place of the child that f scales, negates or divides by a scalar; nothing if f is none of
/// these.
std::optional<std::size_t> scaled_child(const Formula& f);

/// A broadcast that aligns its argument on the right, so that arithmetic would do it by itself.
bool is_aligned_broadcast(const Formula& f);

/// A reshape that keeps the last axis and merges others that stand side by side.
bool merges_rows(const Formula& f);
/// The opposite: it takes merged rows apart.
bool splits_rows(const Formula& f);

/// f with another child at i.
Formula with_child(Formula f, std::size_t i, Formula child);

}  // namespace microtape
