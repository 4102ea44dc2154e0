#pragma once

// Internal: the small blocks of the pool that no thread holds, and the slabs that they are cut
// from. pool.cpp tells how the parts work together.

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include <microtape/core/pool_detail.hpp>

namespace microtape::pool {

inline constexpr std::size_t kStep = 32;
inline constexpr std::size_t kClasses = kMostSmall / kStep;

/// 0 for 1 to 32 bytes, 1 for 33 to 64, ..; a block of 0 bytes is one of class 0, too.
constexpr std::size_t class_of(std::size_t bytes) { return (bytes - (bytes > 0)) / kStep; }
constexpr std::size_t block_bytes(std::size_t c) { return (c + 1) * kStep; }

/// Slabs start at multiples of their size.
inline constexpr std::size_t kSlabBytes = 64 * 1024;
inline constexpr std::size_t kSlabHeader = 64;
/// How many blocks of class c a slab is cut into.
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

/// Free blocks of one class.
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

/// The blocks of a new slab.
Stack make_slab(std::size_t c);

/// Stacks that wait for a thread.
struct Depot {
  std::mutex mutex;  ///< held by who calls any of the functions
  std::array<Block*, kClasses> stacks{};
  std::atomic<std::size_t> waiting_bytes = 0;  ///< written under the mutex, read without it

  /// Leaves a stack, and empties it.
  void put(std::size_t c, Stack& stack);
  /// Takes a stack, empty if there is none.
  Stack take(std::size_t c);
  /// Gives back the slabs all of whose blocks are here.
  void release_slabs();
};

/// The one of the process. Never destroyed: a static Tensor may outlive everything else.
Depot& depot();

}  // namespace microtape::pool
