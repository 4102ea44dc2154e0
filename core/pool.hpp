#pragma once

#include <cstddef>

namespace microtape {

namespace pool {

/// A block of at least `bytes` bytes; its address is a multiple of 64 from 1 KB up, of 32 below.
/// @throws std::bad_alloc if there is no memory
void* allocate(std::size_t bytes);

/// Gives a block back. `bytes` is what allocate() was asked for.
void deallocate(void* block, std::size_t bytes) noexcept;

}  // namespace pool

/// Returns the memory that freed Tensors have left in the pool to the operating system.
/// A tape does this when it dies. Costs nothing worth mention while less than 1 MB waits: then it
/// stays where it is.
void release_memory();

}  // namespace microtape
