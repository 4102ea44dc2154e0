#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/file_testing.hpp"

namespace microtape::testing {

inline bool has_dot() { return std::system("dot -V > /dev/null 2>&1") == 0; }

/// While it lives, PATH leads to one folder alone: with a program `dot` that is this shell script,
/// or with none.
class DotProgram {
 public:
  explicit DotProgram(const std::string& script = "") : path_(std::getenv("PATH")) {
    if (!script.empty()) {
      put(folder_ / "dot", "#!/bin/sh\n" + script + "\n");
      std::filesystem::permissions(folder_ / "dot", std::filesystem::perms::owner_all);
    }
    setenv("PATH", folder_.path.c_str(), 1);
  }
  ~DotProgram() { setenv("PATH", path_.c_str(), 1); }
  DotProgram(const DotProgram&) = delete;
  DotProgram& operator=(const DotProgram&) = delete;

 private:
  Folder folder_;
  std::string path_;
};

}  // namespace microtape::testing
