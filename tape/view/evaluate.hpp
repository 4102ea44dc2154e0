#pragma once

#include <map>
#include <optional>
#include <string>

#include <microtape/tape/view/array.hpp>
#include <microtape/tape/view/formula.hpp>

namespace microtape {

/// The values that the names of a formula stand for.
using Environment = std::map<std::string, Array, std::less<>>;

/// The value of a formula without slots, by plain loops in double: an independent judge of what ops
/// and rules compute.
/// @param target  the shape of what the formula defines: calls that depend on where they lead
///                (broadcast, sumto, reshape ..) lead to it unless they have a shape of their own,
///                and the result is summed or broadcast to it
/// @throws ValueError if the formula has a slot, an unknown name, letter or function; ShapeError if
///         the shapes do not fit
Array evaluate(const Formula& formula, const Environment& environment, const Shape& target);

/// The value of `\operatorname{f}_{subscript}(arguments ..)`; part of evaluate().
Array evaluate_call(const std::string& function, const Indices& subscript,
    const std::vector<Array>& arguments, const Shape& target);

/// The same of the functions that take numbers by their place; nothing if it is none of them.
std::optional<Array> evaluate_index_call(const std::string& function, const Indices& subscript,
    const std::vector<Array>& arguments, const Shape& target);

}  // namespace microtape
