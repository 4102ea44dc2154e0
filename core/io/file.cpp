#include <microtape/core/io/file.hpp>

#include <bit>
#include <cerrno>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little,
    "numbers in files are little endian, and are read without swapping bytes");

/// `<op>: <what>: file "<path>": <details>`.
[[noreturn]] void fail_file(
    std::string_view op, std::string_view what, const fs::path& path, std::string_view details) {
  throw FileError(cat(op, ": ", what, ": file ", text_of(path), ": ", details));
}

}  // namespace

std::string text_of(const fs::path& path) {
  const std::u8string text = path.u8string();
  return cat("\"", std::string(text.begin(), text.end()), "\"");
}

// --- reading -----------------------------------------------------------------------------

InputFile::InputFile(std::string_view op, const fs::path& path) : op_(op), path_(path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail("cannot open", "it does not exist");
  if (error) fail("cannot open", error.message());
  if (status.type() != fs::file_type::regular)
    fail("cannot open", fs::is_directory(status) ? "it is a directory" : "it is no file");
  size_ = left_ = fs::file_size(path, error);
  if (error) fail("cannot open", error.message());
  in_.open(path, std::ios::binary);
  if (!in_) fail("cannot open", "it may not be read");
}

void InputFile::read(void* to, std::uint64_t bytes) {
  if (bytes == 0) return;
  in_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  if (!in_) fail("cannot read", "it ended early; did it change meanwhile?");
  left_ -= bytes;
}

void InputFile::fail(std::string_view what, std::string_view details) const {
  fail_file(op_, what, path_, details);
}

void* bytes_of(Tensor& tensor) {
  switch (tensor.dtype()) {
    case float32:
      return tensor.mutable_data<float>().data();
    case float64:
      return tensor.mutable_data<double>().data();
    default:
      return tensor.mutable_data<std::int64_t>().data();
  }
}

// --- writing -----------------------------------------------------------------------------

Replacement::Replacement(std::string_view op, const fs::path& target)
    : op_(op), target_(target), path_(target) {
  std::random_device random;
  path_ += cat(".", random(), ".tmp");
  // "x": never write into a file that is there already.
  file_ = std::fopen(path_.string().c_str(), "wbx");
  if (!file_) fail(errno);
}

Replacement::~Replacement() {
  if (file_) std::fclose(file_);
  std::error_code ignored;
  if (!is_committed_) fs::remove(path_, ignored);
}

void Replacement::write(const void* data, std::size_t bytes) {
  if (bytes > 0 && std::fwrite(data, 1, bytes, file_) != bytes) fail(errno);
}

void Replacement::commit() {
  // What is still buffered may find the disk full only now.
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail(errno);
  std::error_code error;
  fs::rename(path_, target_, error);
  if (error) fail(error.value());
  is_committed_ = true;
}

void Replacement::fail(int code) const {
  fail_file(op_, "cannot write", target_, std::generic_category().message(code));
}

void write_text(std::string_view op, const fs::path& path, std::string_view text) {
  Replacement file(op, path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace microtape
