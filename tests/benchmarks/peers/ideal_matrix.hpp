#pragma once

#include <algorithm>

#include <cblas.h>
#include <microtape/core/dtype.hpp>

// What attention by hand is made of: products by the BLAS, and loops over rows
// (ideal_rows.cpp).

namespace ideal {

using microtape::Index;

/// From first to before last.
struct Range {
  Index first, last;
  Index size() const { return last - first; }
};

/// Element (i, j) is data[i * ld + j]; that of a transposed one data[j * ld + i].
struct Matrix {
  float* data;
  Index rows, columns, ld;
  CBLAS_TRANSPOSE order = CblasNoTrans;

  float* row(Index i) const { return data + i * ld; }
  Matrix in_rows(Range r) const { return {row(r.first), r.size(), columns, ld}; }
  Matrix in_columns(Range c) const { return {data + c.first, rows, c.size(), ld}; }
  Matrix transposed() const { return {data, columns, rows, ld, CblasTrans}; }
};

/// c = alpha a b + beta c
inline void multiply(float alpha, const Matrix& a, const Matrix& b, float beta, const Matrix& c) {
  const auto blas = [](Index extent) { return static_cast<int>(extent); };
  cblas_sgemm(CblasRowMajor, a.order, b.order, blas(c.rows), blas(c.columns), blas(a.columns),
      alpha, a.data, blas(a.ld), b.data, blas(b.ld), beta, c.data, blas(c.ld));
}

/// y = x W^T + b
inline void project(const Matrix& x, const Matrix& w, const Matrix& b, const Matrix& y) {
  for (Index i = 0; i < y.rows; ++i) std::copy_n(b.data, y.columns, y.row(i));
  multiply(1, x, w.transposed(), 1, y);
}

// Of ideal_rows.cpp.

/// out = the sum of the rows of x
void sum_rows(const Matrix& x, float* out);
/// s -> softmax(s), n a multiple of 16
void softmax(float* s, Index n);
/// g, the adjoint of p = softmax(s) -> that of s, n a multiple of 16
void softmax_pullback(float* g, const float* p, Index n);

}  // namespace ideal
