#pragma once

#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <microtape/core/reference_count.hpp>
#include <microtape/core/shape.hpp>

namespace microtape {

/// A number, or a list of numbers of any depth: what Tensor::of takes, `{{1, 2}, {3, 4}}`.
class Nested {
 public:
  /// A number.
  template <class T>
    requires std::is_arithmetic_v<T>
  Nested(T number) : number_(static_cast<double>(number)) {}
  /// A list.
  Nested(std::initializer_list<Nested> items) : items_(items), is_list_(true) {}

  /// Whether it is a list.
  bool is_list() const { return is_list_; }
  /// 0 for a list.
  double number() const { return number_; }
  /// None for a number.
  const std::vector<Nested>& items() const { return items_; }

 private:
  double number_ = 0;
  std::vector<Nested> items_;
  bool is_list_ = false;
};

/// A value: numbers of one dtype, a shape, and strides into a shared block.
///
/// Copying a Tensor copies one pointer. Values never change under a reader: whoever wants to write
/// asks for mutable_data(), which first copies if anyone else can see the block. permute,
/// transpose, slice, broadcast_to, and reshape where possible, are views; a write through a view
/// never reaches its source.
class Tensor {
 public:
  /// No value at all (as after a move); every question to it but defined() is a ValueError.
  Tensor() = default;
  /// Copies one pointer, or moves it.
  Tensor(const Tensor& other) : header_(other.header_) { retain(); }
  Tensor(Tensor&& other) noexcept : header_(std::exchange(other.header_, nullptr)) {}
  /// As above.
  Tensor& operator=(const Tensor& other) { return *this = Tensor(other); }
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor taken(std::move(other));
    std::swap(header_, taken.header_);
    return *this;
  }
  ~Tensor() { release(); }

  /// @name Making one. Each throws ShapeError if it would take more than 2^62 bytes.
  /// @{
  /// 0 everywhere.
  static Tensor zeros(const Shape& shape, DType dtype = float32);
  /// `value` everywhere.
  /// @throws ValueError if the dtype is int64 and the value not a whole number
  static Tensor full(const Shape& shape, double value, DType dtype = float32);
  /// Numbers that are not set; for kernels that write all of them.
  static Tensor uninitialized(const Shape& shape, DType dtype = float32);
  /// The same, of the shape and dtype of another.
  static Tensor uninitialized_like(const Tensor& other);
  /// start, start + step, .. below stop (above it if step < 0). -> [ceil((stop - start) / step)]
  /// @throws ValueError if step is 0, a bound or step is not finite, there are more than 2^53
  ///         numbers, or the dtype is int64 and one of them not whole
  static Tensor arange(double start, double stop, double step = 1, DType dtype = float32);
  /// Standard normal numbers; a function of (seed, position), the same on every platform.
  /// @throws DTypeError if the dtype is int64
  static Tensor randn(const Shape& shape, std::uint64_t seed, DType dtype = float32);
  /// Numbers uniform in [low, high); a function of (seed, position), the same on every platform.
  /// @throws ValueError unless low <= high, and both and high - low are finite and have a place in
  ///         the dtype; DTypeError if the dtype is int64
  static Tensor uniform(
      const Shape& shape, double low, double high, std::uint64_t seed, DType dtype = float32);
  /// The numbers as written: `of({{1, 2}, {3, 4}})` is [2, 2], `of(5)` a scalar.
  /// @throws ShapeError if the rows have different lengths or depths; ValueError if the dtype is
  ///         int64 and a number not whole
  static Tensor of(const Nested& values, DType dtype = float32);
  /// The numbers in row-major order. `of({2, 3}, {1, 2, 3, 4, 5, 6})` is [2, 3].
  /// @throws ShapeError if there are not shape.size() of them; ValueError as above
  static Tensor of(const Shape& shape, const std::vector<double>& values, DType dtype = float32);
  /// @}

  /// Whether it has a value.
  bool defined() const { return header_ != nullptr; }
  /// Of its numbers.
  DType dtype() const { return header().dtype; }
  /// Its extents, outermost axis first.
  Shape shape() const;
  /// Number of axes.
  Index rank() const { return header().rank; }
  /// Number of elements.
  Index size() const { return header().size; }
  /// shape()[axis]. @throws IndexError if there is no such axis
  Index extent(Index axis) const {
    const Index i = axis < 0 ? axis + rank() : axis;
    if (i < 0 || i >= rank()) return shape()[axis];  // throws
    return header_->extents()[i];
  }
  /// The numbers in shape(), without making one; valid as long as this Tensor.
  std::span<const Index> extents() const { return {header().extents(), header_->rank}; }
  /// shape() == other.shape(), without making either.
  bool has_shape_of(const Tensor& other) const { return same_extents(extents(), other.extents()); }
  /// Elements from one index to the next along each axis; 0 where a broadcast repeats.
  Indices strides() const;
  /// strides()[axis]. @throws IndexError if there is no such axis
  Index stride(Index axis) const {
    const Index i = axis < 0 ? axis + rank() : axis;
    if (i < 0 || i >= rank()) return shape()[axis];  // throws
    return header_->strides()[i];
  }
  /// Whether the elements lie in row-major order without gaps.
  bool is_contiguous() const { return header().contiguous; }
  /// Whether this handle is the only one to its block, so that mutable_data() copies nothing.
  bool is_alone() const { return header().references.is_one() && !header_->base; }
  /// Whether both look into one block of memory.
  bool shares_memory_with(const Tensor& other) const;

  /// @name Reading and writing
  /// @{
  /// The numbers in row-major order.
  /// @throws DTypeError if T is not the dtype; ValueError if the Tensor is not contiguous (the text
  ///         names contiguous())
  template <class T>
  std::span<const T> data() const {
    require_contiguous(kDTypeOf<T>);
    return {static_cast<const T*>(header_->data), static_cast<std::size_t>(header_->size)};
  }
  /// The numbers, to be written. Copies first if the block is shared or strided; valid until this
  /// Tensor is next copied.
  /// @throws DTypeError if T is not the dtype
  template <class T>
  std::span<T> mutable_data() {
    if (dtype() != kDTypeOf<T> || !is_alone()) make_own(kDTypeOf<T>);
    return {static_cast<T*>(header_->data), static_cast<std::size_t>(header_->size)};
  }
  /// The first element; strides() tells the rest. For kernels, which have checked the dtype.
  const void* raw() const { return header().data; }

  /// The only number of a one-element Tensor, as a double.
  /// @throws ShapeError if there are more or none
  double item() const;
  /// The number at a multi-index, as a double; negative indices count from the end.
  /// @throws IndexError if it lies outside
  double at(const Indices& index) const;
  /// @}

  /// @name Another view of the same numbers
  /// @{
  /// The same numbers in the same order; one extent may be -1. A view if the strides allow it.
  /// @throws ShapeError if the number of elements differs
  Tensor reshape(const Indices& extents) const;
  /// Axis j of the result is axis order[j] of this.
  /// @throws ValueError unless order names each axis once
  Tensor permute(const Indices& order) const;
  /// Swaps the last two axes. [.., m, n] -> [.., n, m]
  /// @throws ShapeError if the rank is below 2
  Tensor transpose() const;
  /// Indices start .. stop - 1 of an axis.
  /// @throws IndexError unless 0 <= start <= stop <= extent
  Tensor slice(Index axis, Index start, Index stop) const;
  /// Repeats along the axes that this lacks, or has with extent 1. Nothing is copied: stride 0.
  /// @throws ShapeError if the shape does not fit
  Tensor broadcast_to(const Shape& shape) const;
  /// @}

  /// This Tensor, or a contiguous copy.
  Tensor contiguous() const;
  /// The numbers in another dtype; float to int64 rounds towards zero.
  /// @throws ValueError if a number has no int64 (NaN, or out of range)
  Tensor to(DType dtype) const;

  /// The numbers as NumPy would print them; more than 1,000 are cut short with "...".
  std::string str() const;

 private:
  /// Counts the handles to a block: this struct, then extents and strides, then (unless it is a
  /// view of `base`) the numbers themselves.
  struct Header {
    ReferenceCount references;
    std::uint8_t rank;
    DType dtype;
    bool contiguous;
    void* data;
    Index size;
    std::size_t bytes;  ///< of the whole block
    Header* base;       ///< who owns the numbers; null: this block

    Index* extents() { return reinterpret_cast<Index*>(this + 1); }
    const Index* extents() const { return reinterpret_cast<const Index*>(this + 1); }
    Index* strides() { return extents() + rank; }
    const Index* strides() const { return extents() + rank; }
  };

  explicit Tensor(Header* header) : header_(header) {}
  static Header* allocate(
      std::span<const Index> extents, Index size, DType dtype, std::size_t data_bytes);
  Tensor view(const Shape& shape, const Indices& strides, Index offset) const;

  const Header& header() const {
    if (!header_) fail_undefined();
    return *header_;
  }
  [[noreturn]] static void fail_undefined();
  void require_contiguous(DType dtype) const;
  void make_own(DType dtype);

  void retain() {
    if (header_) header_->references.add();
  }
  void release() {
    if (header_ && header_->references.drop()) destroy(header_);
  }
  static void destroy(Header* header);

  Header* header_ = nullptr;
};

/// Prints str().
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace microtape
