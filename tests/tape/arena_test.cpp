#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include <microtape/core/pool_detail.hpp>
#include <microtape/tape/arena.hpp>
#include <microtape/tape/micro_tape.hpp>

#include "testing.hpp"

using namespace microtape;

TEST_CASE("an arena gives out places that are aligned and do not overlap") {
  Arena arena;
  std::vector<std::pair<std::byte*, std::size_t>> places;
  for (std::size_t i = 0; i < 2000; ++i) {
    const std::size_t bytes = 1 + i * 37 % 1500;  // some 1.5 MB: several blocks
    std::byte* place = arena.take(bytes);
    REQUIRE(reinterpret_cast<std::uintptr_t>(place) % alignof(std::max_align_t) == 0);
    std::memset(place, static_cast<int>(i % 251), bytes);
    places.push_back({place, bytes});
  }
  std::byte* large = arena.take(1'000'000);  // more than a block
  std::memset(large, 255, 1'000'000);
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t k = 0; k < places[i].second; ++k)
      REQUIRE(places[i].first[k] == static_cast<std::byte>(i % 251));
}

TEST_CASE("an arena that begins again gives out the same memory, and asks for none") {
  Arena arena;
  std::vector<std::byte*> first, second;
  for (int i = 0; i < 1000; ++i) first.push_back(arena.take(1000));
  arena.rewind();
  for (int i = 0; i < 1000; ++i) second.push_back(arena.take(1000));
  CHECK(first == second);
  // What is larger than a block has its own, and leaves the others as they are.
  arena.rewind();
  CHECK(arena.take(1000) == first[0]);
  std::byte* large = arena.take(1'000'000);
  CHECK(std::find(first.begin(), first.end(), large) == first.end());
  CHECK(arena.take(1000) == first[1]);
}

TEST_CASE("an arena that begins again keeps no block that was made for something large") {
  if (pool::kPassThrough) return;
  release_memory();
  Arena arena;
  for (std::size_t bytes = 300'000; bytes < 3'000'000; bytes += 1000) {
    arena.rewind();
    for (int i = 0; i < 3; ++i) {  // beside the large one, smaller ones of two blocks
      arena.take(200'000);
      arena.take(i == 1 ? bytes : 10);
    }
  }
  arena.release();
  CHECK(pool::waiting_large_bytes() < 20'000'000);  // a few sizes an octave; in all it took 4 GB
}

TEST_CASE("an arena that is released has its blocks in the pool, for others to use") {
  if (pool::kPassThrough) return;  // a sanitizer sees to it that no block comes back so soon
  std::byte* first = nullptr;
  {
    Arena arena;
    first = arena.take(10);
    arena.release();
    Arena other;
    CHECK(other.take(10) == first);
    other.release();
    CHECK(other.take(10) == first);  // and may be used on
  }
  Arena last;
  CHECK(last.take(10) == first);  // given back at the end
}

TEST_CASE("an arena for which there is no memory is as it was") {
  if (pool::kPassThrough) return;  // a sanitizer ends the program instead
  Arena arena;
  std::byte* first = arena.take(10);
  CHECK_THROWS_AS(arena.take(PTRDIFF_MAX - 100), std::bad_alloc);
  CHECK_THROWS_AS(arena.take(PTRDIFF_MAX - 100), std::bad_alloc);
  CHECK(arena.take(10) != first);
  arena.rewind();
  CHECK(arena.take(10) == first);
}

TEST_CASE("a small tape leaves its memory for the next one, and release_memory() takes it") {
  if (pool::kPassThrough) return;
  release_memory();
  const auto place_of_node = [] {
    MicroTape tape;
    return &tape.node(tape.leaf(Tensor::full({}, 1)).node());
  };
  const Node* first = place_of_node();
  CHECK(pool::waiting_large_bytes() == std::size_t{1} << 18);
  CHECK(place_of_node() == first);
  release_memory();
  CHECK(pool::waiting_large_bytes() == 0);
}
