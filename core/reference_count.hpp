#pragma once

#include <atomic>
#include <cstdint>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

// How Tensor counts its handles.

namespace microtape {

/// How many handles share a block; the first is counted from the start.
///
/// Atomic steps are slow. They are left out where nobody can interfere: while the process has one
/// thread (std::shared_ptr does the same), and at the last handle.
class ReferenceCount {
 public:
  /// One handle more.
  void add() {
    if (has_one_thread())
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    else
      count_.fetch_add(1, std::memory_order_relaxed);
  }

  /// One handle less. Whether it was the last: then the block is to be destroyed.
  bool drop() {
    if (is_one()) return true;
    if (!has_one_thread()) return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return false;
  }

  /// Whether the caller's handle is the only one; what other threads wrote before they dropped
  /// theirs is seen.
  bool is_one() const { return count_.load(std::memory_order_acquire) == 1; }

 private:
  static bool has_one_thread() {
#if __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
  }

  std::atomic<std::uint32_t> count_{1};
};

}  // namespace microtape
