// What a child of fork() can do, while other threads of its parent are inside the library.

#if __has_include(<sys/wait.h>)
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include <microtape/core/kernels/gemm.hpp>
#include <microtape/core/parallel.hpp>
#include <microtape/core/pool_detail.hpp>
#include <microtape/core/tensor.hpp>
#include <microtape/core/threads.hpp>
#include <microtape/tape/micro_tape.hpp>

#include "kernel_testing.hpp"

using namespace microtape;
namespace k = microtape::kernels;

namespace {

/// Whether a child of fork() finds f() true, and ends: it has ten seconds for that.
template <class F>
bool child_finds(F f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(f() ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

/// Calls f() on another thread, over and over, until it is destroyed.
class Meanwhile {
 public:
  template <class F>
  explicit Meanwhile(F f)
      : thread_([this, f] {
          while (!ends_) f();
        }) {}
  ~Meanwhile() {
    ends_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a child of fork() does not wait for the threads that it does not have") {
  // Bug: it did, for ever; and also for a lock that one of them held.
  const int before = num_threads();
  set_num_threads(2);
  std::atomic<int> count = 0;
  const auto count_50 = [&] { k::parallel_for(50, [&](Index) { ++count; }); };
  count_50();
  CHECK(child_finds([&] {
    const bool is_two = num_threads() == 2;
    set_num_threads(1);
    count_50();
    return is_two && count == 100;
  }));
  set_num_threads(before);
}

TEST_CASE("a child of fork() finds each lock open") {
  // Bug: it waited for ever for one that another thread had held.
  if (pool::kPassThrough) return;  // a sanitizer has locks of its own, which are not
  const auto f = GENERATE(
      +[] { Tensor::zeros({300}); },  // of the large blocks
      +[] {
        std::vector<Tensor> small(1000);
        for (Tensor& x : small) x = Tensor::zeros({200});
        small.clear();
        release_memory();  // of the depot
      },
      +[] { const MicroTape tape; });  // of the tapes' slots
  const Meanwhile meanwhile(f);
  for (int i = 0; i < 500; ++i)
    REQUIRE(child_finds([&] {
      f();
      return true;
    }));
}

TEST_CASE("a child of fork() does not count the products of the threads that it does not have") {
  const auto get = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (!get || !set) return;        // another BLAS, or none
  if (pool::kPassThrough) return;  // in this child ThreadSanitizer allows no new thread
  const int before = get();
  set(2);
  {
    std::atomic<bool> is_in = false, may_leave = false;
    std::thread product([&] {
      const k::SerialGemm serial;
      is_in = true;
      while (!may_leave) std::this_thread::yield();
    });
    while (!is_in) std::this_thread::yield();
    CHECK(child_finds([&] {
      set(2);
      {
        const k::SerialGemm serial;
        if (get() != 1) return false;
      }
      return get() == 2;
    }));
    may_leave = true;
    product.join();
  }
  CHECK(get() == 2);
  set(before);
}

#endif
