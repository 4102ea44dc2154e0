#include <microtape/tape/ops/broadcast.hpp>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/kernels/dispatch.hpp>

namespace microtape {

Shape check_pair(const char* op, const Var& a, const Var& b) {
  if (a.tape() && b.tape() && a.tape() != b.tape())
    throw TapeError(cat(op, ": the inputs stand on two tapes; put all of them on one"));
  kernels::require_same_floating(op, "a", a.value(), "b", b.value());
  return broadcast_shape(op, a.shape(), b.shape());
}

Tensor full_like(const Var& x, double value) {
  return Tensor::full({}, value, x.dtype()).broadcast_to(x.shape());
}

Var broadcast_pair(const char* name, BinaryOp op, const Var& a, const Var& b) {
  const Shape shape = in_scope_of(a.tape() ? a : b, [&] { return check_pair(name, a, b); });
  // One after the other: C++ leaves the order of arguments open, but a tape has one order.
  const Var wide_a = broadcast_to(a, shape);
  const Var wide_b = broadcast_to(b, shape);
  return op(wide_a, wide_b);
}

}  // namespace microtape
