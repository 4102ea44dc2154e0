// gemm() by a BLAS library.

#include <microtape/core/kernels/gemm.hpp>

#include <algorithm>
#include <iterator>
#include <mutex>

#include <cblas.h>

#include <microtape/core/fork.hpp>

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
  static Serial first;
  // What other threads multiply, none does in the child.
  static Serial& instance = hold_for_fork<serial, [] { serial().count = 0; }>(first);
  return instance;
}
[[maybe_unused]] const Serial& made_at_start = serial();  // see fork.hpp

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

#ifndef MICROTAPE_ONEDNN  // else gemm_onednn.cpp multiplies floats

namespace {

// Up to this k, and so many numbers in B, transposing B first was quicker for every m; with a
// larger k it is slower for a small m.
constexpr Index kShortSum = 16, kFewNumbers = 1024;

/// b [n, k] -> b^T [k, n] without gaps, four rows at a time.
void transpose(const float* b, Index n, Index k, Index ldb, float* out) {
  Index j = 0;
  for (; j + 4 <= n; j += 4)
    for (Index p = 0; p < k; ++p) {
      const float* x = b + j * ldb + p;
      const float four[] = {x[0], x[ldb], x[2 * ldb], x[3 * ldb]};
      std::copy(std::begin(four), std::end(four), out + p * n + j);
    }
  for (; j < n; ++j)
    for (Index p = 0; p < k; ++p) out[p * n + j] = b[j * ldb + p];
}

}  // namespace

void gemm(Transpose transpose_a, Transpose transpose_b, Index m, Index n, Index k, float alpha,
    const float* a, Index lda, const float* b, Index ldb, float* c, Index ldc) {
  // OpenBLAS is quick at small products, but not at A B^T: there a small B of short rows is
  // transposed first.
  float b_transposed[kFewNumbers];
  if (transpose_a == Transpose::no && transpose_b == Transpose::yes && k <= kShortSum &&
      n * k <= kFewNumbers) {
    transpose(b, n, k, ldb, b_transposed);
    transpose_b = Transpose::no, b = b_transposed, ldb = n;
  }
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
