#include <microtape/core/threads.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#if __has_include(<unistd.h>)
#include <pthread.h>
#endif

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/parallel.hpp>
#include <microtape/core/workers.hpp>

namespace microtape {
namespace {

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

std::atomic<Team*> the_team = nullptr;

Team& team() {
  if (Team* made = the_team) return *made;
  // Not a static of this function: a child of fork() would wait for a thread that was making it.
  auto mine = std::make_unique<Team>();
  Team* first = nullptr;
  if (the_team.compare_exchange_strong(first, mine.get())) first = mine.release();
  return *first;
}

#if __has_include(<unistd.h>)
// A child of fork() has none of the threads, and what they were changing stays half done there: it
// begins with a team of its own.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] {
  if (!the_team) return;
  auto* fresh = new Team;
  fresh->size = the_team.load()->size.load();
  the_team = fresh;
});
#endif

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
  if (is_inside_region() || all.size == 1 || count < 2 || !lock.try_lock()) {
    for (Index i = 0; i < count; ++i) call(work, i);
    return;
  }
  if (!all.workers) all.workers = new Workers(all.size - 1);
  Region region{count, call, work};
  all.workers->run(region);
  if (region.error) std::rethrow_exception(region.error);
}

}  // namespace microtape
