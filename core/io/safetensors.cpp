#include <microtape/core/io/safetensors.hpp>

#include <filesystem>
#include <utility>
#include <vector>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/io/file.hpp>
#include <microtape/core/io/safetensors_header.hpp>

namespace microtape {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLengthBytes = 8;

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

Safetensors read_safetensors(const std::string& path) {
  // Check each length against the size of the file before anything is allocated for it.
  InputFile file("read_safetensors", path);
  if (file.size() < kLengthBytes)
    file.fail("truncated",
        cat("it has ", file.size(), " bytes; the header length alone takes ", kLengthBytes));
  std::uint64_t header_bytes = 0;
  file.read(&header_bytes, kLengthBytes);
  if (header_bytes > safetensors::kMostHeaderBytes)
    file.fail("header too long",
        cat(header_bytes, " bytes; at most ", safetensors::kMostHeaderBytes, " are allowed"));
  if (header_bytes > file.left())
    file.fail("truncated", cat("it has ", file.size(), " bytes, but a header of ", header_bytes,
                               " after the first ", kLengthBytes));

  std::string text(header_bytes, '\0');
  file.read(text.data(), header_bytes);
  safetensors::Header header = safetensors::parse_header(file, text);

  // The entries stand in the order of the data, without gaps: read straight on.
  Safetensors out;
  out.metadata = std::move(header.metadata);
  for (const safetensors::Entry& entry : header.entries) {
    Tensor tensor = Tensor::uninitialized(entry.shape, entry.dtype);
    file.read(bytes_of(tensor), entry.end - entry.begin);
    out.tensors.emplace(entry.name, std::move(tensor));
  }
  return out;
}

void write_safetensors(
    const std::string& path, const TensorMap& tensors, const Metadata& metadata) {
  const safetensors::Header header{lay_out(tensors), metadata};
  const std::string text = safetensors::header_text(header);
  const std::uint64_t length = text.size();
  if (length > safetensors::kMostHeaderBytes)
    throw ValueError(cat("write_safetensors: header too long: ", length, " bytes; at most ",
        safetensors::kMostHeaderBytes, " are allowed"));
  Replacement file("write_safetensors", path);
  file.write(&length, kLengthBytes);
  file.write(text.data(), text.size());
  for (const safetensors::Entry& entry : header.entries)
    file.write(tensors.at(entry.name).contiguous().raw(), entry.end - entry.begin);
  file.commit();
}

}  // namespace microtape
