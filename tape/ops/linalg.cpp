#include <microtape/tape/ops/linalg.hpp>

#include <algorithm>

#include <microtape/core/kernels/matmul.hpp>
#include <microtape/tape/ops/shape.hpp>

namespace microtape {
namespace {

/// Leading axes become further rows: [.., m, k] -> [.. m, k].
Var rows(const Var& x) {
  const Shape shape = x.shape();
  Index count = 1;
  for (Index axis = 0; axis < shape.rank() - 1; ++axis) count *= shape[axis];
  return reshape(x, {count, shape[-1]});
}

bool broadcasts(const Shape& a, const Shape& b) {
  for (Index back = 1; back <= std::min(a.rank(), b.rank()); ++back)
    if (a[-back] != b[-back] && a[-back] != 1 && b[-back] != 1) return false;
  return true;
}

/// Whether the batches have to be repeated first. Only if all else is well: otherwise the product
/// itself says what is wrong, before anything is recorded.
bool needs_batches(const Var& a, Index inner_a, const Var& b, Index inner_b) {
  if (a.rank() == 2 && b.rank() == 2) return false;
  return a.rank() >= 2 && b.rank() >= 2 && a.shape()[inner_a] == b.shape()[inner_b] &&
         batch_axes(a.shape()) != batch_axes(b.shape()) &&
         broadcasts(batch_axes(a.shape()), batch_axes(b.shape())) && a.dtype() == b.dtype() &&
         is_floating(a.dtype()) && (!a.tape() || !b.tape() || a.tape() == b.tape());
}

/// Two operands, made in this order: C++ leaves that of arguments open, but a tape has one order.
struct Pair {
  Var a, b;
};

/// x with these batch axes.
Var with_batch(const Var& x, const Shape& batch) {
  Indices extents = batch;
  extents.push_back(x.shape()[-2]);
  extents.push_back(x.shape()[-1]);
  return broadcast_to(x, Shape(extents));
}

/// Both with the batch axes that they have in common.
Pair with_batches(const Var& a, const Var& b) {
  const Shape batch = broadcast_shape("matmul", batch_axes(a.shape()), batch_axes(b.shape()));
  return {with_batch(a, batch), with_batch(b, batch)};
}

/// c A^T B over all rows of all batches: the gradient of a matrix that they share.
Var shared_tn(const Var& a, const Var& b, const Scale& c) {
  const Pair merged{rows(a), rows(b)};
  return matmul_tn(merged.a, merged.b, c);  // [.. m, k]^T [.. m, n] -> [k, n]
}

}  // namespace

//! [matmul]
Var matmul(const Var& a, const Var& b, const Scale& c) {
  const bool is_shared = a.rank() > 2 && b.rank() == 2;  // one matrix for every row of a
  if (!is_shared && needs_batches(a, -1, b, -2)) {
    const Pair wide = with_batches(a, b);
    return matmul(wide.a, wide.b, c);
  }
  return record({"matmul", "@c @a @b", {{"c", c.value, c.symbol.text()}}},
      [&] { return kernels::matmul(a.value(), b.value(), c.value); },
      {
          // [.., m, n] [.., k, n]^T -> [.., m, k]
          {"a", a, R"(@c @g @b^\top)",
              [b = Saved(b), c](const Var& g) { return matmul_nt(g, b, c); }},
          // [.., m, k]^T [.., m, n] -> [.., k, n]
          {"b", b, R"(@c @a^\top @g)",
              [a = Saved(a), c, is_shared](
                  const Var& g) { return is_shared ? shared_tn(a, g, c) : matmul_tn(a, g, c); }},
      });
}
//! [matmul]

Var matmul_nt(const Var& a, const Var& b, const Scale& c) {
  const bool is_shared = a.rank() > 2 && b.rank() == 2;
  if (!is_shared && needs_batches(a, -1, b, -1)) {
    const Pair wide = with_batches(a, b);
    return matmul_nt(wide.a, wide.b, c);
  }
  return record({"matmul_nt", R"(@c @a @b^\top)", {{"c", c.value, c.symbol.text()}}},
      [&] { return kernels::matmul_nt(a.value(), b.value(), c.value); },
      {
          // [.., m, n] [.., n, k] -> [.., m, k]
          {"a", a, "@c @g @b", [b = Saved(b), c](const Var& g) { return matmul(g, b, c); }},
          // [.., m, n]^T [.., m, k] -> [.., n, k]
          {"b", b, R"(@c @g^\top @a)",
              [a = Saved(a), c, is_shared](
                  const Var& g) { return is_shared ? shared_tn(g, a, c) : matmul_tn(g, a, c); }},
      });
}

Var matmul_tn(const Var& a, const Var& b, const Scale& c) {
  if (needs_batches(a, -2, b, -2)) {
    const Pair wide = with_batches(a, b);
    return matmul_tn(wide.a, wide.b, c);
  }
  return record({"matmul_tn", R"(@c @a^\top @b)", {{"c", c.value, c.symbol.text()}}},
      [&] { return kernels::matmul_tn(a.value(), b.value(), c.value); },
      {
          // [.., k, n] [.., m, n]^T -> [.., k, m]
          {"a", a, R"(@c @b @g^\top)",
              [b = Saved(b), c](const Var& g) { return matmul_nt(b, g, c); }},
          // [.., k, m] [.., m, n] -> [.., k, n]
          {"b", b, "@c @a @g", [a = Saved(a), c](const Var& g) { return matmul(a, g, c); }},
      });
}

}  // namespace microtape
