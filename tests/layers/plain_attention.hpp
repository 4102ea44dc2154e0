#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

// Attention in plain loops over doubles, from the equations. Shares no code with the library: not a
// type, not a kernel.

namespace microtape::testing::plain {

/// Rows and columns of numbers.
struct Matrix {
  Matrix() = default;
  Matrix(std::size_t m, std::size_t n) : rows(m), columns(n), data(m * n, 0.0) {}
  double& operator()(std::size_t i, std::size_t j) { return data[i * columns + j]; }
  double operator()(std::size_t i, std::size_t j) const { return data[i * columns + j]; }

  std::size_t rows = 0, columns = 0;
  std::vector<double> data;
};

inline Matrix transposed(const Matrix& a) {
  Matrix t(a.columns, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
  return t;
}

/// c a b
inline Matrix product(const Matrix& a, const Matrix& b, double c = 1) {
  Matrix out(a.rows, b.columns);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < b.columns; ++j) {
      long double sum = 0;
      for (std::size_t k = 0; k < a.columns; ++k) sum += a(i, k) * b(k, j);
      out(i, j) = static_cast<double>(c * sum);
    }
  return out;
}

inline void add_to(Matrix& a, const Matrix& b) {
  for (std::size_t i = 0; i < a.data.size(); ++i) a.data[i] += b.data[i];
}

/// One row: the sum of each column.
inline Matrix column_sums(const Matrix& a) {
  Matrix out(1, a.columns);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.columns; ++j) out(0, j) += a(i, j);
  return out;
}

/// All of one head, forward and backward.
struct Head {
  Matrix s, p, c, dv, dp, ds, dq, dk;
};

/// The chain of one head. q [t, d], k [s, d], v [s, d], dc [t, d]; m [t, s] is added to the scores.
inline Head head(
    const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& m, const Matrix& dc) {
  Head h;
  const double scale = 1 / std::sqrt(static_cast<double>(q.columns));
  h.s = product(q, transposed(k), scale);
  h.p = h.s;
  for (std::size_t i = 0; i < h.s.rows; ++i) {
    double top = -INFINITY, sum = 0;
    for (std::size_t j = 0; j < h.s.columns; ++j) top = std::fmax(top, h.s(i, j) + m(i, j));
    for (std::size_t j = 0; j < h.s.columns; ++j)
      sum += h.p(i, j) = std::exp(h.s(i, j) + m(i, j) - top);
    for (std::size_t j = 0; j < h.s.columns; ++j) h.p(i, j) /= sum;
  }
  h.c = product(h.p, v);
  h.dv = product(transposed(h.p), dc);
  h.dp = product(dc, transposed(v));
  h.ds = h.dp;
  for (std::size_t i = 0; i < h.p.rows; ++i) {
    double inner = 0;
    for (std::size_t j = 0; j < h.p.columns; ++j) inner += h.dp(i, j) * h.p(i, j);
    for (std::size_t j = 0; j < h.p.columns; ++j) h.ds(i, j) = h.p(i, j) * (h.dp(i, j) - inner);
  }
  h.dq = product(h.ds, k, scale);
  h.dk = product(transposed(h.ds), q, scale);
  return h;
}

/// y = x w^T + b with what its backward pass needs: w [out, in], b [1, out].
struct Affine {
  Matrix w, b, dw, db;

  Matrix forward(const Matrix& x) const {
    Matrix y = product(x, transposed(w));
    for (std::size_t i = 0; i < y.rows; ++i)
      for (std::size_t j = 0; j < y.columns; ++j) y(i, j) += b(0, j);
    return y;
  }
  /// Adds to dw and db; returns dx.
  Matrix backward(const Matrix& x, const Matrix& dy) {
    if (dw.data.empty()) dw = Matrix(w.rows, w.columns), db = Matrix(1, b.columns);
    add_to(dw, product(transposed(dy), x));
    add_to(db, column_sums(dy));
    return product(dy, w);
  }
};

/// Columns from .. from + n - 1.
inline Matrix columns_of(const Matrix& a, std::size_t from, std::size_t n) {
  Matrix out(a.rows, n);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < n; ++j) out(i, j) = a(i, from + j);
  return out;
}

inline void put_columns(Matrix& a, std::size_t from, const Matrix& part) {
  for (std::size_t i = 0; i < part.rows; ++i)
    for (std::size_t j = 0; j < part.columns; ++j) a(i, from + j) = part(i, j);
}

/// What one sequence of the batch gives.
struct Pass {
  Matrix y, dquery, dkey, dvalue;
  std::vector<Matrix> weights;  // [head]
};

/// Attention with several heads on one sequence. query [t, e], key and value [s, e], dy [t, e].
/// The gradients of q, k, v, o add up over calls.
inline Pass attend(Affine& q, Affine& k, Affine& v, Affine& o, std::size_t heads,
    const Matrix& query, const Matrix& key, const Matrix& value, const Matrix& m,
    const Matrix& dy) {
  const Matrix big_q = q.forward(query), big_k = k.forward(key), big_v = v.forward(value);
  const std::size_t e = query.columns, d = e / heads;
  // Forward: each head has its own columns.
  Matrix c(query.rows, e);
  for (std::size_t h = 0; h < heads; ++h)
    put_columns(c, h * d,
        head(columns_of(big_q, h * d, d), columns_of(big_k, h * d, d), columns_of(big_v, h * d, d),
            m, Matrix(query.rows, d))
            .c);
  Pass out;
  out.y = o.forward(c);
  // Backward.
  const Matrix dc = o.backward(c, dy);
  Matrix dq(query.rows, e), dk(key.rows, e), dv(key.rows, e);
  for (std::size_t h = 0; h < heads; ++h) {
    const Head one = head(columns_of(big_q, h * d, d), columns_of(big_k, h * d, d),
        columns_of(big_v, h * d, d), m, columns_of(dc, h * d, d));
    put_columns(dq, h * d, one.dq);
    put_columns(dk, h * d, one.dk);
    put_columns(dv, h * d, one.dv);
    out.weights.push_back(one.p);
  }
  out.dquery = q.backward(query, dq);
  out.dkey = k.backward(key, dk);
  out.dvalue = v.backward(value, dv);
  return out;
}

}  // namespace microtape::testing::plain
