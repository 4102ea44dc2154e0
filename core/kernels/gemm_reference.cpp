// gemm() as the definition says it: c_ij = alpha sum_p a_ip b_pj. Slow, and easy to read.

#include <microtape/core/kernels/gemm.hpp>

namespace microtape::kernels {
namespace {

/// A stored matrix, or its transpose, as a function of row and column.
template <class T>
struct Operand {
  const T* data;
  Index row_step, column_step;

  Operand(const T* stored, Index ld, Transpose transpose)
      : data(stored),
        row_step(transpose == Transpose::yes ? 1 : ld),
        column_step(transpose == Transpose::yes ? ld : 1) {}
  T operator()(Index row, Index column) const {
    return data[row * row_step + column * column_step];
  }
};

//! [loop]
template <class T>
void multiply(
    const Operand<T>& a, const Operand<T>& b, Index m, Index n, Index k, T alpha, T* c, Index ldc) {
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      T sum = 0;
      for (Index p = 0; p < k; ++p) sum += a(i, p) * b(p, j);
      c[i * ldc + j] = alpha * sum;
    }
}
//! [loop]

}  // namespace

void gemm(Transpose transpose_a, Transpose transpose_b, Index m, Index n, Index k, float alpha,
    const float* a, Index lda, const float* b, Index ldb, float* c, Index ldc) {
  multiply<float>({a, lda, transpose_a}, {b, ldb, transpose_b}, m, n, k, alpha, c, ldc);
}

void gemm(Transpose transpose_a, Transpose transpose_b, Index m, Index n, Index k, double alpha,
    const double* a, Index lda, const double* b, Index ldb, double* c, Index ldc) {
  multiply<double>({a, lda, transpose_a}, {b, ldb, transpose_b}, m, n, k, alpha, c, ldc);
}

SerialGemm::SerialGemm() = default;
SerialGemm::~SerialGemm() = default;

bool gemm_is_reentrant() { return true; }

}  // namespace microtape::kernels
