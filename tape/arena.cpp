#include <microtape/tape/arena.hpp>

#include <algorithm>

#include <microtape/core/pool.hpp>

namespace microtape {

void Arena::go_to_block(std::size_t bytes) {
  constexpr std::size_t kBlockBytes = std::size_t{1} << 18;
  while (next_block_ < blocks_.size() && blocks_[next_block_].bytes < bytes) ++next_block_;
  if (next_block_ == blocks_.size()) {
    const std::size_t size = std::max(bytes, kBlockBytes);
    blocks_.push_back({nullptr, 0});  // first: a block that has no place in the list is lost
    blocks_.back() = {static_cast<std::byte*>(pool::allocate(size)), size};
  }
  const Block& block = blocks_[next_block_++];
  cursor_ = block.begin;
  end_ = cursor_ + block.bytes;
}

void Arena::release() {
  rewind();
  for (const Block& block : blocks_)
    if (block.begin) pool::deallocate(block.begin, block.bytes);
  blocks_ = std::vector<Block>();
}

}  // namespace microtape
