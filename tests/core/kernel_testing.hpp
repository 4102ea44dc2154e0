#pragma once

#include <array>
#include <limits>
#include <vector>

#include <microtape/core/kernels/layout.hpp>
#include <microtape/core/tensor.hpp>

#include "catch.hpp"

namespace microtape::testing {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline double epsilon(DType dtype) {
  return dtype == float32 ? std::numeric_limits<float>::epsilon()
                          : std::numeric_limits<double>::epsilon();
}

/// The multi-index of place `i` in row-major order.
inline Indices index_of(const Shape& shape, Index i) {
  Indices index = shape.extents();
  for (std::size_t axis = index.size(); axis-- > 0;) {
    index[axis] = i % shape.extents()[axis];
    i /= shape.extents()[axis];
  }
  return index;
}

/// The number at place `i` in row-major order, whatever the strides.
inline double element(const Tensor& x, Index i) { return x.at(index_of(x.shape(), i)); }

/// Whether two numbers are one: NaN is NaN.
inline bool same(double a, double b) { return a == b || (a != a && b != b); }

/// Checks shape, dtype and every number, to the bit.
inline void check_same(const Tensor& x, const Tensor& wanted) {
  REQUIRE(x.shape() == wanted.shape());
  REQUIRE(x.dtype() == wanted.dtype());
  for (Index i = 0; i < x.size(); ++i) {
    INFO("place " << i << ": " << element(x, i) << ", wanted " << element(wanted, i));
    REQUIRE(same(element(x, i), element(wanted, i)));
  }
}

/// The numbers of x in memory in different ways: without gaps, last axis first, first axis last,
/// and with a NaN after every row.
inline std::vector<Tensor> layouts_of(const Tensor& x) {
  std::vector<Tensor> out{x.contiguous()};
  if (x.rank() == 0) return out;
  Indices backwards, rolled, unrolled;
  for (Index axis = 0; axis < x.rank(); ++axis) {
    backwards.push_back(x.rank() - 1 - axis);
    rolled.push_back((axis + 1) % x.rank());
    unrolled.push_back((axis + x.rank() - 1) % x.rank());
  }
  out.push_back(kernels::copy(x.permute(backwards)).permute(backwards));
  out.push_back(kernels::copy(x.permute(rolled)).permute(unrolled));
  if (x.dtype() != int64) {
    const Index last = x.rank() - 1;
    const std::array<Tensor, 2> parts{x, Tensor::full(x.shape().with(last, 1), kNaN, x.dtype())};
    out.push_back(kernels::concat(parts, last).slice(last, 0, x.extent(last)));
  }
  return out;
}

}  // namespace microtape::testing
