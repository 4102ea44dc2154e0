#include <microtape/core/shape.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape {
namespace {

[[noreturn]] void fail_too_many(std::size_t count) {
  throw ShapeError(
      cat("Shape: too many axes: ", count, "; at most ", Indices::kMax, " are allowed"));
}

}  // namespace

std::string_view name(DType dtype) {
  switch (dtype) {
    case float32:
      return "float32";
    case float64:
      return "float64";
    case int64:
      return "int64";
  }
  return "?";
}

Indices::Indices(std::span<const Index> items) : size_(static_cast<std::uint8_t>(items.size())) {
  if (items.size() > kMax) fail_too_many(items.size());
  std::copy(items.begin(), items.end(), items_.begin());
}

void Indices::push_back(Index item) {
  if (size_ == kMax) fail_too_many(kMax + 1);
  items_[size_++] = item;
}

Shape::Shape(const Indices& extents) : extents_(extents) {
  for (const Index extent : extents_)
    if (extent < 0)
      throw ShapeError(
          cat("Shape: extent ", extent, " is negative: ", extents_, "; extents are 0 or more"));
  // The extents but 0 count even if there are no elements: strides are made of them.
  constexpr Index kMost = std::numeric_limits<Index>::max(), kHalf = Index{1} << 31;
  Index product = 1;
  bool is_empty = false;
  for (const Index extent : extents_) {
    if (extent == 0) {
      is_empty = true;
      continue;
    }
    const bool is_small = product <= kHalf && extent <= kHalf;  // spares the division
    if (!is_small && product > kMost / extent)
      throw ShapeError(
          cat("Shape: too many elements: ", extents_, "; their number must fit in 63 bits"));
    product *= extent;
  }
  size_ = is_empty ? 0 : product;
}

Index Shape::operator[](Index axis) const {
  const Index i = axis < 0 ? axis + rank() : axis;
  if (i < 0 || i >= rank())
    throw IndexError(cat("Shape: axis ", axis, " does not exist: ", *this, " has rank ", rank()));
  return extents_[static_cast<std::size_t>(i)];
}

Shape Shape::with(Index axis, Index extent) const {
  Indices extents = extents_;
  extents[static_cast<std::size_t>(normalize_axis("Shape", *this, axis))] = extent;
  return Shape(extents);
}

Indices Shape::strides() const {
  Indices strides = extents_;
  Index step = 1;
  for (std::size_t i = extents_.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<Index>(extents_[i], 1);
  }
  return strides;
}

std::string Shape::str() const { return cat(extents_); }

Index normalize_axis(std::string_view op, const Shape& shape, Index axis) {
  const Index rank = shape.rank();
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  if (rank == 0)
    throw IndexError(
        cat(op, ": axis ", axis, " does not exist: x [] is a scalar, rank 0; leave the axis out"));
  throw IndexError(cat(op, ": axis ", axis, " does not exist: x ", shape, " has rank ", rank,
      "; axes are ", -rank, " .. ", rank - 1));
}

Indices normalize_axes(std::string_view op, const Shape& shape, const Indices& axes) {
  Indices out;
  if (axes.empty()) {
    for (Index axis = 0; axis < shape.rank(); ++axis) out.push_back(axis);
    return out;
  }
  for (const Index axis : axes) out.push_back(normalize_axis(op, shape, axis));
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end())
    throw ValueError(
        cat(op, ": an axis is named twice: axes ", axes, ", x ", shape, "; name each once"));
  return out;
}

Indices normalize_permutation(const Shape& shape, const Indices& order) {
  Indices out;
  std::array<bool, Indices::kMax> seen{};
  for (const Index item : order) {
    const Index axis = normalize_axis("permute", shape, item);
    if (std::exchange(seen[static_cast<std::size_t>(axis)], true)) break;
    out.push_back(axis);
  }
  if (static_cast<Index>(out.size()) != shape.rank() || out.size() != order.size())
    throw ValueError(cat("permute: not a permutation: order ", order, ", x ", shape,
        "; name each of the ", shape.rank(), " axes once"));
  return out;
}

Indices unravel_index(Index place, const Shape& shape) {
  Indices index = shape;
  for (std::size_t axis = index.size(); axis-- > 0;) {
    index[axis] = place % shape.extents()[axis];
    place /= shape.extents()[axis];
  }
  return index;
}

Shape batch_axes(const Shape& shape) {
  return Shape(Indices(std::span(shape.begin(), shape.extents().size() - 2)));
}

Shape broadcast_shape(std::string_view op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const Index rank = std::max(a.rank(), b.rank());
  Indices extents(
      std::span(a.rank() == rank ? a.begin() : b.begin(), static_cast<std::size_t>(rank)));
  for (Index back = 1; back <= rank; ++back) {
    const Index m = back <= a.rank() ? a[-back] : 1;
    const Index n = back <= b.rank() ? b[-back] : 1;
    if (m != n && m != 1 && n != 1)
      throw ShapeError(cat(op, ": cannot broadcast: a ", a, " with b ", b, "; axis -", back,
          " has extents ", m, " and ", n, "; they must be equal, or one of them 1"));
    extents[static_cast<std::size_t>(rank - back)] = m == 1 ? n : m;
  }
  return Shape(extents);
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.rank() > to.rank()) return false;
  for (Index back = 1; back <= from.rank(); ++back)
    if (from[-back] != to[-back] && from[-back] != 1) return false;
  return true;
}

Shape infer_shape(const Shape& from, const Indices& extents) {
  const auto fail = [&](const auto&... why) -> ShapeError {
    return ShapeError(cat("reshape: cannot turn x ", from, " into ", extents, ": ", why...));
  };
  // Multiply the extents that are known, and remember where the -1 stands.
  Indices known = extents;
  Index* open = nullptr;
  for (Index& extent : known) {
    if (extent != -1) continue;
    if (open) throw fail("two extents are -1; at most one can be inferred");
    open = &extent;
    extent = 1;
  }
  const Shape rest(known);
  if (!open) {
    if (rest.size() != from.size())
      throw fail(from.size(), " elements are not ", rest.size(),
          "; the number of elements must stay the same");
    return rest;
  }
  if (rest.size() == 0 || from.size() % rest.size() != 0)
    throw fail(from.size(), " elements do not fill rows of ", rest.size(),
        "; the extents but -1 must divide the number of elements");
  *open = from.size() / rest.size();
  return Shape(known);
}

}  // namespace microtape
