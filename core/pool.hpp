#pragma once

#include <cstddef>

namespace microtape {

namespace pool {

/// Blocks above this are large.
inline constexpr std::size_t kMostSmall = 1024;
/// The addresses of large blocks are multiples of this: a cache line.
inline constexpr std::size_t kLargeAlignment = 64;

/// A block of at least `bytes` bytes; its address is a multiple of kLargeAlignment if it is large,
/// and of 32 if not.
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
