#include <microtape/core/kernels/dispatch.hpp>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape::kernels {

void fail_not_floating(
    std::string_view op, std::string_view operand, const Tensor& x, DType wanted) {
  throw DTypeError(cat(op, ": needs float32 or float64: ", operand, " ", x.dtype(), " ", x.shape(),
      "; convert it with to(", is_floating(wanted) ? wanted : float32, ")"));
}

void fail_dtypes(std::string_view op, std::string_view left, const Tensor& a,
    std::string_view right, const Tensor& b) {
  if (!is_floating(b.dtype())) fail_not_floating(op, right, b, a.dtype());
  throw DTypeError(cat(op, ": dtypes differ: ", left, " ", a.dtype(), " ", a.shape(), ", ", right,
      " ", b.dtype(), " ", b.shape(), "; both must be the same; convert one with to(float64)"));
}

}  // namespace microtape::kernels
