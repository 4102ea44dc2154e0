#pragma once

#include <algorithm>
#include <climits>

#include <microtape/core/kernels/dispatch.hpp>
#include <microtape/core/kernels/gemm.hpp>
#include <microtape/core/kernels/layout.hpp>
#include <microtape/core/parallel.hpp>

// Matrices as BLAS wants them, and their products. Internal: included by kernels only.

namespace microtape::kernels {

/// A matrix in memory. It, or its transpose, lies row by row, ld apart.
template <class T>
struct Matrix {
  T* data;
  Index rows, columns;
  Index ld;
  Transpose stored = Transpose::no;

  Matrix transposed() const {
    return {data, columns, rows, ld, stored == Transpose::no ? Transpose::yes : Transpose::no};
  }
  /// `count` rows, from `first` on.
  Matrix panel(Index first, Index count) const {
    return {data + first * (stored == Transpose::no ? ld : 1), count, columns, ld, stored};
  }
};

/// out = alpha a b, [m, k] [k, n] -> [m, n], no extent 0. What out held before is not read.
template <class T>
void multiply(const Matrix<const T>& a, const Matrix<const T>& b, T alpha, const Matrix<T>& out) {
  gemm(a.stored, b.stored, out.rows, out.columns, a.columns, alpha, a.data, a.ld, b.data, b.ld,
      out.data, out.ld);
}

/// The matrices of the last two axes of a Tensor. Where BLAS cannot take them as they lie, of a
/// copy: one of the two strides must be 1, and the other at least the extent that it steps over.
/// The stride of an axis of extent 1 has no say.
class Matrices {
 public:
  /// @param x  must live as long
  explicit Matrices(const Tensor& x) : x_(x), rows_(x.extent(-2)), columns_(x.extent(-1)) {
    const Index down = x.stride(-2), right = x.stride(-1);
    const auto leads = [](Index ld, Index extent) { return ld >= extent && ld <= INT_MAX; };
    ld_ = columns_;
    if ((right == 1 || columns_ == 1) && (rows_ == 1 || leads(down, columns_))) {
      if (rows_ > 1) ld_ = down;
    } else if ((down == 1 || rows_ == 1) && leads(right, rows_)) {
      stored_ = Transpose::yes;
      ld_ = right;
    } else {
      copy_ = copy(x);
    }
  }

  /// Elements from one matrix to the next along an axis.
  Index step(Index axis) const { return source().stride(axis); }
  /// The matrix that begins so many elements behind the first.
  template <class T>
  Matrix<const T> at(Index offset) const {
    return {first<T>(source()) + offset, rows_, columns_, ld_, stored_};
  }

 private:
  const Tensor& source() const { return copy_.defined() ? copy_ : x_; }

  const Tensor& x_;
  Tensor copy_;
  Index rows_, columns_, ld_;
  Transpose stored_ = Transpose::no;
};

/// Rows of a panel.
inline constexpr Index kPanel = 256;

/// How the rows of a product are cut; fewer than two panels of rows are one. It is a function of
/// their number alone, so that neither the number of threads nor fusing changes a bit: a BLAS may
/// round a row otherwise in a product of other height.
struct Panels {
  Index rows;
  Index height = rows < 2 * kPanel ? rows : kPanel;
  Index count = rows < 2 * kPanel ? 1 : (rows + kPanel - 1) / kPanel;

  /// Rows of panel i.
  Index size(Index i) const { return std::min(height, rows - i * height); }
  template <class T>
  Matrix<T> cut(const Matrix<T>& x, Index i) const {
    return x.panel(i * height, size(i));
  }
};

/// work(0) .. work(count - 1), each made of products [m, k] [k, n] or smaller: shared among threads
/// if there is enough to do, and the BLAS can stand it.
template <class Work>
void share_products(Index count, Index m, Index n, Index k, const Work& work) {
  // Up to the first OpenBLAS uses no threads of its own, and up to the second we use none.
  constexpr double kSmallProduct = 64 * 64 * 64, kSmallWork = 1 << 20;
  // As doubles: the number of multiplications need not fit in an Index.
  const double size = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const auto one_by_one = [&] {
    for (Index i = 0; i < count; ++i) work(i);
  };
  if (size <= kSmallProduct && size * static_cast<double>(count) <= kSmallWork) return one_by_one();
  const SerialGemm serial;
  if (!gemm_is_reentrant()) return one_by_one();
  parallel_for(count, work);
}

}  // namespace microtape::kernels
