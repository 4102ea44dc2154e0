#include <microtape/core/threads.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif
#if __has_include(<unistd.h>)
#include <pthread.h>
#endif

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/parallel.hpp>

namespace microtape {
namespace {

using Clock = std::chrono::steady_clock;

/// A worker that finds nothing to do spins for so long before it sleeps: waking takes some 20 us,
/// and a region is seen by one that spins in less than one.
constexpr auto kSpinTime = std::chrono::microseconds(200);

/// The caller spins for so many turns on workers that are about to be done, before it yields.
constexpr int kCallerSpins = 10'000;

/// The core that this thread is on now; -1 where the system does not tell.
int current_core() {
#ifdef __linux__
  return sched_getcpu();
#else
  return -1;
#endif
}

/// Moves this thread to another core, if it may run on another; it is bound to none afterwards.
void leave_core(int core) {
#ifdef __linux__
  cpu_set_t all;
  if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof all, &all) != 0) return;
  cpu_set_t others = all;
  CPU_CLR(static_cast<std::size_t>(core), &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof all, &all);
#else
  static_cast<void>(core);
#endif
}

/// Whether this thread is inside of a piece of work.
thread_local bool is_inside = false;

/// What all threads of one parallel_for share.
struct Region {
  Index count = 0;
  void (*call)(const void*, Index) = nullptr;
  const void* work = nullptr;

  std::atomic<Index> next{0};  ///< the first piece that nobody has taken
  std::mutex mutex;            ///< of what follows
  std::exception_ptr error;
  Index failed = 0;  ///< the piece that threw it

  void run_pieces() {
    is_inside = true;
    for (Index i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      try {
        call(work, i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error || i < failed) {
          error = std::current_exception();
          failed = i;
        }
      }
    }
    is_inside = false;
  }
};

/// Threads that wait for regions. A region is open from the time that its fields are set until the
/// caller finds no piece left; then the caller waits for those workers that are in it. One that
/// comes late finds it closed: nobody waits for a thread to wake up.
class Workers {
 public:
  explicit Workers(int count) {
    try {
      for (int i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The system gives no more threads: fewer do.
    }
  }

  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(Region& region) {
    region_ = &region;
    caller_core_ = current_core();
    is_open_ = true;  // before it is announced: who comes at once finds it open
    ++opened_;
    if (sleepers_ > 0) {
      const std::lock_guard lock(mutex_);  // a worker is asleep now, or has seen the region
      wake_.notify_all();
    }
    region.run_pieces();
    is_open_ = false;
    // Wait for those that are in it. To yield sooner would be to leave the core to another program.
    for (int spins = 0; running_ > 0;)
      if (spins < kCallerSpins)
        ++spins;
      else
        std::this_thread::yield();
  }

 private:
  void work() {
    std::uint64_t seen = 0;
    while (wait_for_region(seen)) {
      seen = opened_;
      ++running_;
      if (is_open_) region_->run_pieces();
      --running_;
    }
  }

  /// Looks for a region after the `seen`th for a while, then sleeps. False at the end.
  bool wait_for_region(std::uint64_t seen) {
    const auto end = Clock::now() + kSpinTime;
    while (Clock::now() < end) {
      for (int i = 0; i < 64; ++i)
        if (opened_ != seen || stop_) return !stop_;
      // On the caller's core a worker helps nobody. On another it does not yield, which would leave
      // the core to another program.
      if (const int core = current_core(); core == caller_core_) {
        leave_core(core);
        std::this_thread::yield();
      }
    }
    std::unique_lock lock(mutex_);
    ++sleepers_;
    wake_.wait(lock, [&] { return opened_ != seen || stop_; });
    --sleepers_;
    return !stop_;
  }

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

void check_number(std::string_view what, int n) {
  if (n < 1 || n > 1024)
    throw ValueError(cat(what, ": no such number of threads: ", n, "; 1 to 1024"));
}

/// MICROTAPE_NUM_THREADS, or else the number of cores.
int first_number() {
  const char* text = std::getenv("MICROTAPE_NUM_THREADS");
  if (!text || !*text) return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int n = 0;
  const char* end = text + std::strlen(text);
  if (const auto [last, error] = std::from_chars(text, end, n); error != std::errc{} || last != end)
    throw ValueError(cat("MICROTAPE_NUM_THREADS: not a number of threads: ", text, "; 1 to 1024"));
  check_number("MICROTAPE_NUM_THREADS", n);
  return n;
}

/// The workers of the process, and how many there are to be. It is never destroyed: other threads
/// may compute until the very end.
struct Team {
  std::mutex mutex;  ///< held by who computes in parallel
  std::atomic<int> size{first_number()};
  Workers* workers = nullptr;
};

Team& team() {
  static std::atomic<Team*> team = [] {
    Team* first = new Team;
#if __has_include(<unistd.h>)
    // A child of fork() has none of the threads, and what they were changing stays half done there:
    // it begins with a team of its own.
    pthread_atfork(nullptr, nullptr, [] {
      const int size = team.load()->size;
      team = new Team;
      team.load()->size = size;
    });
#endif
    return first;
  }();
  return *team;
}

}  // namespace

int num_threads() { return team().size; }

void set_num_threads(int n) {
  check_number("set_num_threads", n);
  const std::lock_guard lock(team().mutex);
  delete team().workers;
  team().workers = nullptr;
  team().size = n;
}

void kernels::detail::run_parallel(
    Index count, void (*call)(const void*, Index), const void* work) {
  Team& all = team();
  std::unique_lock lock(all.mutex, std::defer_lock);
  if (is_inside || all.size == 1 || count < 2 || !lock.try_lock()) {
    for (Index i = 0; i < count; ++i) call(work, i);
    return;
  }
  if (!all.workers) all.workers = new Workers(all.size - 1);
  Region region;
  region.count = count;
  region.call = call;
  region.work = work;
  all.workers->run(region);
  if (region.error) std::rethrow_exception(region.error);
}

}  // namespace microtape
