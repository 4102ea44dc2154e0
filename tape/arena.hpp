#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace microtape {

/// Memory for what stands on a tape, one thing behind the other: nodes, edges, rules, attributes,
/// names. Nothing in it moves, nothing is freed alone, and no destructor runs: who puts a thing
/// there destroys it.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { release(); }

  /// What take(bytes) takes: the next multiple of the strictest alignment.
  static constexpr std::size_t rounded(std::size_t bytes) {
    constexpr std::size_t kAlignment = alignof(std::max_align_t);
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  /// A place for so many bytes, aligned for any type; for none it may be null.
  /// @throws std::bad_alloc if there is no memory
  std::byte* take(std::size_t bytes) {
    bytes = rounded(bytes);
    if (static_cast<std::size_t>(end_ - cursor_) < bytes) go_to_block(bytes);
    return std::exchange(cursor_, cursor_ + bytes);
  }

  /// Begins again: gives out the same memory to others.
  void rewind() {
    next_block_ = 0;
    cursor_ = end_ = nullptr;
  }
  /// Begins again, with no memory: all of it goes back to the pool.
  void release();

 private:
  struct Block {
    std::byte* begin;
    std::size_t bytes;
  };
  /// Goes on to the next block that is large enough, or asks the pool for one.
  void go_to_block(std::size_t bytes);

  std::vector<Block> blocks_;
  std::size_t next_block_ = 0;
  std::byte* cursor_ = nullptr;
  std::byte* end_ = nullptr;  ///< of the block that the cursor is in
};

}  // namespace microtape
