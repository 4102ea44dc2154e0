#include <microtape/core/kernels/softmax.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/core/kernels/reduce.hpp>
#include <microtape/core/kernels/softmax_rows.hpp>
#include <microtape/core/parallel.hpp>

namespace microtape::kernels {
namespace {

std::size_t u(Index i) { return static_cast<std::size_t>(i); }

void check_mask(const Tensor& x, const Tensor& mask) {
  if (mask.dtype() != x.dtype())
    throw DTypeError(cat("softmax: the mask has another dtype: x ", x.dtype(), " ", x.shape(),
        ", mask ", mask.dtype(), " ", mask.shape(), "; it is added to x, so it must be ", x.dtype(),
        ": 0 allows, a large negative number suppresses"));
  if (!broadcasts_to(mask.shape(), x.shape()))
    throw ShapeError(cat("softmax: the mask does not fit: x ", x.shape(), ", mask ", mask.shape(),
        "; each axis of the mask, counted from the right, must be as in x, or 1"));
}

/// transform(from, to, n) for each slice of x + mask along the axis, in rows of n numbers without
/// gaps; it writes the result over `to`, which may be `from`, and returns the maximum, which must
/// be finite.
template <class T, class Transform>
Tensor transform_rows(
    std::string_view op, const Tensor& x, Index axis, const Tensor* mask, Transform transform) {
  Tensor y = Tensor::uninitialized(x.shape(), x.dtype());
  if (y.size() == 0) return y;
  const Tensor wide = mask ? mask->broadcast_to(x.shape()) : x;
  const std::array<Indices, 3> strides{y.strides(), x.strides(), wide.strides()};
  Nest<3> rows;
  for (Index i = 0; i < x.rank(); ++i)
    if (i != axis) rows.push({x.extent(i), {strides[0][u(i)], strides[1][u(i)], strides[2][u(i)]}});
  const Index n = x.extent(axis);
  const Index out_step = strides[0][u(axis)], x_step = strides[1][u(axis)],
              mask_step = strides[2][u(axis)];
  T* const out = y.mutable_data<T>().data();

  const auto transform_row = [&](const Steps<3>& at, T* apart) {
    // Gather x + mask, unless x lies in a row as it is.
    T* row = out_step == 1 ? out + at[0] : apart;
    const T* from = first<T>(x) + at[1];
    const T* add = first<T>(wide) + at[2];
    if (mask)
      for (Index i = 0; i < n; ++i) row[i] = from[i * x_step] + add[i * mask_step];
    else if (x_step != 1)
      for (Index i = 0; i < n; ++i) row[i] = from[i * x_step];
    // Transform it, and scatter the result if it has no row of its own in y.
    const T top = transform(mask || x_step != 1 ? row : from, row, n);
    if (std::isinf(top)) fail_row(op, top, x.shape(), axis, mask, at[0]);
    if (out_step != 1)
      for (Index i = 0; i < n; ++i) out[at[0] + i * out_step] = row[i];
  };
  parallel_ranges(
      rows.count(), std::max(kParallelElements / n, Index{1}), [&](Index from, Index end) {
        std::vector<T> apart(out_step == 1 ? 0 : u(n));
        rows.for_each(from, end, [&](const Steps<3>& at) { transform_row(at, apart.data()); });
      });
  return y;
}

}  // namespace

void fail_row(
    std::string_view op, double top, const Shape& x, Index axis, const Tensor* mask, Index offset) {
  const Indices index = unravel_index(offset, x);
  Indices row;
  for (std::size_t i = 0; i < index.size(); ++i)
    if (i != u(axis)) row.push_back(index[i]);
  const std::string operands = mask ? cat("x ", x, ", mask ", mask->shape()) : cat("x ", x);
  throw ValueError(cat(op, ": row ", row, top < 0 ? " has only -inf: " : " holds +inf: ", operands,
      top < 0 ? "; each row needs a larger number" : "; inf - inf has no value"));
}

Tensor softmax(const Tensor& x, Index axis, const Tensor* mask) {
  require_floating("softmax", "x", x);
  if (mask) check_mask(x, *mask);
  return with_floating_type(x.dtype(),
      [&]<class T>() { return transform_rows<T>("softmax", x, axis, mask, softmax_row<T>); });
}

Tensor log_softmax(const Tensor& x, Index axis) {
  require_floating("log_softmax", "x", x);
  return with_floating_type(x.dtype(), [&]<class T>() {
    return transform_rows<T>("log_softmax", x, axis, nullptr, [](const T* from, T* row, Index n) {
      const T top = fold_values<T, Max>(n, [from](Index i) { return from[i]; });
      if (std::isinf(top)) return top;
      // x - top first: it is exact where it matters, and top + ln(sum) would round.
      for (Index i = 0; i < n; ++i) row[i] = from[i] - top;
      const T log_sum = std::log(
          fold_values<T, Sum>(n, [row](Index i) { return math::exp_not_above_0(row[i]); }));
      for (Index i = 0; i < n; ++i) row[i] -= log_sum;
      return top;
    });
  });
}

Tensor logsumexp(const Tensor& x, const Indices& axes) {
  require_floating("logsumexp", "x", x);
  Shape shape = x.shape();
  for (const Index axis : axes) shape = shape.with(axis, 1);
  if (x.size() == 0) {
    if (shape.size() > 0)
      throw ValueError(cat("logsumexp: the logarithm of an empty sum does not exist: x ", x.shape(),
          "; every axis that is reduced needs an element"));
    return Tensor::uninitialized(shape, x.dtype());
  }
  return with_floating_type(x.dtype(), [&]<class T>() {
    // Shift by the maximum; an infinite one needs no shift, and would give inf - inf.
    Tensor shift = max(x, axes);
    for (T& m : shift.mutable_data<T>())
      if (std::isinf(m)) m = 0;
    const T* m = first<T>(shift);
    const Tensor sums = fold<T, Sum>(x, axes, [m](T v, Index o) { return math::exp(v - m[o]); });
    return add(shift, log(sums));
  });
}

}  // namespace microtape::kernels
