#pragma once

#include <cstddef>

namespace microtape {

namespace pool {

/// Blocks of more bytes than this are large.
inline constexpr std::size_t kMostSmall = 1024;
/// The addresses of large blocks are multiples of this: a cache line.
inline constexpr std::size_t kLargeAlignment = 64;

/// A block of at least `bytes` bytes; its address is a multiple of kLargeAlignment if it is large,
/// and of 32 if not.
/// @throws std::bad_alloc if there is no memory
void* allocate(std::size_t bytes);

/// Gives a block back. `bytes` is what allocate() was asked for.
void deallocate(void* block, std::size_t bytes) noexcept;

/// Bytes that were freed and wait for reuse, without those that each thread has at hand: of each
/// small size at most 128 KB.
std::size_t waiting_bytes();

}  // namespace pool

/// Returns the memory that freed Tensors and tapes have left in the pool to the operating system. A
/// tape that dies does this if 16 MB or more wait; less it leaves for the next tape.
void release_memory();

}  // namespace microtape
