// Built with -ffp-contract=off: g * y is rounded before it is added, as where the two are ops of
// their own. So a recorded backward pass, which is made of those, has the same bits.

#include <microtape/core/kernels/softmax.hpp>
#include <microtape/core/kernels/softmax_rows.hpp>
#include <microtape/core/parallel.hpp>

namespace microtape::kernels {
namespace {

template <class T>
void pull_row(T* g, const T* y, Index n) {
  const T whole = fold_values<T, Sum>(n, [&](Index i) { return g[i] * y[i]; });
  for (Index i = 0; i < n; ++i) g[i] = y[i] * (g[i] - whole);
}

}  // namespace

void softmax_pullback_row(float* g, const float* y, Index n) { pull_row(g, y, n); }
void softmax_pullback_row(double* g, const double* y, Index n) { pull_row(g, y, n); }

Tensor softmax_pullback(Tensor g, const Tensor& y) {
  const Tensor rows = y.contiguous();
  g = g.contiguous();
  with_floating_type(y.dtype(), [&]<class T>() {
    const Index n = y.extent(-1);
    if (n == 0) return;
    const T* y_rows = first<T>(rows);
    T* g_rows = g.mutable_data<T>().data();
    parallel_ranges(
        g.size() / n, std::max(kParallelElements / n, Index{1}), [=](Index row, Index end) {
          for (; row < end; ++row) pull_row(g_rows + row * n, y_rows + row * n, n);
        });
  });
  return g;
}

}  // namespace microtape::kernels
