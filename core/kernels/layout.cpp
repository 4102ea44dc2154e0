#include <microtape/core/kernels/layout.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/kernels/dispatch.hpp>
#include <microtape/core/kernels/strided.hpp>

namespace microtape::kernels {
namespace {

constexpr Index kTile = 16;

/// Copies a matrix whose columns, not rows, lie together in the source: in tiles, so that each line
/// of the cache is used whole while it is there.
template <class T>
void copy_transposed(T* to, const T* from, const Loop<2>& rows, const Loop<2>& columns) {
  for (Index i0 = 0; i0 < rows.extent; i0 += kTile)
    for (Index j0 = 0; j0 < columns.extent; j0 += kTile)
      for (Index i = i0; i < std::min(i0 + kTile, rows.extent); ++i)
        for (Index j = j0; j < std::min(j0 + kTile, columns.extent); ++j)
          to[i * rows.steps[0] + j * columns.steps[0]] =
              from[i * rows.steps[1] + j * columns.steps[1]];
}

/// Writes the numbers of x to `to`, an area of x's shape with strides of its own.
template <class T>
void copy_into(T* to, const Indices& to_strides, const Tensor& x) {
  const T* from = first<T>(x);
  Nest<2> nest(x.shape(), {to_strides, x.strides()});
  const Loop<2> columns = nest.pop();
  if (nest.inner().steps[1] == 1 && columns.steps[1] != 1) {
    const Loop<2> rows = nest.pop();
    nest.for_each(
        [&](const Steps<2>& at) { copy_transposed(to + at[0], from + at[1], rows, columns); });
    return;
  }
  nest.for_each([&](const Steps<2>& at) {
    T* out = to + at[0];
    const T* in = from + at[1];
    if (columns.steps == Steps<2>{1, 1}) {
      std::copy_n(in, columns.extent, out);
    } else {
      for (Index i = 0; i < columns.extent; ++i)
        out[i * columns.steps[0]] = in[i * columns.steps[1]];
    }
  });
}

/// The number in type To; a float that has no int64 is refused.
template <class To, class From>
To convert(From number, const Tensor& x) {
  if constexpr (std::is_same_v<To, std::int64_t> && std::is_floating_point_v<From>) {
    // Both bounds are powers of two, so that float and double hold them exactly.
    if (!(number >= From{-0x1p63} && number < From{0x1p63}))
      throw ValueError(cat("to: ", static_cast<double>(number), " has no int64: x ", x.dtype(), " ",
          x.shape(), "; numbers must be at least -2^63 and below 2^63"));
  }
  return static_cast<To>(number);
}

}  // namespace

Tensor copy(const Tensor& x) {
  return with_type(x.dtype(), [&]<class T>() {
    Tensor out = Tensor::uninitialized(x.shape(), x.dtype());
    copy_into(out.mutable_data<T>().data(), out.strides(), x);
    return out;
  });
}

Tensor cast(const Tensor& x, DType dtype) {
  if (!x.is_contiguous()) return cast(copy(x), dtype);
  return with_type(x.dtype(), [&]<class From>() {
    return with_type(dtype, [&]<class To>() {
      Tensor out = Tensor::uninitialized(x.shape(), dtype);
      To* to = out.mutable_data<To>().data();
      for (const From number : x.data<From>()) *to++ = convert<To>(number, x);
      return out;
    });
  });
}

Tensor concat(std::span<const Tensor> parts, Index axis) {
  if (parts.empty()) throw ValueError("concat: nothing to join: 0 parts; needs at least one");
  const DType dtype = parts[0].dtype();
  Index extent = 0;
  for (const Tensor& part : parts) {
    extent += part.extent(axis);
    if (part.dtype() != dtype)
      throw DTypeError(cat("concat: dtypes differ: ", dtype, " ", parts[0].shape(), ", ",
          part.dtype(), " ", part.shape(), "; all must be the same; convert with to(", dtype, ")"));
  }
  return with_type(dtype, [&]<class T>() {
    Tensor out = Tensor::uninitialized(parts[0].shape().with(axis, extent), dtype);
    const Indices strides = out.strides();
    T* to = out.mutable_data<T>().data();
    for (const Tensor& part : parts) {
      copy_into(to, strides, part);
      to += part.extent(axis) * strides[static_cast<std::size_t>(axis)];
    }
    return out;
  });
}

Tensor unslice(const Tensor& x, const Shape& shape, Index axis, Index start) {
  return with_type(x.dtype(), [&]<class T>() {
    Tensor out = Tensor::zeros(shape, x.dtype());
    const Indices strides = out.strides();
    copy_into(
        out.mutable_data<T>().data() + start * strides[static_cast<std::size_t>(axis)], strides, x);
    return out;
  });
}

}  // namespace microtape::kernels
