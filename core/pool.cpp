// Where the memory of Tensors comes from.
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
//                       another can use. A thread that ends leaves all it has.
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
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include <microtape/core/pool_detail.hpp>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace microtape {
namespace pool {
namespace {

constexpr std::size_t kStep = 32;
constexpr std::size_t kClasses = kMostSmall / kStep;

/// Slabs start at multiples of kSlabSpan, and are a little shorter, so that the allocator's own
/// header fits between two that follow each other.
constexpr std::size_t kSlabSpan = 64 * 1024;
constexpr std::size_t kSlabBytes = kSlabSpan - 128;
constexpr std::size_t kSlabHeader = 64;

/// release_memory() does nothing while less than this waits: 1 MB.
constexpr std::size_t kWorthReleasing = std::size_t{1} << 20;

/// 0 for 1 to 32 bytes, 1 for 33 to 64, ..; a block of 0 bytes is one of class 0, too.
constexpr std::size_t class_of(std::size_t bytes) { return (bytes - (bytes > 0)) / kStep; }
constexpr std::size_t block_bytes(std::size_t c) { return (c + 1) * kStep; }
constexpr std::size_t blocks_per_slab(std::size_t c) {
  return (kSlabBytes - kSlabHeader) / block_bytes(c);
}

/// What stands in a free block.
struct Block {
  Block* next;         ///< below it in its stack
  Block* next_stack;   ///< the top of the next stack, while its own waits in the depot
  std::size_t height;  ///< of the stack of which it is the top, while that waits in the depot
};
static_assert(sizeof(Block) <= kStep);

/// What stands at the start of a slab. Only release_memory() uses it, under the lock of the depot.
struct Slab {
  std::size_t free_blocks;
  Slab* next;
};
static_assert(sizeof(Slab) <= kSlabHeader);

Slab* slab_of(Block* block) {
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(block) % kSlabSpan;
  return reinterpret_cast<Slab*>(reinterpret_cast<char*>(block) - offset);
}

struct Stack {
  Block* top;
  std::size_t height;

  void push(void* memory) {
    top = new (memory) Block{top, nullptr, 0};
    ++height;
  }
  Block* pop() {
    --height;
    return std::exchange(top, top->next);
  }
};

// --- what all threads share ----------------------------------------------------------------

/// Stacks that wait for a thread. Never destroyed: a static Tensor may outlive everything else.
struct Depot {
  std::mutex mutex;
  std::array<Block*, kClasses> stacks{};
  std::atomic<std::size_t> waiting_bytes = 0;  ///< written under the mutex, read without it

  /// Leaves a stack, and empties it; the caller holds the mutex.
  void put(std::size_t c, Stack& stack) {
    if (!stack.top) return;
    stack.top->next_stack = std::exchange(stacks[c], stack.top);
    stack.top->height = stack.height;
    waiting_bytes += stack.height * block_bytes(c);
    stack = {};
  }

  /// Takes a stack, empty if there is none; the caller holds the mutex.
  Stack take(std::size_t c) {
    Block* top = stacks[c];
    if (!top) return {};
    stacks[c] = top->next_stack;
    waiting_bytes -= top->height * block_bytes(c);
    return {top, top->height};
  }

  /// Gives back the slabs all of whose blocks are here; the caller holds the mutex.
  void release_slabs();
  Slab* count_free(std::size_t c, Slab* full);
  void restack(std::size_t c);
};

Depot& depot() {
  static Depot& instance = *new Depot;
  return instance;
}

// --- what each thread has ------------------------------------------------------------------

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

/// A new slab, cut into blocks.
Stack make_slab(std::size_t c) {
  auto* memory = static_cast<char*>(system_allocate(kSlabBytes, kSlabSpan));
  new (memory) Slab{0, nullptr};
  Stack stack{};
  for (std::size_t i = blocks_per_slab(c); i-- > 0;)
    stack.push(memory + kSlabHeader + i * block_bytes(c));
  return stack;
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

// --- giving back ---------------------------------------------------------------------------

/// Counts the free blocks of each slab. @return the slabs that have no others, in front of `full`
Slab* Depot::count_free(std::size_t c, Slab* full) {
  for (Block* top = stacks[c]; top; top = top->next_stack)
    for (Block* block = top; block; block = block->next) {
      Slab* slab = slab_of(block);
      if (++slab->free_blocks == blocks_per_slab(c)) slab->next = std::exchange(full, slab);
    }
  return full;
}

/// Stacks the blocks of all other slabs anew, and sets their counts back to 0.
void Depot::restack(std::size_t c) {
  Stack kept{};
  Block* stack = std::exchange(stacks[c], nullptr);
  while (stack) {
    Stack old{stack, stack->height};
    stack = stack->next_stack;
    waiting_bytes -= old.height * block_bytes(c);
    while (old.top) {
      Block* block = old.pop();
      Slab* slab = slab_of(block);
      if (slab->free_blocks == blocks_per_slab(c)) continue;
      slab->free_blocks = 0;
      kept.push(block);
      if (kept.height == blocks_per_slab(c)) put(c, kept);
    }
  }
  put(c, kept);
}

void Depot::release_slabs() {
  Slab* full = nullptr;
  for (std::size_t c = 0; c < kClasses; ++c) {
    full = count_free(c, full);
    restack(c);
  }
  while (full) system_deallocate(std::exchange(full, full->next), kSlabSpan);
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

}  // namespace pool

void release_memory() {
  using namespace pool;
  if (depot().waiting_bytes + waiting_large_bytes() < kWorthReleasing) return;
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
