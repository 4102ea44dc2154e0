#include <microtape/core/kernels/attention.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <microtape/core/kernels/matrix.hpp>
#include <microtape/core/kernels/softmax_rows.hpp>
#include <microtape/core/kernels/strided.hpp>

namespace microtape::kernels {
namespace {

/// A result whose axes lie in memory in the order of another Tensor's, so that what merges heads
/// that were split by a view is a view too.
template <class T>
struct Result {
  Tensor tensor;
  T* data;
  Index ld;

  /// @param like     its batch axes and rows are those of the result
  /// @param columns  of the result
  Result(const Tensor& like, Index columns) {
    const auto rank = static_cast<std::size_t>(like.rank());
    // Sort all axes but the last by stride, the outermost in memory first.
    Indices order(like.extents());
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end() - 1, [&](Index a, Index b) {
      return std::pair(like.stride(a), b) > std::pair(like.stride(b), a);
    });
    // Lay the result out in this order, and see it in that of `like`.
    Indices extents = order, back = order;
    for (std::size_t i = 0; i < rank; ++i) {
      extents[i] = i + 1 < rank ? like.extent(order[i]) : columns;
      back[static_cast<std::size_t>(order[i])] = static_cast<Index>(i);
    }
    Tensor laid_out = Tensor::uninitialized(Shape(extents), like.dtype());
    data = laid_out.mutable_data<T>().data();
    tensor = std::is_sorted(order.begin(), order.end()) ? laid_out : laid_out.permute(back);
    ld = tensor.stride(-2);
  }

  Matrix<T> at(Index offset) const {
    return {data + offset, tensor.extent(-2), tensor.extent(-1), ld};
  }
};

/// All heads: the batch axes of several operands, walked together.
/// @param x     its batch axes are those of all
/// @param step  step(axis): how far each operand moves along it
template <std::size_t N, class Step>
Nest<N> heads(const Tensor& x, Step step) {
  Nest<N> out;
  for (Index axis = 0; axis < x.rank() - 2; ++axis) out.push({x.extent(axis), step(axis)});
  return out;
}

/// row += mask
template <class T>
void add_mask(T* row, Index n, const T* mask, Index step) {
  for (Index j = 0; j < n; ++j) row[j] += mask[j * step];
}

/// C = P V, head by head, panel by panel of queries; S and P of a panel are one place in memory.
template <class T>
Attention attend(
    const Tensor& q, const Tensor& k, const Tensor& v, const Tensor* mask, double scale) {
  const Matrices queries(q), keys(k), values(v);
  const Shape shape = q.shape().with(-1, k.extent(-2));  // [.., Tq, Tk]
  const Index tq = shape[-2], tk = shape[-1];
  Tensor p = Tensor::uninitialized(shape, q.dtype());
  T* const scores = p.mutable_data<T>().data();
  const Tensor wide = mask ? mask->broadcast_to(shape) : q;  // without a mask nothing is read
  const Result<T> c(q, v.extent(-1));
  const Panels panels{tq};
  const Nest<5> all = heads<5>(q, [&](Index i) -> Steps<5> {
    return {queries.step(i), keys.step(i), values.step(i), wide.stride(i), c.tensor.stride(i)};
  });
  const auto attend_panel = [&](Index piece) {
    const Index head = piece / panels.count, panel = piece % panels.count;
    all.for_each(head, head + 1, [&](const Steps<5>& at) {
      // S = scale Q K^T
      const Matrix<T> s = panels.cut(Matrix<T>{scores + head * tq * tk, tq, tk, tk}, panel);
      multiply(panels.cut(queries.at<T>(at[0]), panel), keys.at<T>(at[1]).transposed(),
          static_cast<T>(scale), s);
      // P = softmax(S + M)
      for (Index i = 0; i < s.rows; ++i) {
        T* row = s.data + i * tk;
        const Index place = panel * panels.height + i;
        if (mask)
          add_mask(row, tk, first<T>(wide) + at[3] + place * wide.stride(-2), wide.stride(-1));
        const T top = softmax_row<T>(row, row, tk);
        if (std::isinf(top))
          fail_row("softmax", top, shape, shape.rank() - 1, mask, (head * tq + place) * tk);
      }
      // C = P V
      multiply({s.data, s.rows, tk, tk}, values.at<T>(at[2]), T{1}, panels.cut(c.at(at[4]), panel));
    });
  };
  share_products(all.count() * panels.count, panels.height, tk,
      std::max(q.extent(-1), v.extent(-1)), attend_panel);
  return {p, c.tensor};
}

/// out = alpha a b, panel by panel.
template <class T>
void multiply_by_panels(
    const Matrix<const T>& a, const Matrix<const T>& b, T alpha, const Matrix<T>& out) {
  const Panels panels{out.rows};
  for (Index i = 0; i < panels.count; ++i) multiply(panels.cut(a, i), b, alpha, panels.cut(out, i));
}

/// dQ, dK and dV, head by head; dS, and dP before it, of one head are in memory at a time.
template <class T>
AttentionPullback pull(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v,
    const Tensor& p, double factor) {
  const Matrices adjoints(g), queries(q), keys(k), values(v);
  const Index tq = p.extent(-2), tk = p.extent(-1);
  const Result<T> dq(q, q.extent(-1)), dk(k, k.extent(-1)), dv(v, v.extent(-1));
  const T* const all_weights = p.data<T>().data();
  const auto scale = static_cast<T>(factor);
  const Panels panels{tq};
  const Nest<7> all = heads<7>(q, [&](Index i) -> Steps<7> {
    return {adjoints.step(i), queries.step(i), keys.step(i), values.step(i), dq.tensor.stride(i),
        dk.tensor.stride(i), dv.tensor.stride(i)};
  });
  const auto pull_head = [&](Index head) {
    all.for_each(head, head + 1, [&](const Steps<7>& at) {
      const Matrix<const T> dc = adjoints.at<T>(at[0]), v_t = values.at<T>(at[3]).transposed();
      const Matrix<const T> weights{all_weights + head * tq * tk, tq, tk, tk};
      Tensor scratch = Tensor::uninitialized({tq, tk}, p.dtype());
      const Matrix<T> ds{scratch.mutable_data<T>().data(), tq, tk, tk};
      const Matrix<const T> read_ds{ds.data, tq, tk, tk};
      for (Index i = 0; i < panels.count; ++i) {
        // dP = dC V^T, dS = P * (dP - rowsum(dP * P)), dQ = scale dS K
        const Matrix<T> part = panels.cut(ds, i);
        multiply(panels.cut(dc, i), v_t, T{1}, part);
        for (Index row = 0; row < part.rows; ++row)
          softmax_pullback_row(part.data + row * tk, panels.cut(weights, i).data + row * tk, tk);
        multiply(panels.cut(read_ds, i), keys.at<T>(at[2]), scale, panels.cut(dq.at(at[4]), i));
      }
      // dK = scale dS^T Q, dV = P^T dC
      multiply_by_panels(read_ds.transposed(), queries.at<T>(at[1]), scale, dk.at(at[5]));
      multiply_by_panels(weights.transposed(), dc, T{1}, dv.at(at[6]));
    });
  };
  share_products(all.count(), tq, tk, std::max(q.extent(-1), v.extent(-1)), pull_head);
  return {dq.tensor, dk.tensor, dv.tensor};
}

}  // namespace

Attention attention(
    const Tensor& q, const Tensor& k, const Tensor& v, const Tensor* mask, double scale) {
  return with_floating_type(q.dtype(), [&]<class T>() { return attend<T>(q, k, v, mask, scale); });
}

AttentionPullback attention_pullback(const Tensor& g, const Tensor& q, const Tensor& k,
    const Tensor& v, const Tensor& p, double scale) {
  return with_floating_type(q.dtype(), [&]<class T>() { return pull<T>(g, q, k, v, p, scale); });
}

}  // namespace microtape::kernels
