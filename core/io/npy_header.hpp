#pragma once

// What stands in an .npy file before the numbers. Internal: included by sources only.

#include <string>

#include <microtape/core/io/file.hpp>

namespace microtape::npy {

/// How a file spells a number: NumPy's `>i2` is {'i', 2, true}.
struct Type {
  char kind = 'f';        ///< f: floating, i: integer, u: unsigned integer, b: 0 or 1
  std::size_t width = 4;  ///< in bytes
  bool is_big_endian = false;
};

struct Header {
  std::string descr;  ///< the type as the file writes it
  Type type;
  bool is_fortran = false;  ///< the first axis varies fastest, not the last
  Shape shape;
};

/// Reads magic string, version and header; the numbers are left, not yet counted.
/// @throws FileError as read_npy()
Header read_header(InputFile& file);

/// @throws FileError unless so many bytes are left: `truncated: expected 24 bytes of data, found
/// 10`
void require_bytes(const InputFile& file, std::uint64_t bytes, std::string_view of_what);

/// All that numpy.save writes before numbers in row-major order.
std::string header_bytes(DType dtype, const Shape& shape);

}  // namespace microtape::npy
