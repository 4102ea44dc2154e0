// gemm() by a BLAS library.

#include <microtape/core/kernels/gemm.hpp>

#include <mutex>

#include <cblas.h>

namespace microtape::kernels {
namespace {

CBLAS_TRANSPOSE cblas(Transpose transpose) {
  return transpose == Transpose::yes ? CblasTrans : CblasNoTrans;
}

int cblas(Index extent) { return static_cast<int>(extent); }

#ifdef MICROTAPE_OPENBLAS

/// How many SerialGemms live, and what the first of them found.
struct Serial {
  std::mutex mutex;
  int count = 0;
  int threads_before = 1;
};

Serial& serial() {
  static Serial serial;
  return serial;
}

#endif

}  // namespace

#ifdef MICROTAPE_OPENBLAS

SerialGemm::SerialGemm() {
  const std::lock_guard lock(serial().mutex);
  if (serial().count++ > 0) return;
  serial().threads_before = openblas_get_num_threads();
  if (serial().threads_before != 1) openblas_set_num_threads(1);
}

SerialGemm::~SerialGemm() {
  const std::lock_guard lock(serial().mutex);
  if (--serial().count == 0 && serial().threads_before != 1)
    openblas_set_num_threads(serial().threads_before);
}

bool gemm_is_reentrant() { return openblas_get_parallel() != OPENBLAS_SEQUENTIAL; }

#else

SerialGemm::SerialGemm() = default;
SerialGemm::~SerialGemm() = default;

bool gemm_is_reentrant() { return true; }

#endif

#ifndef MICROTAPE_ONEDNN  // gemm_onednn.cpp has another

void gemm(Transpose transpose_a, Transpose transpose_b, Index m, Index n, Index k, float alpha,
    const float* a, Index lda, const float* b, Index ldb, float* c, Index ldc) {
  cblas_sgemm(CblasRowMajor, cblas(transpose_a), cblas(transpose_b), cblas(m), cblas(n), cblas(k),
      alpha, a, cblas(lda), b, cblas(ldb), 0, c, cblas(ldc));
}

#endif

void gemm(Transpose transpose_a, Transpose transpose_b, Index m, Index n, Index k, double alpha,
    const double* a, Index lda, const double* b, Index ldb, double* c, Index ldc) {
  cblas_dgemm(CblasRowMajor, cblas(transpose_a), cblas(transpose_b), cblas(m), cblas(n), cblas(k),
      alpha, a, cblas(lda), b, cblas(ldb), 0, c, cblas(ldc));
}

}  // namespace microtape::kernels
