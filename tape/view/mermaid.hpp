#pragma once

#include <string>

#include <microtape/tape/backward.hpp>
#include <microtape/tape/view/graph_options.hpp>

namespace microtape {

/// The tape as a flowchart in Mermaid, which Markdown pages and notebooks draw without a program
/// of their own. It shows what to_dot() shows: scopes are frames; leaves are boxes, parameters
/// cylinders, constants flags, ops have round corners, what no op uses has round ends, and a folded
/// scope is a box with double sides. The same tape always gives the same bytes. Ids begin with
/// options.id_prefix alone: Mermaid sees to it that flowcharts on one page do not clash.
/// @param sweep  over this tape, done or on its way; null: no adjoints
/// @throws ValueError if options.id_prefix cannot begin an id
std::string to_mermaid(
    const MicroTape& tape, const Sweep* sweep = nullptr, const GraphOptions& options = {});

/// to_mermaid() as a file, which replaces one that was there.
/// @throws FileError if it cannot be written
void write_mermaid(const std::string& path, const MicroTape& tape, const Sweep* sweep = nullptr,
    const GraphOptions& options = {});

}  // namespace microtape
