// Ops of shape.hpp that are made of reshape and slice.

#include <algorithm>

#include <microtape/core/format.hpp>
#include <microtape/tape/ops/shape.hpp>

namespace microtape {

Var squeeze(const Var& x, Index axis) {
  const Shape shape = x.shape();
  Indices left;
  in_scope_of(x, [&] {
    axis = normalize_axis("squeeze", shape, axis);
    if (shape[axis] != 1)
      throw ShapeError(cat("squeeze: axis ", axis, " is not of extent 1: x ", shape,
          "; only such an axis "
          "can be taken away"));
  });
  for (Index i = 0; i < shape.rank(); ++i)
    if (i != axis) left.push_back(shape[i]);
  return reshape(x, left);
}

Var unsqueeze(const Var& x, Index axis) {
  Indices extents = x.shape();
  in_scope_of(x, [&] {
    extents.push_back(1);
    axis = normalize_axis("unsqueeze", Shape(extents), axis);
  });
  std::rotate(extents.begin() + axis, extents.end() - 1, extents.end());
  return reshape(x, extents);
}

std::vector<Var> split(const Var& x, std::span<const Index> extents, Index axis) {
  in_scope_of(x, [&] {
    axis = normalize_axis("split", x.shape(), axis);
    Index total = 0;
    bool is_negative = false;
    for (const Index extent : extents) {
      is_negative |= extent < 0;
      total += extent;
    }
    if (is_negative || total != x.shape()[axis])
      throw ShapeError(cat("split: the pieces do not fill the axis: x ", x.shape(), ", axis ", axis,
          ", ", extents.size(), " pieces of together ", total, "; they must sum to ",
          x.shape()[axis]));
  });
  std::vector<Var> pieces;
  Index start = 0;
  for (const Index extent : extents) {
    pieces.push_back(slice(x, axis, start, start + extent));
    start += extent;
  }
  return pieces;
}

std::vector<Var> split(const Var& x, Index parts, Index axis) {
  const Index n = in_scope_of(x, [&] {
    const Index extent = x.shape()[normalize_axis("split", x.shape(), axis)];
    if (parts < 1 || extent % parts != 0)
      throw ShapeError(cat("split: the axis has no ", parts, " equal pieces: x ", x.shape(),
          ", axis ", axis, "; needs parts >= 1 that divide ", extent));
    return extent / parts;
  });
  return split(x, std::vector<Index>(static_cast<std::size_t>(parts), n), axis);
}

}  // namespace microtape
