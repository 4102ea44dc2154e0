// The views of a Tensor: the same block under another shape and other strides.

#include <optional>
#include <utility>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/tensor.hpp>

namespace microtape {
namespace {

/// The strides of `shape` over the same block, if the axes of x that each new axis cuts or merges
/// lie evenly; else nothing.
std::optional<Indices> strides_for(const Tensor& x, const Shape& shape) {
  if (x.is_contiguous()) return shape.strides();
  // Drop axes of extent 1: they have no say.
  Indices extents, steps;
  const Indices x_strides = x.strides();
  const Shape x_shape = x.shape();
  for (std::size_t i = 0; i < x_strides.size(); ++i) {
    if (x_shape.extents()[i] == 1) continue;
    extents.push_back(x_shape.extents()[i]);
    steps.push_back(x_strides[i]);
  }
  // Walk both shapes from the left, in groups with equal products; inside a group the old axes must
  // follow each other without a gap.
  Indices strides = shape;
  std::size_t old_axis = 0, new_axis = 0;
  while (new_axis < strides.size()) {
    const std::size_t first_new = new_axis, first_old = old_axis;
    Index new_count = shape.extents()[new_axis++];
    Index old_count = 1;
    while (
        old_count != new_count || (new_axis < strides.size() && shape.extents()[new_axis] == 1)) {
      if (old_count < new_count)
        old_count *= extents[old_axis++];
      else
        new_count *= shape.extents()[new_axis++];
    }
    for (std::size_t i = first_old; i + 1 < old_axis; ++i)
      if (steps[i] != extents[i + 1] * steps[i + 1]) return std::nullopt;
    Index step = old_axis > first_old ? steps[old_axis - 1] : 1;
    for (std::size_t i = new_axis; i-- > first_new;) {
      strides[i] = step;
      step *= shape.extents()[i];
    }
  }
  return strides;
}

}  // namespace

Tensor Tensor::reshape(const Indices& extents) const {
  const Shape shape = infer_shape(this->shape(), extents);
  if (size() == 0) return uninitialized(shape, dtype());
  if (const auto strides = strides_for(*this, shape)) return view(shape, *strides, 0);
  return contiguous().reshape(extents);
}

Tensor Tensor::permute(const Indices& order) const {
  const Shape old = shape();
  Indices extents, strides;
  for (const Index axis : normalize_permutation(old, order)) {
    extents.push_back(old[axis]);
    strides.push_back(header_->strides()[axis]);
  }
  return view(Shape(extents), strides, 0);
}

Tensor Tensor::transpose() const {
  if (rank() < 2)
    throw ShapeError(
        cat("transpose: no matrix: x ", shape(), " has rank ", rank(), "; needs rank 2 or more"));
  Indices order = shape().extents();
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permute(order);
}

Tensor Tensor::slice(Index axis, Index start, Index stop) const {
  const Shape old = shape();
  axis = normalize_axis("slice", old, axis);
  if (start < 0 || stop < start || stop > old[axis])
    throw IndexError(cat("slice: outside the axis: x ", old, ", axis ", axis, ", indices ", start,
        " to ", stop, "; needs 0 <= start <= stop <= ", old[axis]));
  const Shape shape = old.with(axis, stop - start);
  if (shape.size() == 0) return uninitialized(shape, dtype());
  return view(shape, strides(), start * header_->strides()[axis]);
}

Tensor Tensor::broadcast_to(const Shape& wide) const {
  const Shape old = shape();
  if (old == wide) return *this;
  if (old.rank() > wide.rank() || broadcast_shape("broadcast_to", old, wide) != wide)
    throw ShapeError(cat("broadcast_to: does not fit: x ", old, " to ", wide,
        "; each axis, counted from the right, must be equal, 1 or missing in x"));
  Indices strides = wide.extents();
  for (Index back = 1; back <= wide.rank(); ++back) {
    const bool repeats = back > old.rank() || old[-back] != wide[-back];
    strides[static_cast<std::size_t>(wide.rank() - back)] =
        repeats ? 0 : header_->strides()[old.rank() - back];
  }
  if (wide.size() == 0) return uninitialized(wide, dtype());
  return view(wide, strides, 0);
}

}  // namespace microtape
