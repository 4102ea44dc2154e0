#pragma once

#include <filesystem>
#include <string>

namespace microtape {

/// Lays a graph out and writes it as a picture, with Graphviz's `dot`, started without a shell.
/// @param path  the picture; replaced if it exists
/// @param dot   a graph in the DOT language, such as to_dot() makes
/// @throws FileError if the picture cannot be written, if `dot` is not installed (it names the
///         package), or with the exit status of `dot` if that fails
void write_svg(const std::filesystem::path& path, const std::string& dot);

}  // namespace microtape
