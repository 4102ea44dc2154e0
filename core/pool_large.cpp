// The large blocks of the pool: a list of free blocks a size, under one lock. See pool.cpp.

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <utility>

#include <microtape/core/fork.hpp>
#include <microtape/core/pool_detail.hpp>

namespace microtape::pool {
namespace {

/// Most memory of large blocks that waits for reuse: 1 GB, all threads together.
constexpr std::size_t kMostWaitingBytes = std::size_t{1} << 30;
constexpr std::size_t kSizes = 4 * 64;  // four an octave

/// What stands in a free block.
struct Block {
  Block* next;
};

/// A list of free blocks for each size. Never destroyed: a static Tensor may outlive everything
/// else.
struct Lists {
  std::mutex mutex;
  std::array<Block*, kSizes> first{};
  std::atomic<std::size_t> waiting_bytes = 0;  ///< written under the mutex, read without it

  void set_waiting(std::size_t bytes) { waiting_bytes.store(bytes, std::memory_order_relaxed); }
};

Lists& lists() {
  // No allocation, which may fail: a destructor may be the first that calls.
  alignas(Lists) static std::byte place[sizeof(Lists)];
  static Lists& instance = hold_for_fork<lists>(*new (place) Lists);
  return instance;
}
[[maybe_unused]] const Lists& made_at_start = lists();  // see fork.hpp

struct Size {
  std::size_t bytes;  ///< rounded up to 5, 6, 7 or 8 times a power of two
  std::size_t index;  ///< of its list
};

Size round_up(std::size_t bytes) {
  if (bytes > PTRDIFF_MAX / 2) throw std::bad_alloc();
  const auto octave = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  const std::size_t quarters = (bytes - 1) >> (octave - 2);  // 4 .. 7
  return {(quarters + 1) << (octave - 2), 4 * octave + quarters - 4};
}

}  // namespace

void* allocate_large(std::size_t bytes) {
  const Size size = round_up(bytes);
  {
    const std::lock_guard lock(lists().mutex);
    Block*& list = lists().first[size.index];
    if (list) {
      lists().set_waiting(waiting_large_bytes() - size.bytes);
      return std::exchange(list, list->next);
    }
  }
  return system_allocate(size.bytes, kLargeAlignment);
}

void deallocate_large(void* block, std::size_t bytes) noexcept {
  const Size size = round_up(bytes);
  {
    const std::lock_guard lock(lists().mutex);
    if (waiting_large_bytes() + size.bytes <= kMostWaitingBytes) {
      Block*& list = lists().first[size.index];
      list = new (block) Block{list};
      lists().set_waiting(waiting_large_bytes() + size.bytes);
      return;
    }
  }
  system_deallocate(block, kLargeAlignment);
}

std::size_t waiting_large_bytes() { return lists().waiting_bytes.load(std::memory_order_relaxed); }

void release_large() {
  const std::lock_guard lock(lists().mutex);
  for (Block*& list : lists().first)
    while (list) system_deallocate(std::exchange(list, list->next), kLargeAlignment);
  lists().set_waiting(0);
}

}  // namespace microtape::pool
