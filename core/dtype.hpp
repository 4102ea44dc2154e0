#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace microtape {

/// Extents, offsets and axes. Signed, so that `i - 1` and `-1` mean what they say.
using Index = std::int64_t;

/// The number type of a Tensor: float32 (the default) or float64 for values, int64 for indices and
/// 0/1 masks. Two dtypes never mix in silence: convert with Tensor::to(dtype).
enum class DType : std::uint8_t { float32, float64, int64 };
using enum DType;

/// "float32", "float64" or "int64".
std::string_view name(DType dtype);

/// Bytes of one element: 4 or 8.
constexpr std::size_t size_of(DType dtype) { return dtype == float32 ? 4 : 8; }

/// Whether the dtype can carry a derivative: float32 and float64 do.
constexpr bool is_floating(DType dtype) { return dtype != int64; }

/// The dtype that holds the C++ type T: float, double or std::int64_t; no other T compiles.
template <class T>
  requires(std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int64_t>)
inline constexpr DType kDTypeOf = std::same_as<T, float>    ? float32
                                  : std::same_as<T, double> ? float64
                                                            : int64;

}  // namespace microtape
