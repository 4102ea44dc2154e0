#include <microtape/core/kernels/reduce.hpp>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/core/kernels/fold.hpp>

namespace microtape::kernels {
namespace {

/// How many numbers of x go into one result.
Index count_reduced(const Tensor& x, const Indices& axes) {
  Index count = 1;
  for (const Index axis : axes) count *= x.extent(axis);
  return count;
}

/// The extents of x, those along `axes` 1.
Shape keep_axes(Shape shape, const Indices& axes) {
  for (const Index axis : axes) shape = shape.with(axis, 1);
  return shape;
}

/// Whether v is the maximum m; a NaN is the maximum of its slice.
template <class T>
bool is_maximum(T v, T m) {
  return v == m || (v != v && m != m);
}

}  // namespace

Tensor sum(const Tensor& x, const Indices& axes) {
  require_floating("sum", "x", x);
  if (x.size() == 0) return Tensor::zeros(keep_axes(x.shape(), axes), x.dtype());
  return with_floating_type(
      x.dtype(), [&]<class T>() { return fold<T, Sum>(x, axes, [](T v, Index) { return v; }); });
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  require_floating("sum_to", "x", x);
  const Shape from = x.shape();
  if (from == shape) return x;
  if (!broadcasts_to(shape, from))
    throw ShapeError(cat("sum_to: does not fit: x ", from, " to ", shape,
        "; each axis, counted from the right, must be as in x, 1 or missing"));
  // Sum over the axes that the shape lacks, or has with extent 1.
  const Index missing = from.rank() - shape.rank();
  Indices axes;
  for (Index axis = 0; axis < from.rank(); ++axis)
    if (axis < missing || (shape[axis - missing] == 1 && from[axis] != 1)) axes.push_back(axis);
  return sum(x, axes).reshape(shape);
}

Tensor max(const Tensor& x, const Indices& axes) {
  require_floating("max", "x", x);
  if (x.size() == 0) {
    const Shape shape = keep_axes(x.shape(), axes);
    if (shape.size() > 0)
      throw ValueError(cat("max: the maximum of zero elements does not exist: x ", x.shape(),
          "; every axis that is reduced needs an element"));
    return Tensor::uninitialized(shape, x.dtype());
  }
  return with_floating_type(
      x.dtype(), [&]<class T>() { return fold<T, Max>(x, axes, [](T v, Index) { return v; }); });
}

Tensor max_share(const Tensor& x, const Tensor& y, const Indices& axes) {
  require_same_floating("max_share", "x", x, "y", y);
  if (y.shape() != keep_axes(x.shape(), axes))
    throw ShapeError(cat("max_share: y is not the maximum of x: x ", x.shape(), ", y ", y.shape(),
        "; along the axes ", axes, " y needs extent 1, else that of x"));
  if (x.size() == 0) return Tensor::uninitialized(x.shape(), x.dtype());
  return with_floating_type(x.dtype(), [&]<class T>() {
    const Tensor maxima = y.contiguous();
    const T* m = first<T>(maxima);
    const Tensor ties =
        fold<T, Sum>(x, axes, [m](T v, Index o) { return is_maximum(v, m[o]) ? T{1} : T{0}; });
    // Hand each maximum its part.
    const Tensor top = maxima.broadcast_to(x.shape());
    const Tensor share = div(1, ties).broadcast_to(x.shape());
    Tensor out = Tensor::uninitialized(x.shape(), x.dtype());
    T* to = out.mutable_data<T>().data();
    Nest<3> nest(x.shape(), {x.strides(), top.strides(), share.strides()});
    const Loop<3> row = nest.pop();
    nest.for_each([&](const Steps<3>& at) {
      for (Index i = 0; i < row.extent; ++i) {
        const T v = first<T>(x)[at[0] + i * row.steps[0]];
        const bool wins = is_maximum(v, first<T>(top)[at[1] + i * row.steps[1]]);
        *to++ = wins ? first<T>(share)[at[2] + i * row.steps[2]] : T{0};
      }
    });
    return out;
  });
}

Tensor var(const Tensor& x, const Indices& axes, Index correction) {
  require_floating("var", "x", x);
  const Index n = count_reduced(x, axes);
  if (n <= correction)
    throw ValueError(cat("var: too few elements: x ", x.shape(), " has ", n, " along axes ", axes,
        "; correction ", correction, " needs at least ",
        static_cast<std::uint64_t>(correction) + 1));
  if (x.size() == 0) return Tensor::uninitialized(keep_axes(x.shape(), axes), x.dtype());
  const Tensor mean = div(sum(x, axes), static_cast<double>(n));
  return with_floating_type(x.dtype(), [&]<class T>() {
    const T* m = first<T>(mean);
    const Tensor squares = fold<T, Sum>(x, axes, [m](T v, Index o) {
      const T distance = v - m[o];
      return distance * distance;
    });
    return div(squares, static_cast<double>(n) - static_cast<double>(correction));
  });
}

}  // namespace microtape::kernels
