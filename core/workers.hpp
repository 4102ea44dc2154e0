#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <microtape/core/dtype.hpp>

// The threads that share the work of a kernel. Internal: for threads.cpp, which says how many there
// are, and for kernels by way of parallel.hpp.

namespace microtape {

/// Work in pieces, call(work, 0) .. call(work, count - 1), which several threads take one by one.
struct Region {
  Index count;
  void (*call)(const void* work, Index piece);
  const void* work;

  std::atomic<Index> next{0};  ///< the first piece that nobody has taken
  std::mutex mutex{};          ///< of what follows
  std::exception_ptr error{};
  Index failed = 0;  ///< the piece that threw it

  /// Takes pieces until none is left. Of several that fail, the error of the first by number stays.
  void run_pieces();
};

/// Whether this thread is inside of a piece of work.
bool is_inside_region();

/// Threads that wait for regions. A region is open from the time that its fields are set until the
/// caller finds no piece left; then the caller waits for those workers that are in it. One that
/// comes late finds it closed: nobody waits for a thread to wake up.
class Workers {
 public:
  /// Starts so many threads, or fewer if the system gives no more.
  explicit Workers(int count);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Runs all pieces, on this thread and those workers that come in time; one region at a time.
  void run(Region& region);

 private:
  void work();
  /// Looks for a region after the `seen`th for a while, then sleeps. False at the end.
  bool wait_for_region(std::uint64_t seen);

  // All are sequentially consistent: a worker counts itself in before it asks whether the region is
  // open, and the caller closes it before it looks at the count, so one of the two sees the other.
  // So region_ need not be atomic: it is set while closed, and read by who has found it open, for
  // whom the caller waits.
  Region* region_ = nullptr;
  std::atomic<std::uint64_t> opened_{0};
  std::atomic<int> caller_core_{-1};
  std::atomic<bool> is_open_{false};
  std::atomic<int> running_{0};  ///< workers in the region, or about to look whether it is open
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> threads_;
};

}  // namespace microtape
