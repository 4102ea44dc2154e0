#pragma once

#include <microtape/core/dtype.hpp>

// Work shared among threads. Internal: included by kernels only.
//
// A kernel cuts its work on a grid that depends on shapes alone, and each piece writes numbers that
// no other piece touches. So the results do not depend on the number of threads.

namespace microtape::kernels {

/// Elements in a piece of work; fewer are not worth sharing.
inline constexpr Index kParallelElements = 32'768;

namespace detail {
void run_parallel(Index count, void (*call)(const void*, Index), const void* work);
}

/// work(0) .. work(count - 1), each once, in any order, on up to num_threads() threads. Inside of a
/// piece of work, or while another thread is in here, it is a plain loop.
/// @throws what work throws: of several pieces that fail, the error of the first by number
template <class Work>
void parallel_for(Index count, const Work& work) {
  if (count == 1) return work(0);
  detail::run_parallel(
      count, [](const void* f, Index i) { (*static_cast<const Work*>(f))(i); }, &work);
}

/// work(first, last) over pieces of [0, n), each of `grain` or, at the end, fewer.
template <class Work>
void parallel_ranges(Index n, Index grain, const Work& work) {
  if (n <= grain) return work(Index{0}, n);
  parallel_for((n + grain - 1) / grain, [&](Index piece) {
    const Index first = piece * grain;
    work(first, n - first < grain ? n : first + grain);
  });
}

}  // namespace microtape::kernels
