#pragma once

// The frame of a tutorial: its options, its checks, its exit status.

#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "show.hpp"
#include "views.hpp"

namespace tutorial {

/// Runs body(out, verdict), where `out` is the folder after --out, or empty.
/// @param add_options  adds those that the tutorial has besides --out
/// @return the exit status: 0 if every check of the verdict holds
template <class Body>
int run(int argc, char** argv, const std::string& name, const std::string& what, Body body,
    const std::function<void(CLI::App&)>& add_options = nullptr) {
  std::string out;
  CLI::App app(what, name);
  app.add_option("--out", out, "A folder for the graph, the page to step through, the equations");
  if (add_options) add_options(app);
  CLI11_PARSE(app, argc, argv);
  try {
    show::Verdict verdict;
    body(out, verdict);
    return verdict.conclude();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    return 1;
  }
}

}  // namespace tutorial
