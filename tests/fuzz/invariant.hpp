#pragma once

#include <filesystem>

#include <microtape/core/io/npy.hpp>
#include <microtape/core/io/safetensors.hpp>

#include "core/file_testing.hpp"

// What holds of any file whatever, for the fuzzers and for the test that replays their corpus.

namespace microtape::testing {

/// Whether a file is read rather than refused. Anything else that happens to it is an exception.
/// @param check  reads the file
/// @throws std::logic_error if the FileError that refuses it does not name it
template <class F>
bool is_read(const std::filesystem::path& path, F check) {
  try {
    check();
    return true;
  } catch (const FileError& error) {
    const std::string text = error.what();
    if (text.find(path.string()) == text.npos)
      throw std::logic_error("this does not name the file: " + text);
    return false;
  }
}

inline void require_same(bool is_same) {
  if (!is_same) throw std::logic_error("written and read again, it is something else");
}

/// Whether a file is read by read_npy; then the Tensor, written and read again, is the same.
/// @throws whatever should not have happened
inline bool check_npy(const std::filesystem::path& path, const std::filesystem::path& copy) {
  Tensor x;
  if (!is_read(path, [&] { x = read_npy(path); })) return false;
  write_npy(copy, x);
  require_same(same_bits(read_npy(copy), x));
  return true;
}

/// The same for read_safetensors.
inline bool check_safetensors(
    const std::filesystem::path& path, const std::filesystem::path& copy) {
  Safetensors file;
  if (!is_read(path, [&] { file = read_safetensors(path); })) return false;
  write_safetensors(copy, file.tensors, file.metadata);
  const Safetensors again = read_safetensors(copy);
  require_same(again.metadata == file.metadata && again.tensors.size() == file.tensors.size());
  for (const auto& [name, tensor] : file.tensors)
    require_same(same_bits(again.tensors.at(name), tensor));
  return true;
}

}  // namespace microtape::testing
