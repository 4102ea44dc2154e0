#pragma once

// Attention with several heads as a sum over them, by plain loops: no cutting, no gluing. Head h
// has rows of W_Q, W_K and W_V to itself, and columns of W_O.

#include "closed_form.hpp"

namespace many_heads {

using closed_form::Matrix;
using closed_form::product;
using closed_form::transposed;

/// W [E, E] maps rows x to x W^T + b; b is [1, E].
struct Projection {
  Matrix W, b;
};

/// Inputs [T, E] of one sequence, and the adjoint of its result.
struct Sequence {
  Matrix query, key, value, dY;
};

/// Parameters, or their adjoints.
struct Projections {
  Projection Q, K, V, O;
};

/// What one sequence gives; its adjoints of parameters have been added to those of the others.
struct Result {
  Matrix Y, dquery, dkey, dvalue;
};

/// Rows from .. from + count - 1.
inline Matrix rows(const Matrix& m, std::size_t from, std::size_t count) {
  Matrix out(count, m.columns);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < m.columns; ++j) out(i, j) = m(from + i, j);
  return out;
}
inline Matrix columns(const Matrix& m, std::size_t from, std::size_t count) {
  return transposed(rows(transposed(m), from, count));
}

/// Adds `part` to what stands from (row, column) on.
inline void add(Matrix& to, const Matrix& part, std::size_t row = 0, std::size_t column = 0) {
  for (std::size_t i = 0; i < part.rows; ++i)
    for (std::size_t j = 0; j < part.columns; ++j) to(row + i, column + j) += part(i, j);
}
/// Adds `part` to each row.
inline Matrix with_bias(Matrix m, const Matrix& part) {
  for (std::size_t i = 0; i < m.rows; ++i)
    for (std::size_t j = 0; j < m.columns; ++j) m(i, j) += part(0, j);
  return m;
}
inline Matrix column_sums(const Matrix& m) {
  Matrix out(1, m.columns);
  for (std::size_t i = 0; i < m.rows; ++i)
    for (std::size_t j = 0; j < m.columns; ++j) out(0, j) += m(i, j);
  return out;
}

/// One sequence, forward and backward. @param d  the adjoints of p so far
inline Result attend(const Projections& p, std::size_t heads, const Sequence& s, Projections& d) {
  const std::size_t E = p.O.W.rows, D = E / heads;
  Result out{Matrix(s.query.rows, E), Matrix(s.query.rows, E), Matrix(s.key.rows, E),
      Matrix(s.value.rows, E)};
  for (std::size_t first = 0; first < E; first += D) {
    // This head's part of each projection.
    const auto projected = [&](const Matrix& x, const Projection& part) {
      return with_bias(product(x, transposed(rows(part.W, first, D))), columns(part.b, first, D));
    };
    const Matrix W_O = columns(p.O.W, first, D);  // [E, D]
    const Matrix open(s.query.rows, s.key.rows);
    const closed_form::Head h = closed_form::head(projected(s.query, p.Q), projected(s.key, p.K),
        projected(s.value, p.V), open, product(s.dY, W_O));

    // Y is the sum of C_h W_O,h^T; all else is the rule of a linear map.
    add(out.Y, product(h.C, transposed(W_O)));
    add(d.O.W, product(transposed(s.dY), h.C), 0, first);
    const auto back = [&](const Matrix& g, const Matrix& x, const Projection& part, Projection& dp,
                          Matrix& dx) {
      add(dp.W, product(transposed(g), x), first);
      add(dp.b, column_sums(g), 0, first);
      add(dx, product(g, rows(part.W, first, D)));
    };
    back(h.dQ, s.query, p.Q, d.Q, out.dquery);
    back(h.dK, s.key, p.K, d.K, out.dkey);
    back(h.dV, s.value, p.V, d.V, out.dvalue);
  }
  out.Y = with_bias(out.Y, p.O.b);
  add(d.O.b, column_sums(s.dY));
  return out;
}

}  // namespace many_heads
