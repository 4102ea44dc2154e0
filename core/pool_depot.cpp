#include <microtape/core/pool_depot.hpp>

#include <cstdint>

#include <microtape/core/fork.hpp>

namespace microtape::pool {
namespace {

/// What stands at the start of a slab. Only release_memory() uses it, under the lock of the depot.
struct Slab {
  std::size_t free_blocks;
  Slab* next;
};
static_assert(sizeof(Slab) <= kSlabHeader);

Slab* slab_of(Block* block) {
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(block) % kSlabBytes;
  return reinterpret_cast<Slab*>(reinterpret_cast<char*>(block) - offset);
}

/// Counts the free blocks of each slab. @return the slabs that have no others, in front of `full`
Slab* count_free(std::size_t c, Slab* full) {
  for (Block* top = depot().stacks[c]; top; top = top->next_stack)
    for (Block* block = top; block; block = block->next) {
      Slab* slab = slab_of(block);
      if (++slab->free_blocks == blocks_per_slab(c)) slab->next = std::exchange(full, slab);
    }
  return full;
}

/// Stacks the blocks of all other slabs anew, and sets their counts back to 0.
void restack(std::size_t c) {
  Stack kept{};
  Block* stack = std::exchange(depot().stacks[c], nullptr);
  while (stack) {
    Stack old{stack, stack->height};
    stack = stack->next_stack;
    depot().waiting_bytes -= old.height * block_bytes(c);
    while (old.top) {
      Block* block = old.pop();
      Slab* slab = slab_of(block);
      if (slab->free_blocks == blocks_per_slab(c)) continue;
      slab->free_blocks = 0;
      kept.push(block);
      if (kept.height == blocks_per_slab(c)) depot().put(c, kept);
    }
  }
  depot().put(c, kept);
}

[[maybe_unused]] const Depot& made_at_start = depot();  // see fork.hpp

}  // namespace

Depot& depot() {
  // No allocation, which may fail: a destructor may be the first that calls.
  alignas(Depot) static std::byte place[sizeof(Depot)];
  static Depot& instance = hold_for_fork<depot>(*new (place) Depot);
  return instance;
}

Stack make_slab(std::size_t c) {
  auto* memory = static_cast<char*>(system_allocate(kSlabBytes, kSlabBytes));
  new (memory) Slab{0, nullptr};
  Stack stack{};
  for (std::size_t i = blocks_per_slab(c); i-- > 0;)
    stack.push(memory + kSlabHeader + i * block_bytes(c));
  return stack;
}

void Depot::put(std::size_t c, Stack& stack) {
  if (!stack.top) return;
  stack.top->next_stack = std::exchange(stacks[c], stack.top);
  stack.top->height = stack.height;
  waiting_bytes += stack.height * block_bytes(c);
  stack = {};
}

Stack Depot::take(std::size_t c) {
  Block* top = stacks[c];
  if (!top) return {};
  stacks[c] = top->next_stack;
  waiting_bytes -= top->height * block_bytes(c);
  return {top, top->height};
}

void Depot::release_slabs() {
  Slab* full = nullptr;
  for (std::size_t c = 0; c < kClasses; ++c) {
    full = count_free(c, full);
    restack(c);
  }
  while (full) system_deallocate(std::exchange(full, full->next), kSlabBytes);
}

}  // namespace microtape::pool
