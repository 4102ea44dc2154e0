// gemm() by a BLAS library.

#include <microtape/core/kernels/gemm.hpp>

#include <cblas.h>

namespace microtape::kernels {
namespace {

CBLAS_TRANSPOSE cblas(Transpose transpose) {
  return transpose == Transpose::yes ? CblasTrans : CblasNoTrans;
}

int cblas(Index extent) { return static_cast<int>(extent); }

}  // namespace

void gemm(Transpose transpose_a, Transpose transpose_b, Index m, Index n, Index k, float alpha,
    const float* a, Index lda, const float* b, Index ldb, float* c, Index ldc) {
  cblas_sgemm(CblasRowMajor, cblas(transpose_a), cblas(transpose_b), cblas(m), cblas(n), cblas(k),
      alpha, a, cblas(lda), b, cblas(ldb), 0, c, cblas(ldc));
}

void gemm(Transpose transpose_a, Transpose transpose_b, Index m, Index n, Index k, double alpha,
    const double* a, Index lda, const double* b, Index ldb, double* c, Index ldc) {
  cblas_dgemm(CblasRowMajor, cblas(transpose_a), cblas(transpose_b), cblas(m), cblas(n), cblas(k),
      alpha, a, cblas(lda), b, cblas(ldb), 0, c, cblas(ldc));
}

}  // namespace microtape::kernels
