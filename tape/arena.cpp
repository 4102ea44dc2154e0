#include <microtape/tape/arena.hpp>

namespace microtape {

Arena::Block Arena::make_block(std::size_t bytes) {
  return {static_cast<std::byte*>(pool::allocate(bytes)), ToPool{bytes}};
}

std::byte* Arena::take_from_block(std::size_t bytes) {
  if (bytes > kBlockBytes) {
    large_.push_back(make_block(bytes));
    return large_.back().get();
  }
  if (next_block_ == blocks_.size()) blocks_.push_back(make_block(kBlockBytes));
  std::byte* begin = blocks_[next_block_++].get();
  cursor_ = begin + bytes;
  end_ = begin + kBlockBytes;
  return begin;
}

void Arena::rewind() {
  large_.clear();
  next_block_ = 0;
  cursor_ = end_ = nullptr;
}

void Arena::release() {
  rewind();
  blocks_ = std::vector<Block>();
  large_ = std::vector<Block>();
}

}  // namespace microtape
