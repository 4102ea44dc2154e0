#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/tensor.hpp>

namespace microtape::testing {

/// A folder of its own that disappears with the test.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / cat("microtape_file_test_", std::random_device{}());
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path operator/(const char* name) const { return path / name; }
  std::ptrdiff_t count() const {
    return std::distance(
        std::filesystem::directory_iterator(path), std::filesystem::directory_iterator{});
  }
};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void put(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// 8 bytes, little endian.
inline std::string length_of(std::uint64_t number) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(number >> (8 * i) & 0xff);
  return out;
}

/// What read(path) says of a file with this content, `<op>: <what>: file "<path>": <details>`, but
/// for op and file: `<what>: <details>`. "" if it can be read.
/// @throws std::logic_error if the text does not name op and file
template <class F>
std::string failure_of(const std::string& op, const std::string& bytes, F read) {
  static const Folder folder;
  const std::filesystem::path path = folder / "x";
  put(path, bytes);
  try {
    read(path);
    return "";
  } catch (const FileError& error) {
    const std::string text = error.what(), name = cat("file \"", path.string(), "\": ");
    const std::size_t at = text.find(name);
    if (at == text.npos || text.rfind(op + ": ", 0) != 0)
      throw std::logic_error("this does not name op and file: " + text);
    return text.substr(op.size() + 2, at - op.size() - 2) + text.substr(at + name.size());
  }
}

inline bool starts_with(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

/// Shape, dtype and every bit.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return x.shape() == y.shape() && x.dtype() == y.dtype() &&
         std::memcmp(x.raw(), y.raw(), static_cast<std::size_t>(x.size()) * size_of(x.dtype())) ==
             0;
}

}  // namespace microtape::testing
