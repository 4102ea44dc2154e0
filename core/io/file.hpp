#pragma once

// Files that are read from front to end, and files that are written as a whole or not at all.
// Internal: included by sources only.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <microtape/core/tensor.hpp>

namespace microtape {

/// A path in quotes, in UTF-8, for messages.
std::string text_of(const std::filesystem::path& path);

/// A regular file that is read from front to end. All that is wrong with it is a FileError,
/// `<op>: <what is wrong>: file "<path>": <details>`.
class InputFile {
 public:
  /// @param op  who reads it, a literal
  /// @throws FileError if there is no such file, or it may not be read
  InputFile(std::string_view op, const std::filesystem::path& path);

  /// How many bytes it has.
  std::uint64_t size() const { return size_; }
  /// How many of them have not been read.
  std::uint64_t left() const { return left_; }

  /// Reads on. The caller has seen to it that so many bytes are left.
  void read(void* to, std::uint64_t bytes);

  [[noreturn]] void fail(std::string_view what, std::string_view details) const;

 private:
  std::string_view op_;
  std::filesystem::path path_;
  std::ifstream in_;
  std::uint64_t size_ = 0, left_ = 0;
};

/// A new file beside `target` that takes its place on commit(), and else disappears.
class Replacement {
 public:
  /// @param op  who writes it, a literal
  /// @throws FileError, as all that follows, if it cannot be written
  Replacement(std::string_view op, const std::filesystem::path& target);
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement();

  void write(const void* data, std::size_t bytes);
  void commit();

 private:
  [[noreturn]] void fail(int code) const;

  std::string_view op_;
  std::filesystem::path target_, path_;
  std::FILE* file_ = nullptr;
  bool is_committed_ = false;
};

/// Writes a text in this way. @param op  who writes it, a literal. @throws FileError as above
void write_text(std::string_view op, const std::filesystem::path& path, std::string_view text);

/// The numbers of a Tensor that was just made, as little-endian bytes to be written.
void* bytes_of(Tensor& tensor);

}  // namespace microtape
