#pragma once

#include <algorithm>
#include <array>

#include <microtape/core/shape.hpp>

// Loops over operands that lie in memory in different ways. Internal: included by kernels only.

namespace microtape::kernels {

/// An offset, or a stride, for each of N operands; in elements.
template <std::size_t N>
using Steps = std::array<Index, N>;

/// One loop: how often, and how far each operand moves a turn.
template <std::size_t N>
struct Loop {
  Index extent = 1;
  Steps<N> steps{};
};

/// A nest of loops, the outermost first, that all operands walk together. Axes that follow each
/// other without a gap in every operand become one loop: a contiguous nest is one long row.
template <std::size_t N>
class Nest {
 public:
  Nest() = default;
  Nest(const Shape& shape, const std::array<Indices, N>& strides) {
    for (std::size_t axis = 0; axis < shape.extents().size(); ++axis) {
      Loop<N> loop{.extent = shape.extents()[axis]};
      for (std::size_t k = 0; k < N; ++k) loop.steps[k] = strides[k][axis];
      push(loop);
    }
  }

  /// Adds a loop inside all others.
  void push(const Loop<N>& loop) {
    if (loop.extent == 1) return;
    bool follows = depth_ > 0;
    for (std::size_t k = 0; follows && k < N; ++k)
      follows = loops_[depth_ - 1].steps[k] == loop.extent * loop.steps[k];
    if (follows)
      loops_[depth_ - 1] = {loops_[depth_ - 1].extent * loop.extent, loop.steps};
    else
      loops_[depth_++] = loop;
  }

  /// Takes the innermost loop off; a nest without loops has one of extent 1.
  Loop<N> pop() { return depth_ > 0 ? loops_[--depth_] : Loop<N>{}; }

  /// The innermost loop.
  Loop<N> inner() const { return depth_ > 0 ? loops_[depth_ - 1] : Loop<N>{}; }

  std::size_t depth() const { return depth_; }

  /// How often the body runs.
  Index count() const {
    Index product = 1;
    for (std::size_t i = 0; i < depth_; ++i) product *= loops_[i].extent;
    return product;
  }

  /// Calls body(offsets) at every turn, in row-major order.
  template <class Body>
  void for_each(Body body) const {
    for_each(0, count(), body);
  }

  /// The same from turn `first` up to, not including, turn `last`.
  template <class Body>
  void for_each(Index first, Index last, Body body) const {
    std::array<Index, Indices::kMax> at{};
    Steps<N> offsets{};
    Index rest = first;
    for (std::size_t i = depth_; i-- > 0 && rest > 0;) {
      at[i] = rest % loops_[i].extent;
      rest /= loops_[i].extent;
      for (std::size_t k = 0; k < N; ++k) offsets[k] += at[i] * loops_[i].steps[k];
    }
    for (Index turns = last - first; turns > 0; --turns) {
      body(offsets);
      // Step the multi-index like an odometer, carrying from the innermost loop.
      for (std::size_t i = depth_; i-- > 0;) {
        const Loop<N>& loop = loops_[i];
        const bool carries = ++at[i] == loop.extent;
        const Index turns_back = carries ? loop.extent - 1 : -1;
        for (std::size_t k = 0; k < N; ++k) offsets[k] -= turns_back * loop.steps[k];
        if (!carries) break;
        at[i] = 0;
      }
    }
  }

 private:
  std::size_t depth_ = 0;
  std::array<Loop<N>, Indices::kMax> loops_;
};

}  // namespace microtape::kernels
