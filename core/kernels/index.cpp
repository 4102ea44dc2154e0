#include <microtape/core/kernels/index.hpp>

#include <cmath>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/kernels/dispatch.hpp>
#include <microtape/core/kernels/strided.hpp>

namespace microtape::kernels {
namespace {

void require_indices(std::string_view op, const Tensor& index) {
  if (index.dtype() != int64)
    throw DTypeError(cat(op, ": indices must be int64: index ", index.dtype(), " ", index.shape(),
        "; convert them with to(int64)"));
}

/// The indices in row-major order, each known to be in 0 .. extent - 1.
std::span<const std::int64_t> checked(std::string_view op, const Tensor& index, Index extent) {
  const std::span<const std::int64_t> all = index.data<std::int64_t>();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] < 0 || all[i] >= extent)
      throw IndexError(cat(op, ": index ", all[i], " is out of range: number ", i, " of index ",
          index.shape(), "; needs 0 <= index < ", extent));
  return all;
}

/// An axis cut out of a contiguous shape: [outer, extent, inner].
struct Cut {
  Index outer = 1, extent = 1, inner = 1;
};

Cut cut(const Shape& shape, Index axis) {
  Cut c{.extent = shape[axis]};
  for (Index i = 0; i < axis; ++i) c.outer *= shape[i];
  for (Index i = axis + 1; i < shape.rank(); ++i) c.inner *= shape[i];
  return c;
}

void require_fit(std::string_view op, const Tensor& x, Index axis, const Tensor& index) {
  require_indices(op, index);
  const bool fits =
      index.rank() == x.rank() && index.shape().with(axis, 1) == x.shape().with(axis, 1);
  if (!fits)
    throw ShapeError(cat(op, ": the index does not fit: x ", x.shape(), ", index ", index.shape(),
        "; all but axis ", axis, " must be equal"));
}

}  // namespace

Tensor gather(const Tensor& x, Index axis, const Tensor& index) {
  require_floating("gather", "x", x);
  require_fit("gather", x, axis, index);
  const Tensor source = x.contiguous(), places = index.contiguous();
  const Cut from = cut(x.shape(), axis), to = cut(index.shape(), axis);
  const std::int64_t* place = checked("gather", places, from.extent).data();
  return with_floating_type(x.dtype(), [&]<class T>() {
    Tensor y = Tensor::uninitialized(index.shape(), x.dtype());
    T* out = y.mutable_data<T>().data();
    const T* in = first<T>(source);
    for (Index o = 0; o < to.outer; ++o)
      for (Index i = 0; i < to.extent; ++i)
        for (Index j = 0; j < to.inner; ++j)
          *out++ = in[(o * from.extent + *place++) * from.inner + j];
    return y;
  });
}

Tensor scatter_add(const Tensor& x, Index axis, const Tensor& index, const Tensor& source) {
  require_same_floating("scatter_add", "x", x, "source", source);
  require_fit("scatter_add", x, axis, index);
  if (source.shape() != index.shape())
    throw ShapeError(cat("scatter_add: the source does not fit: source ", source.shape(),
        ", index ", index.shape(), "; they must be equal"));
  const Tensor numbers = source.contiguous(), places = index.contiguous();
  const Cut to = cut(x.shape(), axis), from = cut(index.shape(), axis);
  const std::int64_t* place = checked("scatter_add", places, to.extent).data();
  return with_floating_type(x.dtype(), [&]<class T>() {
    Tensor y = x;
    T* out = y.mutable_data<T>().data();
    const T* in = first<T>(numbers);
    for (Index o = 0; o < from.outer; ++o)
      for (Index i = 0; i < from.extent; ++i)
        for (Index j = 0; j < from.inner; ++j)
          out[(o * to.extent + *place++) * to.inner + j] += *in++;
    return y;
  });
}

Tensor take_rows(const Tensor& table, const Tensor& rows) {
  require_floating("embedding", "table", table);
  require_indices("embedding", rows);
  if (table.rank() != 2)
    throw ShapeError(
        cat("embedding: the table is no matrix: table ", table.shape(), "; needs [n, d]"));
  const Index d = table.extent(1);
  Indices extents = rows.shape();
  extents.push_back(d);
  const Tensor source = table.contiguous(), places = rows.contiguous();
  const std::span<const std::int64_t> place = checked("embedding", places, table.extent(0));
  return with_floating_type(table.dtype(), [&]<class T>() {
    Tensor y = Tensor::uninitialized(Shape(extents), table.dtype());
    T* out = y.mutable_data<T>().data();
    for (const std::int64_t row : place) out = std::copy_n(first<T>(source) + row * d, d, out);
    return y;
  });
}

Tensor add_rows(const Tensor& g, const Tensor& rows, Index n) {
  const Index d = g.extent(-1);
  const Tensor source = g.contiguous(), places = rows.contiguous();
  const std::span<const std::int64_t> place = checked("embedding", places, n);
  return with_floating_type(g.dtype(), [&]<class T>() {
    Tensor y = Tensor::zeros({n, d}, g.dtype());
    T* out = y.mutable_data<T>().data();
    const T* in = first<T>(source);
    for (const std::int64_t row : place)
      for (Index j = 0; j < d; ++j) out[row * d + j] += *in++;
    return y;
  });
}

Tensor argmax(const Tensor& x, Index axis) {
  require_floating("argmax", "x", x);
  Indices left;
  for (Index i = 0; i < x.rank(); ++i)
    if (i != axis) left.push_back(x.extent(i));
  const Shape shape(left);
  if (x.extent(axis) == 0 && shape.size() > 0)
    throw ValueError(cat("argmax: the maximum of zero elements does not exist: x ", x.shape(),
        ", axis ", axis, "; the axis needs at least one"));
  const Tensor source = x.contiguous();
  const Cut c = cut(x.shape(), axis);
  return with_floating_type(x.dtype(), [&]<class T>() {
    Tensor y = Tensor::zeros(shape, int64);
    std::int64_t* out = y.mutable_data<std::int64_t>().data();
    const T* in = first<T>(source);
    for (Index o = 0; o < c.outer; ++o)
      for (Index j = 0; j < c.inner; ++j) {
        Index best = 0;
        const T* slice = in + o * c.extent * c.inner + j;
        for (Index i = 1; i < c.extent && !std::isnan(slice[best * c.inner]); ++i)
          if (!(slice[i * c.inner] <= slice[best * c.inner])) best = i;
        *out++ = best;
      }
    return y;
  });
}

Tensor one_hot(const Tensor& labels, Index classes, DType dtype) {
  require_indices("one_hot", labels);
  Indices extents = labels.shape();
  extents.push_back(classes);
  Tensor y = Tensor::zeros(Shape(extents), dtype);
  const Tensor places = labels.contiguous();
  const std::span<const std::int64_t> place = checked("one_hot", places, classes);
  with_type(dtype, [&]<class T>() {
    T* out = y.mutable_data<T>().data();
    for (const std::int64_t label : place) {
      out[label] = T{1};
      out += classes;
    }
  });
  return y;
}

}  // namespace microtape::kernels
