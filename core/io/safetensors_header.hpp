#pragma once

// The JSON header of a safetensors file as values. Internal: included by sources only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <microtape/core/io/file.hpp>
#include <microtape/core/io/safetensors.hpp>

namespace microtape::safetensors {

/// No header may be longer: 100 MB, as in the format's own library.
inline constexpr std::uint64_t kMostHeaderBytes = 100'000'000;

/// One tensor of a header: its numbers are bytes begin .. end - 1 of the data after the header.
struct Entry {
  std::string name;
  DType dtype = float32;
  Shape shape;
  std::uint64_t begin = 0, end = 0;
};

/// What a header says. The entries cover the data in order, without gaps.
struct Header {
  std::vector<Entry> entries;
  Metadata metadata;
};

/// Reads a header, and checks all of it against the number of bytes that follow.
/// @param file  what it was read from; the data are left
/// @throws FileError as read_safetensors()
Header parse_header(const InputFile& file, std::string_view text);

/// A header for the entries as they stand, padded with spaces to a multiple of 8 bytes.
/// @throws ValueError if a name or a text is not UTF-8, or a tensor is named "__metadata__"
std::string header_text(const Header& header);

}  // namespace microtape::safetensors
