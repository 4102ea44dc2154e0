// gemm() of floats by oneDNN, whose large products are a little quicker than OpenBLAS's; it has
// none of doubles, which gemm_cblas.cpp keeps.

#include <microtape/core/kernels/gemm.hpp>

#include <new>

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

namespace microtape::kernels {
namespace {

/// While one lives, OpenMP regions that this thread opens have one thread; afterwards as before.
class OneOpenMPThread {
 public:
  OneOpenMPThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneOpenMPThread() { omp_set_num_threads(before_); }
  OneOpenMPThread(const OneOpenMPThread&) = delete;
  OneOpenMPThread& operator=(const OneOpenMPThread&) = delete;

 private:
  int before_;
};

char letter(Transpose transpose) { return transpose == Transpose::yes ? 'T' : 'N'; }

}  // namespace

void gemm(Transpose transpose_a, Transpose transpose_b, Index m, Index n, Index k, float alpha,
    const float* a, Index lda, const float* b, Index ldb, float* c, Index ldc) {
  // We share the work among threads of our own.
  const OneOpenMPThread serial;
  // The arguments are right: only memory can be missing.
  if (dnnl_sgemm(letter(transpose_a), letter(transpose_b), m, n, k, alpha, a, lda, b, ldb, 0, c,
          ldc) != dnnl_success)
    throw std::bad_alloc();
}

}  // namespace microtape::kernels
