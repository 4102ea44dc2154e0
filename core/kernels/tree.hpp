#pragma once

#include <algorithm>
#include <array>

#include <microtape/core/dtype.hpp>

// Many values combined into one. Internal: included by kernels only.
//
// n values are combined along one tree, a function of n alone, however they lie in memory:
//   - They are cut into blocks of 512. Value i of a block goes to lane i % 32 (several vector
//     registers, which do not wait for one another), and the lanes are folded in halves; a block
//     below 32 has one lane.
//   - The blocks are combined in pairs, the pairs in pairs, and so on, as one carries in binary.
// So the rounding error of a sum grows with log n, and a view has the very sum of its copy.

namespace microtape::kernels {

struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

/// The larger; a NaN if there is one. Two selects without a branch, for the vector registers.
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    const T larger = a < b ? b : a;
    return b != b ? b : larger;
  }
};

inline constexpr Index kLanes = 32;
inline constexpr Index kBlock = 512;

/// Combines blocks in pairs, pairs of pairs, .. A block is a row of up to kWidth results.
template <class T, class Op, Index kWidth>
class Cascade {
 public:
  explicit Cascade(Index width) : width_(width) {}

  /// Adds the next block; overwrites it.
  void add(T* block) {
    // Level k holds 2^k blocks when bit k of the count is set: carry as one counts in binary.
    std::size_t level = 0;
    for (auto count = count_++; count & 1; count >>= 1) combine(block, level++);
    std::copy_n(block, width_, partial(level));
  }

  /// Writes the result of all blocks, of which there is at least one.
  void finish(T* out) {
    bool started = false;
    for (std::size_t level = 0; level < kLevels && count_ >> level != 0; ++level) {
      if (!(count_ >> level & 1)) continue;
      if (started)
        combine(out, level);
      else
        std::copy_n(partial(level), width_, out);
      started = true;
    }
  }

 private:
  T* partial(std::size_t level) { return &partials_[level * static_cast<std::size_t>(kWidth)]; }
  void combine(T* row, std::size_t level) {
    const T* earlier = partial(level);
    for (Index c = 0; c < width_; ++c) row[c] = Op{}(earlier[c], row[c]);
  }

  static constexpr std::size_t kLevels = 55;  // 2^55 blocks are 2^64 values

  Index width_;
  std::uint64_t count_ = 0;
  std::array<T, kLevels* static_cast<std::size_t>(kWidth)> partials_;  // set level by level
};

/// Folds n lanes into the first, in halves. The compiler knows n, so that no loop is left: of the
/// time of a short row this is a good part.
template <Index n, class Op, class T>
void fold_lanes(T* lane) {
  if constexpr (n > 1) {
    for (Index k = 0; k < n / 2; ++k) lane[k] = Op{}(lane[k], lane[k + n / 2]);
    fold_lanes<n / 2, Op>(lane);
  }
}

/// Folds value(0) .. value(m - 1), each called once; 1 <= m <= kBlock.
template <class T, class Op, class Value>
T fold_block(Index m, Value value) {
  if (m < kLanes) {
    T result = value(0);
    for (Index i = 1; i < m; ++i) result = Op{}(result, value(i));
    return result;
  }
  std::array<T, kLanes> lanes;
  T* lane = lanes.data();
  for (Index k = 0; k < kLanes; ++k) lane[k] = value(k);
  Index i = kLanes;
  for (; i + kLanes <= m; i += kLanes)
    for (Index k = 0; k < kLanes; ++k) lane[k] = Op{}(lane[k], value(i + k));
  for (Index k = 0; i + k < m; ++k) lane[k] = Op{}(lane[k], value(i + k));
  fold_lanes<kLanes, Op>(lane);
  return lane[0];
}

/// Folds value(0) .. value(n - 1), each called once; n >= 1.
template <class T, class Op, class Value>
T fold_values(Index n, Value value) {
  if (n <= kBlock) return fold_block<T, Op>(n, value);
  Cascade<T, Op, 1> cascade(1);
  T result{};
  for (Index i = 0; i < n; i += kBlock) {
    result = fold_block<T, Op>(std::min(kBlock, n - i), [&](Index k) { return value(i + k); });
    cascade.add(&result);
  }
  cascade.finish(&result);
  return result;
}

}  // namespace microtape::kernels
