// Where the memory of Tensors and tapes comes from.
//
// A recorded tape makes and drops Tensors by the million, most of them tiny, so asking malloc for
// each would cost more than the arithmetic. The pool keeps what is freed, sorted by size, and hands
// it out again:
//
//   small, up to 1 KB   Sizes are rounded up to a multiple of 32 bytes: 32 classes. Blocks of a
//                       class are cut from a slab of 64 KB. Free blocks of a class form a stack:
//                       each holds the address of the next, so allocate() pops and deallocate()
//                       pushes, a few instructions each. Every thread has stacks of its own, so
//                       no lock is needed.
//   the depot           When a thread has two full stacks of a class it leaves one in the depot,
//                       and when it has none it takes one from there. So a block may be freed on
//                       another thread than the one that made it, and what one thread frees
//                       another can use. A thread that ends leaves all it has (pool_depot.cpp).
//   large, above 1 KB   Sizes are rounded up to one of four steps an octave (5, 6, 7, 8 times a
//                       power of two), and free blocks wait in one list a size for all threads
//                       (pool_large.cpp). At most 1 GB waits there; beyond that they go straight
//                       back.
//
// Source of slabs, the two stacks of a thread and the depot: J. Bonwick and J. Adams, Magazines and
// Vmem, USENIX Annual Technical Conference, 2001, where a stack is called a magazine.
//
// release_memory() counts, slab by slab, how many of its blocks lie free in the depot, and gives
// back the slabs of which all do. The slab of a block is found from its address: slabs start at
// multiples of 64 KB.

#include <microtape/core/pool.hpp>

#include <array>
#include <cstdint>
#include <mutex>
#include <utility>

#include <microtape/core/pool_depot.hpp>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace microtape {
namespace pool {
namespace {

/// The stacks of one thread: of each class the one in use, and a spare one, so that going to and
/// fro across the edge of a stack does not visit the depot each time.
struct ThreadCache {
  enum class State : std::uint8_t { unused, live, dead };

  std::array<Stack, kClasses> current;
  std::array<Stack, kClasses> spare;
  std::array<std::size_t, kClasses> room;  ///< a stack may grow to this: 0 unless live
  State state;

  /// Leaves all in the depot, whose mutex the caller holds.
  void leave_all() {
    for (std::size_t c = 0; c < kClasses; ++c) {
      depot().put(c, current[c]);
      depot().put(c, spare[c]);
    }
  }
};

/// Needs no destruction, so it may be used until the last instruction of its thread. Farewell
/// empties it before that; from then on the thread has no stacks, and works on the depot.
constinit thread_local ThreadCache cache{};

struct Farewell {
  ~Farewell() {
    const std::lock_guard lock(depot().mutex);
    cache.leave_all();
    cache.room = {};
    cache.state = ThreadCache::State::dead;
  }
};

/// Makes the stacks of a thread usable, and arranges the farewell. @return whether they are
bool greet() {
  if (cache.state == ThreadCache::State::unused) {
    static thread_local const Farewell farewell;
    static_cast<void>(farewell);
    for (std::size_t c = 0; c < kClasses; ++c) cache.room[c] = blocks_per_slab(c);
    cache.state = ThreadCache::State::live;
  }
  return cache.state == ThreadCache::State::live;
}

/// The current stack is empty: fills it from the spare one, the depot or a new slab. Neither this
/// nor deallocate_slowly() is inlined: the quick way would save six registers for it.
[[gnu::noinline]] void* allocate_slowly(std::size_t c) {
  const bool is_live = greet();
  Stack& current = cache.current[c];
  std::swap(current, cache.spare[c]);
  if (!current.top) {
    const std::lock_guard lock(depot().mutex);
    current = depot().take(c);
  }
  if (!current.top) current = make_slab(c);
  Block* block = current.pop();
  if (!is_live) {
    const std::lock_guard lock(depot().mutex);
    depot().put(c, current);
  }
  return block;
}

/// The current stack is full, or the thread not live: makes room by leaving a stack in the depot.
[[gnu::noinline]] void deallocate_slowly(void* block, std::size_t c) {
  const bool is_live = greet();
  Stack& current = cache.current[c];
  if (current.height >= cache.room[c]) std::swap(current, cache.spare[c]);
  if (current.height >= cache.room[c]) {
    if (!is_live) current.push(block);
    const std::lock_guard lock(depot().mutex);
    depot().put(c, current);
    if (!is_live) return;
  }
  current.push(block);
}

}  // namespace

void* allocate(std::size_t bytes) {
  if constexpr (kPassThrough) return system_allocate(bytes, kLargeAlignment);
  if (bytes > kMostSmall) return allocate_large(bytes);
  const std::size_t c = class_of(bytes);
  Stack& current = cache.current[c];
  return current.top ? current.pop() : allocate_slowly(c);
}

void deallocate(void* block, std::size_t bytes) noexcept {
  if constexpr (kPassThrough) return system_deallocate(block, kLargeAlignment);
  if (bytes > kMostSmall) return deallocate_large(block, bytes);
  const std::size_t c = class_of(bytes);
  Stack& current = cache.current[c];
  if (current.height < cache.room[c]) return current.push(block);
  deallocate_slowly(block, c);
}

std::size_t waiting_bytes() { return depot().waiting_bytes + waiting_large_bytes(); }

}  // namespace pool

void release_memory() {
  using namespace pool;
  {
    const std::lock_guard lock(depot().mutex);
    cache.leave_all();
    depot().release_slabs();
  }
  release_large();
#ifdef __GLIBC__
  malloc_trim(0);  // free() keeps whole pages in the middle of the heap
#endif
}

}  // namespace microtape
