// Built with -ffp-contract=off: g * y is rounded before it is added, as where the two are ops of
// their own. So a recorded backward pass, which is made of those, has the same bits.

#include <microtape/core/kernels/dispatch.hpp>
#include <microtape/core/kernels/fold.hpp>
#include <microtape/core/kernels/softmax.hpp>

namespace microtape::kernels {

Tensor softmax_pullback(Tensor g, const Tensor& y) {
  const Tensor rows = y.contiguous();
  g = g.contiguous();
  with_floating_type(y.dtype(), [&]<class T>() {
    const Index n = y.extent(-1);
    const T* p = first<T>(rows);
    T* dx = g.mutable_data<T>().data();
    for (const T* end = dx + g.size(); dx != end; dx += n, p += n) {
      const T whole = fold_values<T, Sum>(n, [&](Index i) { return dx[i] * p[i]; });
      for (Index i = 0; i < n; ++i) dx[i] = p[i] * (dx[i] - whole);
    }
  });
  return g;
}

}  // namespace microtape::kernels
