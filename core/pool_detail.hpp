#pragma once

// Internal: the parts of the pool, for its own sources. pool.cpp tells how they work together.

#include <cstddef>
#include <new>

#include <microtape/core/pool.hpp>

namespace microtape::pool {

// kPassThrough: whether a sanitizer watches. Then every call goes straight to the allocator, so
// that each Tensor is a block of its own to it. g++ tells by macros, clang by __has_feature.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kPassThrough = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
inline constexpr bool kPassThrough = true;
#else
inline constexpr bool kPassThrough = false;
#endif
#else
inline constexpr bool kPassThrough = false;
#endif

inline void* system_allocate(std::size_t bytes, std::size_t alignment) {
  return ::operator new(bytes, std::align_val_t{alignment});
}
inline void system_deallocate(void* block, std::size_t alignment) noexcept {
  ::operator delete(block, std::align_val_t{alignment});
}

/// A block of at least `bytes` > kMostSmall bytes at a multiple of kLargeAlignment.
/// @throws std::bad_alloc if there is no memory
void* allocate_large(std::size_t bytes);
/// Keeps the block for reuse, or gives it back if too much waits already.
void deallocate_large(void* block, std::size_t bytes) noexcept;
/// Bytes that wait for reuse.
std::size_t waiting_large_bytes();
/// Gives all that waits back to the allocator.
void release_large();

}  // namespace microtape::pool
