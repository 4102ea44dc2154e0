#pragma once

#include <string>

#include <microtape/tape/backward.hpp>

namespace microtape {

/// The tape as a graph for Graphviz: `dot -Tsvg` lays it out, from inputs down to outputs.
///
/// Scopes are frames. Leaves are boxes (blue), parameters cylinders (orange), constants sheets with
/// a folded corner (grey), ops have round corners (white), and what no op uses has a double border
/// (green). Up to 16 numbers of a value are shown and, if swept, of its adjoint. An edge has the
/// name that the op gives the input, and what its rule adds to the adjoint of the input; it is
/// dashed if no adjoint flows along it. The same tape always gives the same bytes.
/// @param sweep  over this tape, done or on its way; null: no adjoints
std::string to_dot(const MicroTape& tape, const Sweep* sweep = nullptr);

}  // namespace microtape
