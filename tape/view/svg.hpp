#pragma once

#include <string>

#include <microtape/tape/backward.hpp>
#include <microtape/tape/view/graph_options.hpp>

namespace microtape {

/// Lays a graph out as a picture, with Graphviz's `dot`, started without a shell.
/// @param dot  a graph in the DOT language, such as to_dot() makes
/// @return     SVG, in UTF-8
/// @throws FileError if `dot` is not installed (it names the package), with the exit status of
/// `dot`
///         if that fails, or if it takes more than 30 s
std::string to_svg(const std::string& dot);
/// to_dot() as a picture.
/// @throws FileError as above; ValueError if more than 1000 nodes are visible, or as to_dot()
std::string to_svg(
    const MicroTape& tape, const Sweep* sweep = nullptr, const GraphOptions& options = {});

/// to_svg() as a file, which replaces one that was there. The graph is written first, beside it,
/// with .dot in place of the extension, and stays if the picture fails.
/// @throws FileError if a file cannot be written, and as to_svg(); ValueError if the extension is
///         .dot itself
void write_svg(const std::string& path, const std::string& dot);
/// @throws FileError, ValueError as above, and as to_svg()
void write_svg(const std::string& path, const MicroTape& tape, const Sweep* sweep = nullptr,
    const GraphOptions& options = {});

}  // namespace microtape
