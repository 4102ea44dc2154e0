#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <microtape/core/pool.hpp>

namespace microtape {

/// Memory for what stands on a tape, one thing behind the other: nodes, edges, rules, attributes,
/// names. Nothing in it moves, nothing is freed alone, and no destructor runs: who puts a thing
/// there destroys it.
class Arena {
 public:
  /// What take(bytes) takes: the next multiple of the strictest alignment.
  static constexpr std::size_t rounded(std::size_t bytes) {
    constexpr std::size_t kAlignment = alignof(std::max_align_t);
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  /// A place for so many bytes, aligned for any type; for none it may be null.
  /// @throws std::bad_alloc if there is no memory
  std::byte* take(std::size_t bytes) {
    bytes = rounded(bytes);
    if (static_cast<std::size_t>(end_ - cursor_) < bytes) return take_from_block(bytes);
    return std::exchange(cursor_, cursor_ + bytes);
  }

  /// Begins again: gives out the same memory to others. Blocks that were made for something large
  /// go back to the pool.
  void rewind();
  /// Begins again, with no memory: all of it goes back to the pool.
  void release();

 private:
  struct ToPool {
    std::size_t bytes;
    void operator()(std::byte* block) const { pool::deallocate(block, bytes); }
  };
  using Block = std::unique_ptr<std::byte, ToPool>;
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 18;

  /// A block for anything of these bytes, from the pool.
  static Block make_block(std::size_t bytes);
  /// Goes on to the next block; what is larger than a block gets one of its own.
  std::byte* take_from_block(std::size_t bytes);

  std::vector<Block> blocks_;  ///< of kBlockBytes
  std::vector<Block> large_;   ///< of one thing each
  std::size_t next_block_ = 0;
  std::byte* cursor_ = nullptr;
  std::byte* end_ = nullptr;  ///< of the block that the cursor is in
};

}  // namespace microtape
