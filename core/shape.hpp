#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include <microtape/core/dtype.hpp>

namespace microtape {

/// A short list of integers: axes, strides, a multi-index, or extents of which one may be -1.
/// It holds at most eight, in place.
class Indices {
 public:
  static constexpr std::size_t kMax = 8;  ///< most that there can be

  Indices() = default;
  /// One integer, so that `sum(x, -1)` reads as it should.
  Indices(Index item) : size_(1) { items_[0] = item; }
  /// @throws ShapeError if there are more than eight
  Indices(std::initializer_list<Index> items)
      : Indices(std::span<const Index>(items.begin(), items.size())) {}
  /// @throws ShapeError if there are more than eight
  explicit Indices(std::span<const Index> items);
  /// Copies what is there, not all eight places: wide loads of what narrow stores have just written
  /// would wait for them.
  Indices(const Indices& other) : size_(other.size_) {
    for (std::size_t i = 0; i < size_; ++i) items_[i] = other.items_[i];
  }
  /// Copies what is there.
  Indices& operator=(const Indices& other) {
    size_ = other.size_;
    for (std::size_t i = 0; i < size_; ++i) items_[i] = other.items_[i];
    return *this;
  }
  ~Indices() = default;

  /// How many there are.
  std::size_t size() const { return size_; }
  /// Whether there are none.
  bool empty() const { return size_ == 0; }
  /// The first, for loops over all.
  const Index* begin() const { return items_.data(); }
  Index* begin() { return items_.data(); }
  /// One behind the last.
  const Index* end() const { return items_.data() + size_; }
  Index* end() { return items_.data() + size_; }
  /// Number i, from 0; i < size().
  Index operator[](std::size_t i) const { return items_[i]; }
  Index& operator[](std::size_t i) { return items_[i]; }

  /// @throws ShapeError if eight stand there already
  void push_back(Index item);

  friend bool operator==(const Indices& a, const Indices& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (a.items_[i] != b.items_[i]) return false;
    return true;
  }

 private:
  std::array<Index, kMax> items_{};
  std::uint8_t size_ = 0;
};

/// The extents of a Tensor, outermost axis first. `Shape{}` is the shape of a scalar; an extent of
/// 0 makes an empty Tensor. Every Shape is valid: no negative extent, at most eight axes, and an
/// element count that an Index holds.
class Shape {
 public:
  Shape() = default;
  /// @throws ShapeError if an extent is negative, there are more than eight, or the number of
  ///         elements overflows
  Shape(std::initializer_list<Index> extents) : Shape(Indices(extents)) {}
  /// @throws ShapeError as above
  explicit Shape(const Indices& extents);

  /// Number of axes.
  Index rank() const { return static_cast<Index>(extents_.size()); }

  /// Number of elements: the product of the extents, 1 for a scalar.
  Index size() const { return size_; }

  /// Extent of `axis`; negative axes count from the end, so `shape[-1]` is the last.
  /// @throws IndexError if there is no such axis
  Index operator[](Index axis) const;

  /// The extents as a list.
  const Indices& extents() const { return extents_; }
  /// A shape stands where a list of integers may.
  operator const Indices&() const { return extents_; }
  /// The first extent, for loops over all.
  const Index* begin() const { return extents_.begin(); }
  /// One behind the last.
  const Index* end() const { return extents_.end(); }

  /// The same shape with another extent at `axis` (negative counts from the end).
  Shape with(Index axis, Index extent) const;

  /// Strides of a contiguous Tensor of this shape, in elements; the last is 1.
  Indices strides() const;

  /// "[2, 3]"; "[]" for a scalar.
  std::string str() const;

  friend bool operator==(const Shape& a, const Shape& b) { return a.extents_ == b.extents_; }

 private:
  friend class Tensor;
  Indices extents_;
  Index size_ = 1;
};

/// Whether two lists of extents are one shape.
inline bool same_extents(std::span<const Index> a, std::span<const Index> b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return false;
  return true;
}

/// The axis counted from the front: -1 is the last of `shape`.
/// @throws IndexError `<op>: axis 3 does not exist: x [2, 3] has rank 2; axes are -2 .. 1`
Index normalize_axis(std::string_view op, const Shape& shape, Index axis);

/// Each axis counted from the front, in ascending order; an empty list means every axis.
/// @throws IndexError if one does not exist; ValueError if one is named twice
Indices normalize_axes(std::string_view op, const Shape& shape, const Indices& axes);

/// The order of a permutation of the axes of `shape`, each counted from the front.
/// @throws IndexError if an axis does not exist; ValueError unless each is named once
Indices normalize_permutation(const Shape& shape, const Indices& order);

/// The multi-index of an element, given its place in row-major order.
Indices unravel_index(Index place, const Shape& shape);

/// The axes of a batch of matrices: all but the last two. [.., m, n] -> [..]; the rank is 2 or
/// more.
Shape batch_axes(const Shape& shape);

/// The common shape of two operands under NumPy's rule: right-align the extents; each pair must be
/// equal, or one of the two must be 1.
/// @throws ShapeError that names `op`, both shapes and the axis that fails
Shape broadcast_shape(std::string_view op, const Shape& a, const Shape& b);

/// Whether `from` repeats to `to`: each extent, counted from the right, is equal, 1 or missing.
bool broadcasts_to(const Shape& from, const Shape& to);

/// The extents as a shape with as many elements as `from`; one of them may be -1, to be inferred.
/// @throws ShapeError `reshape: cannot turn x [2, 3] into [4, -1]: ...` if that is impossible
Shape infer_shape(const Shape& from, const Indices& extents);

}  // namespace microtape
