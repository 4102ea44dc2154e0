// What happens where memory ends: each allocation of a computation is refused once, in turn. This
// program has an operator new of its own for that.

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/core/pool.hpp>
#include <microtape/core/threads.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

/// Allocations until they fail; below 0 none does.
std::atomic<long> left = -1;

/// From its beginning on, allocation n, counted from 0, is refused; with `all_after` those behind
/// it too. Ends with it.
class Refusal {
 public:
  enum class Which { one, all_after };
  explicit Refusal(long n, Which which = Which::one) {
    is_lasting() = which == Which::all_after;
    left = n;
  }
  ~Refusal() { left = -1; }
  /// Whether it has not come to that yet.
  static bool waits() { return left >= 0; }
  static std::atomic<bool>& is_lasting() {
    static std::atomic<bool> lasting = false;
    return lasting;
  }
};

/// Not inlined: GCC would see a free() of what an operator new has made, and warn.
[[gnu::noinline]] void* allocate(std::size_t bytes, std::size_t alignment) {
  if (left >= 0 && left.fetch_sub(1) == 0) {
    if (Refusal::is_lasting()) left = 0;
    throw std::bad_alloc();
  }
  bytes = (bytes + alignment - 1) / alignment * alignment;
  void* block = std::aligned_alloc(alignment, std::max(bytes, alignment));
  if (!block) throw std::bad_alloc();
  return block;
}

[[gnu::noinline]] void deallocate(void* block) { std::free(block); }

/// Runs f with allocation 0, 1, .. refused until none is asked for any more. @return how many
template <class F>
long refuse_each(F f) {
  for (long n = 0;; ++n) {
    const Refusal refusal(n);
    try {
      f();
      if (Refusal::waits()) return n;
    } catch (const std::bad_alloc&) {
    }
  }
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { deallocate(block); }
void operator delete(void* block, std::size_t) noexcept { deallocate(block); }
void operator delete(void* block, std::align_val_t) noexcept { deallocate(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { deallocate(block); }

// AddressSanitizer has one more operator new, which what lies outside of this program goes on to
// use.
extern "C" const char* __asan_default_options() { return "alloc_dealloc_mismatch=0"; }

TEST_CASE("wherever memory ends, a tape can be cleared and gives the right gradient next time") {
  for (const Keep keep : {Keep::needed, Keep::everything}) {
    MicroTape tape(keep);
    const Tensor start = f64({2, 3});
    const auto gradient = [&] {
      const auto scope = tape.scope("a scope whose name is longer than short strings are");
      const Var x = tape.leaf(start, "x");
      return backward(sum(stack({x * x, x * x * x}, 0).named("y")))[x].value();
    };
    const long refused = refuse_each([&] {
      tape.clear();
      release_memory();
      static_cast<void>(gradient());
    });
    CHECK(refused > 10);
    tape.clear();
    CHECK(is(gradient(), {16, 33}));  // 2 x + 3 x^2
  }
}

TEST_CASE(
    "wherever memory ends, a new tape is made, used and destroyed, or an error says that it is "
    "not") {
  const Tensor start = f64({2, 3});
  CHECK(refuse_each([&] {
    release_memory();
    MicroTape tape;
    const Var x = tape.leaf(start);
    static_cast<void>(backward(sum(x * x)));
  }) > 3);
}

TEST_CASE("a tape ends where there is no memory at all") {
  // Bug: its slot went into a list that had to grow.
  for (int tapes = 1; tapes < 70; ++tapes) {
    std::vector<std::unique_ptr<MicroTape>> all;
    for (int i = 0; i < tapes; ++i) all.push_back(std::make_unique<MicroTape>());
    const Refusal refusal(0, Refusal::Which::all_after);
    all.clear();
  }
}

TEST_CASE("where workers cannot start for want of memory fewer work, or an error says so") {
  // Bug: the program ended, since those that had started were never joined.
  const Tensor x = Tensor::full({1 << 20}, 1);
  const int before = num_threads();
  bool is_right = true;
  CHECK(refuse_each([&] {
    set_num_threads(4);  // starts them anew
    const Tensor sum = kernels::add(x, x);
    is_right = is_right && sum.at({(1 << 20) - 1}) == 2;
  }) > 3);
  CHECK(is_right);
  set_num_threads(before);
}
