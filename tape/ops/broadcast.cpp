#include <microtape/tape/ops/broadcast.hpp>

#include <microtape/core/format.hpp>

namespace microtape {

Shape check_pair(const char* op, const Var& a, const Var& b) {
  if (a.tape() && b.tape() && a.tape() != b.tape())
    throw TapeError(cat(op, ": the inputs stand on two tapes; put all of them on one"));
  if (a.dtype() != b.dtype())
    throw DTypeError(cat(op, ": dtypes differ: a ", a.dtype(), " ", a.shape(), ", b ", b.dtype(),
        " ", b.shape(), "; both must be the same; convert one with to(", a.dtype(), ")"));
  return broadcast_shape(op, a.shape(), b.shape());
}

Var broadcast_pair(const char* name, BinaryOp op, const Var& a, const Var& b) {
  const Shape shape = in_scope_of(a.tape() ? a : b, [&] { return check_pair(name, a, b); });
  return op(broadcast_to(a, shape), broadcast_to(b, shape));
}

}  // namespace microtape
