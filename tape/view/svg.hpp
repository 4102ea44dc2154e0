#pragma once

#include <filesystem>
#include <string>

namespace microtape {

/// Lays a graph out and writes it as a picture, with Graphviz's `dot`, started without a shell.
/// @param dot   a graph in the DOT language, such as to_dot() makes
/// @throws FileError that names the package if `dot` is not installed, or says what it complained
/// of
void write_svg(const std::filesystem::path& path, const std::string& dot);

}  // namespace microtape
