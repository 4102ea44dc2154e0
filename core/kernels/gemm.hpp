#pragma once

#include <microtape/core/dtype.hpp>

// The one product that everything else is made of, in the terms of BLAS. It is declared once and
// defined more than once: gemm_cblas.cpp asks a BLAS library, gemm_onednn.cpp asks oneDNN, and
// gemm_reference.cpp is a loop to read. The build takes one; with gemm_onednn.cpp, which has floats
// only, also the doubles of gemm_cblas.cpp. Internal: included by sources only.

namespace microtape::kernels {

/// Whether a matrix is used as it is stored, or transposed.
enum class Transpose : std::uint8_t { no, yes };

/// C = alpha op(A) op(B), op(A) [m, k], op(B) [k, n], C [m, n].
///
/// All are stored row by row; row i of A starts at a + i * lda, and lda is at least the length of a
/// stored row and at least 1; so for b and c. What C held before is not read. No extent, and no
/// lda, ldb or ldc, is above INT_MAX; m, n and k are at least 1.
void gemm(Transpose transpose_a, Transpose transpose_b, Index m, Index n, Index k, float alpha,
    const float* a, Index lda, const float* b, Index ldb, float* c, Index ldc);
void gemm(Transpose transpose_a, Transpose transpose_b, Index m, Index n, Index k, double alpha,
    const double* a, Index lda, const double* b, Index ldb, double* c, Index ldc);

/// While one lives, gemm() computes on the thread that calls it, and several may call it. The
/// library below has its own threads, and one setting for all who use it; afterwards it is as it
/// was.
class SerialGemm {
 public:
  SerialGemm();
  ~SerialGemm();
  SerialGemm(const SerialGemm&) = delete;
  SerialGemm& operator=(const SerialGemm&) = delete;
};

/// Whether several threads may call gemm() at a time. Sequential builds of OpenBLAS compute wrong
/// products then.
bool gemm_is_reentrant();

}  // namespace microtape::kernels
