#include <microtape/core/io/safetensors.hpp>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/io/safetensors_header.hpp>

namespace microtape {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little,
    "safetensors files are little endian, and are read without swapping bytes");

constexpr std::uint64_t kLengthBytes = 8;

std::string text_of(const fs::path& path) {
  const std::u8string text = path.u8string();
  return cat("\"", std::string(text.begin(), text.end()), "\"");
}

// --- reading -----------------------------------------------------------------------------

[[noreturn]] void fail_read(std::string_view what, const fs::path& path, std::string_view details) {
  throw FileError(cat("read_safetensors: ", what, ": file ", text_of(path), ": ", details));
}

/// The size of a file that can be read from front to end.
std::uint64_t size_of_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    fail_read("cannot open", path, "it does not exist");
  if (error) fail_read("cannot open", path, error.message());
  if (status.type() != fs::file_type::regular)
    fail_read(
        "cannot open", path, fs::is_directory(status) ? "it is a directory" : "it is no file");
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) fail_read("cannot open", path, error.message());
  return size;
}

/// Reads on; the caller knows that the file is long enough.
void read_bytes(std::ifstream& in, const fs::path& path, void* to, std::uint64_t bytes) {
  if (bytes == 0) return;
  in.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  if (!in) fail_read("cannot read", path, "it ended early; did it change meanwhile?");
}

/// The numbers of a Tensor that was just made, as bytes to be written.
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

/// A new file beside `target` that takes its place on commit(), and else disappears.
class Replacement {
 public:
  explicit Replacement(const fs::path& target) : target_(target), path_(target) {
    std::random_device random;
    path_ += cat(".", random(), ".tmp");
    // "x": never write into a file that is there already.
    file_ = std::fopen(path_.string().c_str(), "wbx");
    if (!file_) fail(errno);
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() {
    if (file_) std::fclose(file_);
    std::error_code ignored;
    if (!is_committed_) fs::remove(path_, ignored);
  }

  void write(const void* data, std::size_t bytes) {
    if (bytes > 0 && std::fwrite(data, 1, bytes, file_) != bytes) fail(errno);
  }

  void commit() {
    // What is still buffered may find the disk full only now.
    if (std::fclose(std::exchange(file_, nullptr)) != 0) fail(errno);
    std::error_code error;
    fs::rename(path_, target_, error);
    if (error) fail(error.value());
    is_committed_ = true;
  }

 private:
  [[noreturn]] void fail(int code) const {
    throw FileError(cat("write_safetensors: cannot write: file ", text_of(target_), ": ",
        std::generic_category().message(code)));
  }

  fs::path target_, path_;
  std::FILE* file_ = nullptr;
  bool is_committed_ = false;
};

/// The entries in the order of the data: numbers of 8 bytes first, so that all lie at multiples of
/// their size; then by name.
std::vector<safetensors::Entry> lay_out(const TensorMap& tensors) {
  std::vector<safetensors::Entry> entries;
  std::uint64_t end = 0;
  for (const std::size_t width : {std::size_t{8}, std::size_t{4}})
    for (const auto& [name, tensor] : tensors) {
      if (size_of(tensor.dtype()) != width) continue;
      const std::uint64_t begin = end;
      end += static_cast<std::uint64_t>(tensor.size()) * width;
      entries.push_back({name, tensor.dtype(), tensor.shape(), begin, end});
    }
  return entries;
}

}  // namespace

Safetensors read_safetensors(const fs::path& path) {
  // Check each length against the size of the file before anything is allocated for it.
  const std::uint64_t file_bytes = size_of_file(path);
  if (file_bytes < kLengthBytes)
    fail_read("truncated", path,
        cat("it has ", file_bytes, " bytes; the header length alone takes ", kLengthBytes));
  std::ifstream in(path, std::ios::binary);
  if (!in) fail_read("cannot open", path, "it may not be read");
  std::uint64_t header_bytes = 0;
  read_bytes(in, path, &header_bytes, kLengthBytes);
  if (header_bytes > safetensors::kMostHeaderBytes)
    fail_read("header too long", path,
        cat(header_bytes, " bytes; at most ", safetensors::kMostHeaderBytes, " are allowed"));
  if (header_bytes > file_bytes - kLengthBytes)
    fail_read("truncated", path,
        cat("it has ", file_bytes, " bytes, but a header of ", header_bytes, " after the first ",
            kLengthBytes));

  std::string text(header_bytes, '\0');
  read_bytes(in, path, text.data(), header_bytes);
  safetensors::Header header =
      safetensors::parse_header(text_of(path), text, file_bytes - kLengthBytes - header_bytes);

  // The entries stand in the order of the data, without gaps: read straight on.
  Safetensors out;
  out.metadata = std::move(header.metadata);
  for (const safetensors::Entry& entry : header.entries) {
    Tensor tensor = Tensor::uninitialized(entry.shape, entry.dtype);
    read_bytes(in, path, bytes_of(tensor), entry.end - entry.begin);
    out.tensors.emplace(entry.name, std::move(tensor));
  }
  return out;
}

void write_safetensors(const fs::path& path, const TensorMap& tensors, const Metadata& metadata) {
  const safetensors::Header header{lay_out(tensors), metadata};
  const std::string text = safetensors::header_text(header);
  const std::uint64_t length = text.size();
  if (length > safetensors::kMostHeaderBytes)
    throw ValueError(cat("write_safetensors: header too long: ", length, " bytes; at most ",
        safetensors::kMostHeaderBytes, " are allowed"));
  Replacement file(path);
  file.write(&length, kLengthBytes);
  file.write(text.data(), text.size());
  for (const safetensors::Entry& entry : header.entries)
    file.write(tensors.at(entry.name).contiguous().raw(), entry.end - entry.begin);
  file.commit();
}

}  // namespace microtape
