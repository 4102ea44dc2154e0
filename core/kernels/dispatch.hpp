#pragma once

#include <string_view>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/tensor.hpp>

// From a dtype at run time to a type at compile time, and the checks that belong to it. Internal:
// included by sources only.

namespace microtape::kernels {

/// Calls f.operator()<T>() with the T of the dtype: float, double or std::int64_t.
template <class F>
auto with_type(DType dtype, F f) {
  switch (dtype) {
    case float32:
      return f.template operator()<float>();
    case float64:
      return f.template operator()<double>();
    default:
      return f.template operator()<std::int64_t>();
  }
}

/// @throws DTypeError unless the operand is float32 or float64
inline void require_floating(
    std::string_view op, std::string_view operand, const Tensor& x, DType wanted = float32) {
  if (!is_floating(x.dtype()))
    throw DTypeError(cat(op, ": needs float32 or float64: ", operand, " ", x.dtype(), " ",
        x.shape(), "; convert it with to(", is_floating(wanted) ? wanted : float32, ")"));
}

/// @throws DTypeError unless both are float32 or both are float64
inline void require_same_floating(std::string_view op, std::string_view left, const Tensor& a,
    std::string_view right, const Tensor& b) {
  require_floating(op, left, a, b.dtype());
  require_floating(op, right, b, a.dtype());
  if (a.dtype() != b.dtype())
    throw DTypeError(cat(op, ": dtypes differ: ", left, " ", a.dtype(), " ", a.shape(), ", ", right,
        " ", b.dtype(), " ", b.shape(), "; both must be the same; convert one with to(float64)"));
}

/// Calls f.operator()<T>() with T float or double; whether the dtype is one of them is checked.
template <class F>
auto with_floating_type(DType dtype, F f) {
  return dtype == float32 ? f.template operator()<float>() : f.template operator()<double>();
}

/// The first number of a Tensor of T.
template <class T>
const T* first(const Tensor& x) {
  return static_cast<const T*>(x.raw());
}

}  // namespace microtape::kernels
