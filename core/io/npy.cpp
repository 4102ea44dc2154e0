#include <microtape/core/io/npy.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <vector>

#include <microtape/core/format.hpp>
#include <microtape/core/io/npy_header.hpp>

namespace microtape {
namespace {

namespace fs = std::filesystem;

DType dtype_of(const npy::Type& type) {
  if (type.kind != 'f') return int64;
  return type.width == 8 ? float64 : float32;
}

/// The bits of the float32 that is equal to a half: sign, exponent, fraction have 1, 5, 10 bits
/// there, and 1, 8, 23 here.
std::uint64_t widen_half(std::uint64_t half) {
  const std::uint64_t sign = half >> 15 << 31, exponent = half >> 10 & 31, fraction = half & 1023;
  // Infinities and nans have all bits of the exponent.
  if (exponent == 31) return sign | 255 << 23 | fraction << 13;
  // Zero and the subnormal numbers are fraction * 2^-24.
  if (exponent == 0)
    return sign | std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * 0x1p-24f);
  return sign | (exponent - 15 + 127) << 23 | fraction << 13;
}

/// The bits of the number in dtype_of(type), given its bits in the file.
std::uint64_t widen(std::uint64_t bits, const npy::Type& type) {
  switch (type.kind) {
    case 'b':
      return bits != 0;
    case 'i': {
      // Push the sign bit to the top; the shift back repeats it.
      const std::size_t unused = 64 - 8 * type.width;
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
    }
    case 'f':
      return type.width == 2 ? widen_half(bits) : bits;
    default:
      return bits;
  }
}

/// Reads the numbers in the order of the file.
Tensor read_numbers(InputFile& file, const npy::Type& type, const Shape& shape) {
  Tensor tensor = Tensor::uninitialized(shape, dtype_of(type));
  auto* to = static_cast<unsigned char*>(bytes_of(tensor));
  const std::size_t width = size_of(tensor.dtype());
  // The usual case: the bytes are those of the Tensor.
  if (type.width == width && !type.is_big_endian) {
    file.read(to, file.left());
    return tensor;
  }
  std::vector<unsigned char> raw(file.left());
  file.read(raw.data(), raw.size());
  for (const unsigned char* from = raw.data(); from != raw.data() + raw.size(); to += width) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < type.width; ++i)
      bits |= std::uint64_t{*from++} << 8 * (type.is_big_endian ? type.width - 1 - i : i);
    bits = widen(bits, type);
    std::memcpy(to, &bits, width);
  }
  return tensor;
}

}  // namespace

Tensor read_npy(const std::string& path) {
  InputFile file("read_npy", path);
  const npy::Header header = npy::read_header(file);

  // See that exactly these numbers follow, before anything is allocated for them.
  const std::uint64_t bytes = static_cast<std::uint64_t>(header.shape.size()) * header.type.width;
  const std::string what = cat("data for shape ", header.shape, " of ", in_quotes(header.descr));
  npy::require_bytes(file, bytes, what);
  if (file.left() > bytes)
    file.fail("data left over", cat("expected ", bytes, " bytes of ", what, ", found ", file.left(),
                                    "; a file holds one array"));
  if (!header.is_fortran) return read_numbers(file, header.type, header.shape);

  // Fortran order is row-major order with the axes turned around.
  Indices extents = header.shape.extents(), order;
  std::reverse(extents.begin(), extents.end());
  for (Index axis = header.shape.rank(); axis-- > 0;) order.push_back(axis);
  return read_numbers(file, header.type, Shape(extents)).permute(order).contiguous();
}

void write_npy(const std::string& path, const Tensor& tensor) {
  const std::string header = npy::header_bytes(tensor.dtype(), tensor.shape());
  Replacement file("write_npy", path);
  file.write(header.data(), header.size());
  file.write(
      tensor.contiguous().raw(), static_cast<std::size_t>(tensor.size()) * size_of(tensor.dtype()));
  file.commit();
}

}  // namespace microtape
