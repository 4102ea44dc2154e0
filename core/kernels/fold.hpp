#pragma once

#include <algorithm>
#include <array>

#include <microtape/core/kernels/dispatch.hpp>
#include <microtape/core/kernels/strided.hpp>
#include <microtape/core/kernels/tree.hpp>

// Sums and maxima of a Tensor along axes, by the tree of tree.hpp. Internal: for kernels only.

namespace microtape::kernels {

/// Columns that are folded at a time.
inline constexpr Index kColumns = 128;

/// Folds term(v, o) over the numbers v that `reduced` walks, for each output o that `kept` walks:
/// one output after the other.
template <class T, class Op, class Term>
void fold_rows(T* out, const T* x, const Nest<1>& kept, Nest<1> reduced, Term term) {
  Index o = 0;
  if (reduced.depth() == 1 && reduced.inner().steps[0] == 1) {
    const Index n = reduced.count();
    kept.for_each([&](const Steps<1>& at) {
      const T* row = x + at[0];
      out[o] = fold_values<T, Op>(n, [&](Index i) { return term(row[i], o); });
      ++o;
    });
    return;
  }
  // The numbers do not lie in a row: gather them block by block, as fold_values() cuts them.
  const Loop<1> inner = reduced.pop();
  std::array<T, kBlock> block;
  kept.for_each([&](const Steps<1>& start) {
    Cascade<T, Op, 1> cascade(1);
    Index filled = 0;
    const auto flush = [&] {
      T result =
          fold_block<T, Op>(filled, [&](Index i) { return block[static_cast<std::size_t>(i)]; });
      cascade.add(&result);
      filled = 0;
    };
    reduced.for_each([&](const Steps<1>& at) {
      const T* row = x + start[0] + at[0];
      for (Index i = 0; i < inner.extent; ++i) {
        block[static_cast<std::size_t>(filled++)] = term(row[i * inner.steps[0]], o);
        if (filled == kBlock) flush();
      }
    });
    if (filled > 0) flush();
    cascade.finish(&out[o++]);
  });
}

/// Folds `width` neighbouring columns together, so that the memory is walked in order. For each
/// column it is the tree of fold_values(): the two must agree in every bit.
template <class T, class Op, class Value>
void fold_columns(T* out, Index width, const Nest<1>& reduced, Value value) {
  const Index n = reduced.count();
  Cascade<T, Op, kColumns> cascade(width);
  std::array<T, kLanes * kColumns> lanes;
  const auto lane = [&](Index k) { return &lanes[static_cast<std::size_t>(k * kColumns)]; };
  Index i = 0, m = std::min(kBlock, n);  // the place in the block, and its size
  Index rest = n;
  reduced.for_each([&](const Steps<1>& at) {
    // Give the row to its lane; the first row of a lane begins it.
    const Index used = m < kLanes ? 1 : kLanes;
    T* row = lane(i % used);
    if (i < used)
      for (Index c = 0; c < width; ++c) row[c] = value(at[0], c);
    else
      for (Index c = 0; c < width; ++c) row[c] = Op{}(row[c], value(at[0], c));
    if (++i < m) return;
    // The block is full: fold its lanes in halves, and add it to the tree.
    for (Index half = used / 2; half > 0; half /= 2)
      for (Index k = 0; k < half; ++k)
        for (Index c = 0; c < width; ++c) lane(k)[c] = Op{}(lane(k)[c], lane(k + half)[c]);
    cascade.add(lane(0));
    rest -= m;
    i = 0;
    m = std::min(kBlock, rest);
  });
  cascade.finish(out);
}

/// As fold_rows(), but up to kColumns neighbouring outputs at a time.
template <class T, class Op, class Term>
void fold_by_columns(T* out, const T* x, Nest<1> kept, const Nest<1>& reduced, Term term) {
  const Loop<1> columns = kept.pop();
  const Index step = columns.steps[0];
  Index o = 0;
  kept.for_each([&](const Steps<1>& at) {
    for (Index c0 = 0; c0 < columns.extent; c0 += kColumns) {
      const Index width = std::min(kColumns, columns.extent - c0);
      const T* top = x + at[0] + c0 * step;
      // Steps of 1 get a loop of their own, which the compiler makes vector code of.
      if (step == 1)
        fold_columns<T, Op>(
            out + o, width, reduced, [&](Index row, Index c) { return term(top[row + c], o + c); });
      else
        fold_columns<T, Op>(out + o, width, reduced,
            [&](Index row, Index c) { return term(top[row + c * step], o + c); });
      o += width;
    }
  });
}

/// Folds term(v, o) over the numbers v of x along `axes`; o is the place of the result, which keeps
/// these axes with extent 1. At least one number for each result.
template <class T, class Op, class Term>
Tensor fold(const Tensor& x, const Indices& axes, Term term) {
  // Sort the axes into those that stay and those that go.
  const Indices strides = x.strides();
  Shape shape = x.shape();
  Nest<1> kept, reduced;
  for (Index axis = 0; axis < x.rank(); ++axis) {
    const bool goes = std::find(axes.begin(), axes.end(), axis) != axes.end();
    (goes ? reduced : kept).push({shape[axis], {strides[static_cast<std::size_t>(axis)]}});
    if (goes) shape = shape.with(axis, 1);
  }
  Tensor y = Tensor::uninitialized(shape, x.dtype());
  T* out = y.mutable_data<T>().data();
  const T* in = first<T>(x);
  // Walk rows or columns, whichever lies closer together.
  const bool by_columns = kept.depth() > 0 && (reduced.depth() == 0 ||
                                                  kept.inner().steps[0] < reduced.inner().steps[0]);
  if (by_columns)
    fold_by_columns<T, Op>(out, in, kept, reduced, term);
  else
    fold_rows<T, Op>(out, in, kept, reduced, term);
  return y;
}

}  // namespace microtape::kernels
