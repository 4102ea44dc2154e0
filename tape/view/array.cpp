#include <microtape/tape/view/array.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape {
namespace {

/// The opposite of unravel_index.
Index ravel(const Indices& at, const Shape& shape) {
  Index flat = 0;
  for (std::size_t axis = 0; axis < at.size(); ++axis)
    flat = flat * shape.extents()[axis] + at[axis];
  return flat;
}

/// Where an element of the large shape reads from when the small one is broadcast to it.
Index source(Index flat, const Shape& large, const Shape& small) {
  const Indices at = unravel_index(flat, large);
  Indices from = small;
  const std::size_t lead = at.size() - from.size();
  for (std::size_t axis = 0; axis < from.size(); ++axis)
    from[axis] = from[axis] == 1 ? 0 : at[lead + axis];
  return ravel(from, small);
}

void require_broadcast(const Shape& small, const Shape& large) {
  if (broadcast_shape("evaluate", small, large) == large) return;
  throw ShapeError(cat(
      "evaluate: ", small, " does not broadcast to ", large, "; each extent must be equal, or 1"));
}

template <class T>
std::vector<double> as_doubles(std::span<const T> values) {
  std::vector<double> out;
  for (const T value : values) out.push_back(static_cast<double>(value));
  return out;
}

}  // namespace

Array Array::zeros(const Shape& shape) {
  return {shape, std::vector<double>(static_cast<std::size_t>(shape.size()))};
}

Array to_array(const Tensor& tensor) {
  const Tensor t = tensor.contiguous();
  switch (t.dtype()) {
    case float32:
      return {t.shape(), as_doubles(t.data<float>())};
    case float64:
      return {t.shape(), as_doubles(t.data<double>())};
    case int64:
      return {t.shape(), as_doubles(t.data<std::int64_t>())};
  }
  return {};
}

Tensor to_tensor(const Array& array) { return Tensor::of(array.shape, array.values, float64); }

namespace plain {

Array map(Array a, FunctionRef<double(double)> f) {
  for (double& value : a.values) value = f(value);
  return a;
}

Array combine(const Array& a, const Array& b, FunctionRef<double(double, double)> f) {
  Array out = Array::zeros(broadcast_shape("evaluate", a.shape, b.shape));
  out.is_number = a.is_number && b.is_number;
  for (Index i = 0; i < out.size(); ++i)
    out[i] = f(a[source(i, out.shape, a.shape)], b[source(i, out.shape, b.shape)]);
  return out;
}

Array matrix_product(const Array& a, const Array& b) {
  if (a.shape.rank() < 2 || b.shape.rank() < 2 || a.shape[-1] != b.shape[-2])
    throw ShapeError(cat("evaluate: no matrix product: ", a.shape, " times ", b.shape,
        "; a [.., m, k] needs b [.., k, n]"));
  const Index m = a.shape[-2], n = b.shape[-1], k = a.shape[-1];
  const Shape batch_a = batch_axes(a.shape), batch_b = batch_axes(b.shape);
  const Shape batches = broadcast_shape("evaluate", batch_a, batch_b);
  Indices extents = batches;
  extents.push_back(m);
  extents.push_back(n);
  Array out = Array::zeros(Shape(extents));
  for (Index at = 0; at < batches.size(); ++at) {
    const Index from_a = source(at, batches, batch_a), from_b = source(at, batches, batch_b);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j)
        for (Index t = 0; t < k; ++t)
          out[(at * m + i) * n + j] += a[(from_a * m + i) * k + t] * b[(from_b * k + t) * n + j];
  }
  return out;
}

Array broadcast(const Array& a, const Shape& shape) {
  require_broadcast(a.shape, shape);
  Array out = Array::zeros(shape);
  for (Index i = 0; i < out.size(); ++i) out[i] = a[source(i, shape, a.shape)];
  return out;
}

Array sum_to(const Array& a, const Shape& shape) {
  require_broadcast(shape, a.shape);
  Array out = Array::zeros(shape);
  for (Index i = 0; i < a.size(); ++i) out[source(i, a.shape, shape)] += a[i];
  return out;
}

Array fitted(Array a, const Shape& shape) {
  if (a.size() == shape.size()) {
    a.shape = shape;
    return a;
  }
  // Nothing can be summed up to numbers, 0 each, or repeated no times.
  const bool widens = shape.size() == 0 || (a.size() > 0 && a.size() < shape.size());
  return widens ? broadcast(a, shape) : sum_to(a, shape);
}

Array permuted(const Array& a, const Indices& order) {
  if (static_cast<Index>(order.size()) != a.shape.rank())
    throw ShapeError(cat(
        "evaluate: no permutation: ", a.shape, " by ", order, "; the order names each axis once"));
  normalize_axes("evaluate", a.shape, order);  // throws if one is named twice
  Indices axes = order, extents = order;
  for (std::size_t j = 0; j < order.size(); ++j) {
    axes[j] = normalize_axis("evaluate", a.shape, order[j]);
    extents[j] = a.shape[axes[j]];
  }
  Array out = Array::zeros(Shape(extents));
  for (Index i = 0; i < out.size(); ++i) {
    const Indices at = unravel_index(i, out.shape);
    Indices from = at;
    for (std::size_t j = 0; j < axes.size(); ++j) from[static_cast<std::size_t>(axes[j])] = at[j];
    out[i] = a[ravel(from, a.shape)];
  }
  return out;
}

Array transposed(const Array& a) {
  if (a.shape.rank() < 2)
    throw ShapeError(cat(
        "evaluate: no transpose: ", a.shape, " has rank ", a.shape.rank(), "; needs at least 2"));
  Indices order = a.shape;
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permuted(a, order);
}

std::vector<std::vector<Index>> groups(const Shape& shape, const Indices& axes) {
  Shape kept = shape;
  for (const Index axis : normalize_axes("evaluate", shape, axes)) kept = kept.with(axis, 1);
  std::vector<std::vector<Index>> out(static_cast<std::size_t>(kept.size()));
  for (Index i = 0; i < shape.size(); ++i)
    out[static_cast<std::size_t>(source(i, shape, kept))].push_back(i);
  return out;
}

std::vector<Index> places(const Shape& whole, const Shape& part, Index axis, Index start) {
  const auto along = static_cast<std::size_t>(normalize_axis("evaluate", whole, axis));
  if (part.with(axis, whole[axis]) != whole || start < 0 || start + part[axis] > whole[axis])
    throw ShapeError(cat("evaluate: ", part, " at ", start, " does not lie in ", whole,
        "; only the extent of axis ", axis, " may differ"));
  std::vector<Index> out;
  for (Index i = 0; i < part.size(); ++i) {
    Indices at = unravel_index(i, part);
    at[along] += start;
    out.push_back(ravel(at, whole));
  }
  return out;
}

}  // namespace plain
}  // namespace microtape
