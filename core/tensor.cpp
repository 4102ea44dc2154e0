#include <microtape/core/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/kernels/layout.hpp>
#include <microtape/core/pool.hpp>
#include <microtape/core/random.hpp>

namespace microtape {
namespace {

/// Bytes from the start of a block to its numbers. Where there are many, the numbers too start at a
/// cache line, as the block does.
std::size_t data_offset(std::size_t header_bytes, std::size_t data_bytes) {
  constexpr std::size_t kLine = pool::kLargeAlignment;
  if (data_bytes < pool::kMostSmall) return header_bytes;
  return (header_bytes + kLine - 1) / kLine * kLine;
}

std::int64_t to_int64(std::string_view op, double value) {
  if (!(value >= -0x1p63 && value < 0x1p63 && value == std::trunc(value)))
    throw ValueError(
        cat(op, ": ", value, " is not an int64; give a whole number, or a float dtype"));
  return static_cast<std::int64_t>(value);
}

/// Sets number i to number(i), a double; `op` stands in the error if it has no int64.
template <class F>
void fill_with(std::string_view op, Tensor& tensor, F number) {
  const auto write = [&](auto data, auto convert) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = convert(number(i));
  };
  switch (tensor.dtype()) {
    case float32:
      return write(tensor.mutable_data<float>(), [](double x) { return static_cast<float>(x); });
    case float64:
      return write(tensor.mutable_data<double>(), [](double x) { return x; });
    case int64:
      return write(tensor.mutable_data<std::int64_t>(), [op](double x) { return to_int64(op, x); });
  }
}

void require_floating(std::string_view op, DType dtype) {
  if (!is_floating(dtype))
    throw DTypeError(cat(op, ": makes fractions: dtype ", dtype, "; needs float32 or float64"));
}

}  // namespace

// --- the block ---------------------------------------------------------------------------

Tensor::Header* Tensor::allocate(
    std::span<const Index> extents, Index size, DType dtype, std::size_t data_bytes) {
  static_assert(sizeof(Header) % sizeof(double) == 0 && sizeof(Index) % sizeof(double) == 0);
  const std::size_t header_bytes = sizeof(Header) + 2 * extents.size() * sizeof(Index);
  const std::size_t offset = data_offset(header_bytes, data_bytes);
  const std::size_t bytes = offset + data_bytes;
  void* block = pool::allocate(bytes);
  auto* header = new (block) Header{.references = {},
      .rank = static_cast<std::uint8_t>(extents.size()),
      .dtype = dtype,
      .contiguous = true,
      .data = static_cast<char*>(block) + offset,
      .size = size,
      .bytes = bytes,
      .base = nullptr};
  std::copy(extents.begin(), extents.end(), header->extents());
  Index step = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    header->strides()[i] = step;
    step *= std::max<Index>(extents[i], 1);
  }
  return header;
}

void Tensor::destroy(Header* header) {
  // A view lets go of its base, which is never itself a view.
  Header* base = header->base;
  pool::deallocate(header, header->bytes);
  if (base && base->references.drop()) pool::deallocate(base, base->bytes);
}

Tensor Tensor::view(const Shape& shape, const Indices& strides, Index offset) const {
  Header* out = allocate(shape.extents(), shape.size(), dtype(), 0);
  std::copy(strides.begin(), strides.end(), out->strides());
  out->base = header_->base ? header_->base : header_;
  out->base->references.add();
  out->data = static_cast<char*>(header_->data) + offset * static_cast<Index>(size_of(dtype()));
  // Row-major without gaps; the stride of an axis of extent 1 does not matter, nor of an empty one.
  Index step = 1;
  for (std::size_t i = strides.size(); i-- > 0;) {
    if (shape.extents()[i] != 1 && strides[i] != step && shape.size() > 0) out->contiguous = false;
    step *= shape.extents()[i];
  }
  return Tensor(out);
}

void Tensor::fail_undefined() {
  throw ValueError(
      "Tensor: it has no value: it was default-constructed or moved from; give it one first");
}

void Tensor::require_contiguous(DType wanted) const {
  if (dtype() != wanted)
    throw DTypeError(cat("data: wrong number type: tensor ", shape(), " is ", dtype(),
        ", asked for ", wanted, "; ask for ", dtype(), ", or convert with to(", wanted, ")"));
  if (!is_contiguous())
    throw ValueError(cat("data: not in row-major order: tensor ", shape(), " with strides ",
        strides(), " is a view; call contiguous() first"));
}

void Tensor::make_own(DType wanted) {
  if (dtype() != wanted) require_contiguous(wanted);
  *this = kernels::copy(*this);
}

bool Tensor::shares_memory_with(const Tensor& other) const {
  const auto owner = [](const Tensor& t) { return t.header().base ? t.header().base : t.header_; };
  return owner(*this) == owner(other);
}

// --- making one --------------------------------------------------------------------------

Tensor Tensor::uninitialized(const Shape& shape, DType dtype) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 62;
  const auto count = static_cast<std::size_t>(shape.size());
  if (count > kMostBytes / size_of(dtype))
    throw ShapeError(
        cat("Tensor: too many bytes: ", shape, " of ", dtype, "; they must fit in 62 bits"));
  return Tensor(
      allocate({shape.begin(), shape.end()}, shape.size(), dtype, count * size_of(dtype)));
}

Tensor Tensor::uninitialized_like(const Tensor& other) {
  const Header& from = other.header();
  return Tensor(allocate(other.extents(), from.size, from.dtype,
      static_cast<std::size_t>(from.size) * size_of(from.dtype)));
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype) {
  if (dtype == int64) to_int64("full", value);
  Tensor out = uninitialized(shape, dtype);
  fill_with("full", out, [=](std::size_t) { return value; });
  return out;
}

Tensor Tensor::zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }

Tensor Tensor::arange(double start, double stop, double step, DType dtype) {
  if (!std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(step) || step == 0)
    throw ValueError(cat("arange: no such range: start ", start, ", stop ", stop, ", step ", step,
        "; all must be finite, and step not 0"));
  const double count = std::max(0.0, std::ceil((stop - start) / step));
  if (count > 0x1p53) throw ValueError(cat("arange: too many elements: ", count));
  Tensor out = uninitialized({static_cast<Index>(count)}, dtype);
  fill_with("arange", out, [=](std::size_t i) { return start + static_cast<double>(i) * step; });
  return out;
}

Tensor Tensor::randn(const Shape& shape, std::uint64_t seed, DType dtype) {
  require_floating("randn", dtype);
  Tensor out = uninitialized(shape, dtype);
  fill_with("randn", out, [=](std::size_t i) { return random_normal(seed, i); });
  return out;
}

Tensor Tensor::uniform(
    const Shape& shape, double low, double high, std::uint64_t seed, DType dtype) {
  require_floating("uniform", dtype);
  if (!std::isfinite(low) || !std::isfinite(high) || low > high)
    throw ValueError(cat("uniform: no such range: low ", low, ", high ", high,
        "; both must be finite, and low not above high"));
  const double most =
      dtype == float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  if (low < -most || high > most || !std::isfinite(high - low))
    throw ValueError(cat("uniform: range too wide: low ", low, ", high ", high,
        "; both, and high - low, must be numbers of ", dtype));
  Tensor out = uninitialized(shape, dtype);
  fill_with("uniform", out, [=](std::size_t i) {
    const double x = low + (high - low) * random_uniform(seed, i);
    const double rounded = dtype == float32 ? static_cast<float>(x) : x;
    if (rounded < high) return rounded;
    // Rounding has reached the upper bound, which does not belong.
    return dtype == float32 ? std::nextafter(static_cast<float>(high), static_cast<float>(low))
                            : std::nextafter(high, low);
  });
  return out;
}

Tensor Tensor::of(const Shape& shape, const std::vector<double>& values, DType dtype) {
  if (static_cast<Index>(values.size()) != shape.size())
    throw ShapeError(cat("of: the numbers do not fill the shape: ", shape, " needs ", shape.size(),
        ", got ", values.size()));
  Tensor out = uninitialized(shape, dtype);
  fill_with("of", out, [&](std::size_t i) { return values[i]; });
  return out;
}

Tensor Tensor::of(const Nested& values, DType dtype) {
  // Read the extents off the first row of each level.
  Indices extents;
  for (const Nested* level = &values; level->is_list();) {
    extents.push_back(static_cast<Index>(level->items().size()));
    if (level->items().empty()) break;
    level = &level->items().front();
  }
  // Collect the numbers level by level; every row must be as long as the first.
  std::vector<const Nested*> row{&values};
  for (const Index extent : extents) {
    std::vector<const Nested*> next;
    for (const Nested* item : row) {
      if (!item->is_list() || static_cast<Index>(item->items().size()) != extent)
        throw ShapeError(cat(
            "of: rows differ in length: the first give ", extents, "; every row must be as long"));
      for (const Nested& inner : item->items()) next.push_back(&inner);
    }
    row = std::move(next);
  }
  std::vector<double> numbers;
  for (const Nested* item : row) {
    if (item->is_list())
      throw ShapeError(
          cat("of: rows differ in depth: the first give ", extents, "; every row must be as deep"));
    numbers.push_back(item->number());
  }
  return of(Shape(extents), numbers, dtype);
}

// --- reading -----------------------------------------------------------------------------

Shape Tensor::shape() const {
  // Its parts were checked when the Tensor was made.
  Shape out;
  out.extents_ = Indices(extents());
  out.size_ = header_->size;
  return out;
}

Indices Tensor::strides() const {
  // In braces, which are evaluated in order: header() first, which may throw.
  return Indices(std::span<const Index>{header().strides(), header_->rank});
}

double Tensor::item() const {
  if (size() != 1)
    throw ShapeError(cat("item: not one number: tensor ", shape(), " has ", size(),
        "; use at(), or reduce it first"));
  return at(Indices(std::vector<Index>(static_cast<std::size_t>(rank()), 0)));
}

double Tensor::at(const Indices& index) const {
  const auto fail = [&] {
    return IndexError(cat("at: ", index, " lies outside: tensor ", shape(),
        "; one index an axis, each at least minus its extent and below it"));
  };
  if (static_cast<Index>(index.size()) != rank()) throw fail();
  Index offset = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    const Index extent = header_->extents()[axis];
    const Index i = index[axis] < 0 ? index[axis] + extent : index[axis];
    if (i < 0 || i >= extent) throw fail();
    offset += i * header_->strides()[axis];
  }
  switch (dtype()) {
    case float32:
      return static_cast<const float*>(raw())[offset];
    case float64:
      return static_cast<const double*>(raw())[offset];
    default:
      return static_cast<double>(static_cast<const std::int64_t*>(raw())[offset]);
  }
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : kernels::copy(*this); }

Tensor Tensor::to(DType wanted) const {
  return dtype() == wanted ? *this : kernels::cast(*this, wanted);
}

}  // namespace microtape
