#include <microtape/tape/ops/index.hpp>

#include <microtape/core/format.hpp>
#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/core/kernels/index.hpp>
#include <microtape/tape/ops/arithmetic.hpp>
#include <microtape/tape/ops/broadcast.hpp>

namespace microtape {
namespace {

/// The shape of all three; nothing is recorded yet, so what is wrong must be found here.
Shape check_where(const Var& mask, const Var& a, const Var& b) {
  if (mask.dtype() != int64)
    throw DTypeError(cat("where: the mask is not int64: mask ", mask.dtype(), " ", mask.shape(),
        "; 0 or 1 of int64: convert it with to(int64)"));
  if (mask.tape() &&
      ((a.tape() && a.tape() != mask.tape()) || (b.tape() && b.tape() != mask.tape())))
    throw TapeError("where: the inputs stand on two tapes; put all of them on one");
  return broadcast_shape("where", mask.shape(), check_pair("where", a, b));
}

}  // namespace

Var where(const Var& mask, const Var& a, const Var& b) {
  const Shape shape = in_scope_of(a.tape() ? a : b, [&] { return check_where(mask, a, b); });
  if (mask.shape() != shape || a.shape() != shape || b.shape() != shape) {
    const Var wide_mask = broadcast_to(mask, shape);
    const Var wide_a = broadcast_to(a, shape);
    return where(wide_mask, wide_a, broadcast_to(b, shape));
  }
  return record({"where", R"(\operatorname{where}(@m, @a, @b))"},
      [&] { return kernels::where(mask.value(), a.value(), b.value()); },
      {
          {"m", mask},
          {"a", a, R"(\operatorname{where}(@m, @g, 0))",
              [mask](const Var& g) { return where(mask, g, 0); }},
          {"b", b, R"(\operatorname{where}(@m, 0, @g))",
              [mask](const Var& g) { return where(mask, 0, g); }},
      });
}

Var where(const Var& mask, const Var& a, double b) {
  const Shape shape = in_scope_of(a, [&] { return check_where(mask, a, a); });
  if (mask.shape() != shape || a.shape() != shape) {
    const Var wide_mask = broadcast_to(mask, shape);
    return where(wide_mask, broadcast_to(a, shape), b);
  }
  return record({"where", R"(\operatorname{where}(@m, @a, @b))", {{"b", b}}},
      [&] { return kernels::where(mask.value(), a.value(), full_like(a, b)); },
      {
          {"m", mask},
          {"a", a, R"(\operatorname{where}(@m, @g, 0))",
              [mask](const Var& g) { return where(mask, g, 0); }},
      });
}

Var where(const Var& mask, double a, const Var& b) {
  const Shape shape = in_scope_of(b, [&] { return check_where(mask, b, b); });
  if (mask.shape() != shape || b.shape() != shape) {
    const Var wide_mask = broadcast_to(mask, shape);
    return where(wide_mask, a, broadcast_to(b, shape));
  }
  return record({"where", R"(\operatorname{where}(@m, @a, @b))", {{"a", a}}},
      [&] { return kernels::where(mask.value(), full_like(b, a), b.value()); },
      {
          {"m", mask},
          {"b", b, R"(\operatorname{where}(@m, 0, @g))",
              [mask](const Var& g) { return where(mask, 0, g); }},
      });
}

}  // namespace microtape
