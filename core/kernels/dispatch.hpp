#pragma once

#include <string_view>

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

[[noreturn]] void fail_not_floating(
    std::string_view op, std::string_view operand, const Tensor& x, DType wanted);
[[noreturn]] void fail_dtypes(std::string_view op, std::string_view left, const Tensor& a,
    std::string_view right, const Tensor& b);

/// @throws DTypeError unless the operand is float32 or float64
inline void require_floating(std::string_view op, std::string_view operand, const Tensor& x) {
  if (!is_floating(x.dtype())) fail_not_floating(op, operand, x, float32);
}

/// @throws DTypeError unless both are float32 or both are float64
inline void require_same_floating(std::string_view op, std::string_view left, const Tensor& a,
    std::string_view right, const Tensor& b) {
  if (!is_floating(a.dtype())) fail_not_floating(op, left, a, b.dtype());
  if (a.dtype() != b.dtype()) fail_dtypes(op, left, a, right, b);
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
