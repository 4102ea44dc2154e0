#pragma once

#include <vector>

#include <microtape/core/tensor.hpp>
#include <microtape/tape/function_ref.hpp>

// Arrays for evaluate(): plain loops in double over multi-indices, slow and easy to check. They
// share nothing with core/kernels, since they are to judge what those compute.

namespace microtape {

/// Numbers in row-major order.
struct Array {
  Shape shape;                 ///< of the whole
  std::vector<double> values;  ///< shape.size() of them
  bool is_number = false;  ///< a number of the formula itself: next to it juxtaposition is scaling

  /// 0 everywhere.
  static Array zeros(const Shape& shape);
  /// A number of the formula itself.
  static Array number(double value) { return {{}, {value}, true}; }
  /// The number at a place in row-major order.
  double& operator[](Index i) { return values[static_cast<std::size_t>(i)]; }
  double operator[](Index i) const { return values[static_cast<std::size_t>(i)]; }
  /// Number of elements.
  Index size() const { return shape.size(); }
};

/// The numbers of a Tensor of any dtype, as doubles.
Array to_array(const Tensor& tensor);
/// -> float64
Tensor to_tensor(const Array& array);

namespace plain {

/// f of every element.
Array map(Array a, FunctionRef<double(double)> f);
/// f of every pair, broadcast. @throws ShapeError if the shapes do not broadcast
Array combine(const Array& a, const Array& b, FunctionRef<double(double, double)> f);

/// The product over the last two axes; the leading ones broadcast. a [.., m, k], b [.., k, n] ->
/// [.., m, n]
/// @throws ShapeError if a rank is below 2 or the shapes do not fit
Array matrix_product(const Array& a, const Array& b);

/// Repeats to a shape. @throws ShapeError if it does not fit
Array broadcast(const Array& a, const Shape& shape);
/// Sums down to a shape. @throws ShapeError if that does not broadcast to a's
Array sum_to(const Array& a, const Shape& shape);
/// a as something of another shape: broadcast if it is smaller, summed if it is larger, else the
/// same numbers in that shape. @throws ShapeError if none of these fits
Array fitted(Array a, const Shape& shape);

/// Axis j of the result is axis order[j] of a. @throws ShapeError, IndexError or ValueError unless
/// the order names each axis once
Array permuted(const Array& a, const Indices& order);
/// The last two axes swapped. @throws ShapeError if the rank is below 2
Array transposed(const Array& a);

/// The elements that differ only along some axes, as flat indices: one list for each place along
/// the other axes, in row-major order.
/// @param axes  counted from the front or the end; none means all
std::vector<std::vector<Index>> groups(const Shape& shape, const Indices& axes);

/// The flat index of each element of `part` in `whole`, where it lies at offset `start` along an
/// axis.
std::vector<Index> places(const Shape& whole, const Shape& part, Index axis, Index start);

}  // namespace plain
}  // namespace microtape
