#include <microtape/core/workers.hpp>

#include <chrono>

#ifdef __linux__
#include <sched.h>
#endif

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

thread_local bool is_inside = false;

}  // namespace

bool is_inside_region() { return is_inside; }

void Region::run_pieces() {
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

Workers::Workers(int count) {
  try {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::exception&) {
    // The system gives no more threads, or no memory for one: fewer do.
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(Region& region) {
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

void Workers::work() {
  std::uint64_t seen = 0;
  while (wait_for_region(seen)) {
    seen = opened_;
    ++running_;
    if (is_open_) region_->run_pieces();
    --running_;
  }
}

bool Workers::wait_for_region(std::uint64_t seen) {
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

}  // namespace microtape
