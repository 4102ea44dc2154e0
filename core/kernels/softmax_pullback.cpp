// Built with -ffp-contract=off: g * y is rounded before it is added, as where the two are ops of
// their own. So a recorded backward pass, which is made of those, has the same bits.

#include <microtape/core/kernels/softmax.hpp>
#include <microtape/core/kernels/softmax_rows.hpp>
#include <microtape/core/parallel.hpp>

namespace microtape::kernels {
namespace {

/// dx = y * (g - sum(g * y)); dx may be g.
template <class T>
void pull_row(const T* g, const T* y, T* dx, Index n) {
  const T whole = fold_values<T, Sum>(n, [&](Index i) { return g[i] * y[i]; });
  for (Index i = 0; i < n; ++i) dx[i] = y[i] * (g[i] - whole);
}

}  // namespace

void softmax_pullback_row(float* g, const float* y, Index n) { pull_row(g, y, g, n); }
void softmax_pullback_row(double* g, const double* y, Index n) { pull_row(g, y, g, n); }

Tensor softmax_pullback(Tensor g, const Tensor& y) {
  const Tensor rows = y.contiguous();
  g = g.contiguous();
  Tensor dx = g.is_alone() ? std::move(g) : Tensor::uninitialized_like(g);  // g may be gone now
  with_floating_type(y.dtype(), [&]<class T>() {
    const Index n = y.extent(-1);
    if (n == 0) return;
    const T* y_rows = first<T>(rows);
    const T* g_rows = g.defined() ? first<T>(g) : first<T>(dx);
    T* dx_rows = dx.mutable_data<T>().data();
    parallel_ranges(
        dx.size() / n, std::max(kParallelElements / n, Index{1}), [=](Index row, Index end) {
          for (Index at = row * n; at < end * n; at += n)
            pull_row(g_rows + at, y_rows + at, dx_rows + at, n);
        });
  });
  return dx;
}

}  // namespace microtape::kernels
