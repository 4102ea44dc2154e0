#pragma once

// Attention and its gradients as the textbook has them, by plain loops in double. It shares no code
// with the library's kernels: it is the judge of what the tape computes.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace closed_form {

/// Numbers in rows. m(i, j) is row i, column j.
struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> numbers;

  Matrix(std::size_t m, std::size_t n) : rows(m), columns(n), numbers(m * n, 0.0) {}
  double& operator()(std::size_t i, std::size_t j) { return numbers[i * columns + j]; }
  double operator()(std::size_t i, std::size_t j) const { return numbers[i * columns + j]; }
};

inline Matrix transposed(const Matrix& a) {
  Matrix t(a.columns, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
  return t;
}

/// factor * A B
inline Matrix product(const Matrix& a, const Matrix& b, double factor = 1) {
  Matrix c(a.rows, b.columns);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < b.columns; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < a.columns; ++k) sum += a(i, k) * b(k, j);
      c(i, j) = factor * sum;
    }
  return c;
}

/// A + B
inline Matrix sum(Matrix a, const Matrix& b) {
  for (std::size_t i = 0; i < a.numbers.size(); ++i) a.numbers[i] += b.numbers[i];
  return a;
}

/// Row by row e^s over the sum of e^s, shifted by the largest s.
inline Matrix softmax(Matrix s) {
  for (std::size_t i = 0; i < s.rows; ++i) {
    double top = s(i, 0), total = 0;
    for (std::size_t j = 0; j < s.columns; ++j) top = std::max(top, s(i, j));
    for (std::size_t j = 0; j < s.columns; ++j) total += s(i, j) = std::exp(s(i, j) - top);
    for (std::size_t j = 0; j < s.columns; ++j) s(i, j) /= total;
  }
  return s;
}

/// What flows through a softmax: P * (dP - rowsum(dP * P)).
//! [row sum]
inline Matrix through_softmax(const Matrix& p, const Matrix& dp) {
  Matrix ds(p.rows, p.columns);
  for (std::size_t i = 0; i < p.rows; ++i) {
    double row = 0;
    for (std::size_t j = 0; j < p.columns; ++j) row += dp(i, j) * p(i, j);
    for (std::size_t j = 0; j < p.columns; ++j) ds(i, j) = p(i, j) * (dp(i, j) - row);
  }
  return ds;
}
//! [row sum]

/// One head, forward and backward.
struct Head {
  Matrix S, P, C, dP, dV, dS, dQ, dK;
};

/// @param mask  added to the scores
/// @param dC    the adjoint of C
inline Head head(
    const Matrix& Q, const Matrix& K, const Matrix& V, const Matrix& mask, const Matrix& dC) {
  //! [head]
  const double scale = 1 / std::sqrt(static_cast<double>(Q.columns));
  const Matrix S = product(Q, transposed(K), scale);
  const Matrix P = softmax(sum(S, mask));
  const Matrix C = product(P, V);
  const Matrix dP = product(dC, transposed(V));
  const Matrix dV = product(transposed(P), dC);
  const Matrix dS = through_softmax(P, dP);
  const Matrix dQ = product(dS, K, scale);
  const Matrix dK = product(transposed(dS), Q, scale);
  return {S, P, C, dP, dV, dS, dQ, dK};
  //! [head]
}

}  // namespace closed_form
