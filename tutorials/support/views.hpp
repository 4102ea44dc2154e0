#pragma once

// Everything that a person can look at of a tape, as files.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <microtape/microtape.hpp>

namespace views {

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text).flush()) throw microtape::FileError("cannot write " + path.string());
}

/// The folder, made if need be.
/// @throws microtape::FileError if it cannot be
inline std::filesystem::path folder(const std::string& out) {
  std::error_code failure;
  std::filesystem::create_directories(out, failure);
  if (failure)
    throw microtape::FileError("cannot make the folder " + out + ": " + failure.message());
  return out;
}

/// Writes NAME.txt (the table), NAME.equations.txt, .tex and .mathml (the derivation), NAME.html
/// (to step through in a browser), NAME.json, NAME.mmd (Mermaid) and, if Graphviz is there,
/// NAME.dot and NAME.svg (the graph), and says so.
/// @param out  the folder, which is made if need be; empty: nothing is written
/// @throws microtape::FileError if the folder or a file cannot be written
inline void write(const std::string& out, const std::string& name, const microtape::MicroTape& tape,
    const microtape::Sweep& sweep, const microtape::Var& y,
    const microtape::HtmlOptions& html = {}) {
  if (out.empty()) return;
  const std::filesystem::path dir = folder(out);
  const microtape::Derivation equations = microtape::derivation(tape, y);
  write_file(dir / (name + ".txt"), microtape::to_text(tape, &sweep));
  write_file(dir / (name + ".equations.txt"), microtape::to_text(equations));
  write_file(dir / (name + ".tex"), microtape::to_latex(equations));
  write_file(dir / (name + ".mathml"), microtape::to_mathml(equations));
  microtape::write_html(dir / (name + ".html"), tape, y, html);
  microtape::write_json(dir / (name + ".json"), tape, &sweep);
  microtape::write_mermaid(dir / (name + ".mmd"), tape, &sweep);
  std::printf("\nWritten into %s: %s.txt .equations.txt .tex .mathml .html .json .mmd", out.c_str(),
      name.c_str());
  try {
    microtape::write_svg(dir / (name + ".svg"), tape, &sweep);
    std::printf(" .dot .svg\n");
  } catch (const microtape::FileError& error) {
    std::printf("\nNo picture: %s\n", error.what());
  }
}

/// Writes another graph: NAME.dot and, if Graphviz is there, NAME.svg, and says so.
/// @param dot  what to_dot() makes of a tape, with options, or of a diff()
/// @throws as write()
inline void write_graph(const std::string& out, const std::string& name, const std::string& dot) {
  if (out.empty()) return;
  try {
    microtape::write_svg(folder(out) / (name + ".svg"), dot);
    std::printf("Written into %s: %s.dot .svg\n", out.c_str(), name.c_str());
  } catch (const microtape::FileError& error) {
    std::printf("No picture: %s\n", error.what());
  }
}

}  // namespace views
