#pragma once

// One head of attention that computes each row from the keys it may look at, by plain loops. There
// is no mask in it: what is forbidden does not exist.

#include "closed_form.hpp"

namespace allowed_keys {

using closed_form::Matrix;

/// Values of one head, forward and backward; 0 where a query may not look.
struct Chain {
  Matrix P, C, dS, dQ, dK, dV;
};

/// @param allows  bool(i, j): whether query i may look at key j; at one key at least
/// @param dC      the adjoint of C
template <class Allows>
Chain head(const Matrix& Q, const Matrix& K, const Matrix& V, const Matrix& dC, Allows allows) {
  const Matrix scores(Q.rows, K.rows);
  Chain out{scores, Matrix(Q.rows, V.columns), scores, Matrix(Q.rows, Q.columns),
      Matrix(K.rows, K.columns), Matrix(V.rows, V.columns)};
  const double scale = 1 / std::sqrt(static_cast<double>(Q.columns));
  for (std::size_t i = 0; i < Q.rows; ++i) {
    std::vector<std::size_t> allowed;
    for (std::size_t j = 0; j < K.rows; ++j)
      if (allows(i, j)) allowed.push_back(j);

    // Forward: P and C of this row.
    double total = 0;
    for (const std::size_t j : allowed) {
      double s = 0;
      for (std::size_t k = 0; k < Q.columns; ++k) s += Q(i, k) * K(j, k) * scale;
      total += out.P(i, j) = std::exp(s);
    }
    for (const std::size_t j : allowed) {
      out.P(i, j) /= total;
      for (std::size_t k = 0; k < V.columns; ++k) out.C(i, k) += out.P(i, j) * V(j, k);
    }

    // Backward: what this row contributes.
    std::vector<double> dP(K.rows);
    double row_sum = 0;
    for (const std::size_t j : allowed) {
      for (std::size_t k = 0; k < V.columns; ++k) {
        dP[j] += dC(i, k) * V(j, k);
        out.dV(j, k) += out.P(i, j) * dC(i, k);
      }
      row_sum += dP[j] * out.P(i, j);
    }
    for (const std::size_t j : allowed) {
      out.dS(i, j) = out.P(i, j) * (dP[j] - row_sum);
      for (std::size_t k = 0; k < Q.columns; ++k) {
        out.dQ(i, k) += out.dS(i, j) * K(j, k) * scale;
        out.dK(j, k) += out.dS(i, j) * Q(i, k) * scale;
      }
    }
  }
  return out;
}

}  // namespace allowed_keys
