#pragma once

#include <string>

#include <microtape/tape/backward.hpp>
#include <microtape/tape/view/graph_options.hpp>

namespace microtape {

/// The tape as a graph for Graphviz: `dot -Tsvg` lays it out, from inputs down to outputs.
///
/// Scopes are frames. Leaves are boxes (blue), parameters cylinders (orange), constants sheets with
/// a folded corner (grey), ops have round corners (white; those that a sweep recorded are tinted,
/// in a frame "backward"), and what no op uses has a double border (green). A folded scope is a box
/// in front of others. Up to 16 numbers of a value are shown, else the least, the largest and the
/// norm, and the same of its adjoint if there is a sweep; an adjoint that it did not reach is "not
/// computed". An edge has the name that the op gives the input, and what its rule adds to the
/// adjoint of the input; it is dashed if no adjoint can flow along it, and has a second, coloured
/// line back where one did. Texts come through as they are, up to 300 columns. The same tape always
/// gives the same bytes.
/// @param sweep  over this tape, done or on its way; null: no adjoints
/// @throws ValueError if options.id_prefix cannot begin an id
std::string to_dot(
    const MicroTape& tape, const Sweep* sweep = nullptr, const GraphOptions& options = {});

/// to_dot() as a file, which replaces one that was there.
/// @throws FileError if it cannot be written
void write_dot(const std::string& path, const MicroTape& tape, const Sweep* sweep = nullptr,
    const GraphOptions& options = {});

}  // namespace microtape
