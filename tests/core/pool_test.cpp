#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include <microtape/core/pool.hpp>
#include <microtape/core/pool_detail.hpp>
#include <microtape/core/random.hpp>
#include <microtape/core/tensor.hpp>

#include "catch.hpp"

using namespace microtape;

namespace {

struct Piece {
  void* block;
  std::size_t bytes;
  unsigned char mark;
};

Piece make_piece(std::size_t bytes, unsigned char mark) {
  void* block = pool::allocate(bytes);
  std::memset(block, mark, bytes);
  return {block, bytes, mark};
}

/// Gives a piece back. @return whether nobody else has written into it
bool drop(const Piece& piece) {
  const auto* bytes = static_cast<const unsigned char*>(piece.block);
  bool is_intact = true;
  for (std::size_t i = 0; i < piece.bytes; ++i) is_intact = is_intact && bytes[i] == piece.mark;
  pool::deallocate(piece.block, piece.bytes);
  return is_intact;
}

/// A size from 1 byte to some MB, small ones more often.
std::size_t some_bytes(std::uint64_t i) {
  const std::uint64_t bits = philox(11, i, 0)[0];
  if (bits % 16 == 0) return 1 + bits % 200'000;
  return 1 + bits / 16 % 1500;
}

/// Bytes of this process that are in memory, where the system tells; else 0.
double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0, resident_pages = 0;
  statm >> pages >> resident_pages;
  return resident_pages * 4096;
}

/// One block of each small size and then all back.
void use_every_small_size() {
  std::vector<Piece> pieces;
  for (std::size_t bytes = 32; bytes <= 1024; bytes += 32) pieces.push_back(make_piece(bytes, 1));
  for (const Piece& piece : pieces) pool::deallocate(piece.block, piece.bytes);
}

/// Made before its thread first uses the pool, so destroyed after the thread's cache.
struct LateUser {
  std::vector<Tensor> tensors;
  ~LateUser() { use_every_small_size(); }
};

/// Destroyed after the caches of every thread.
Tensor late_tensor;
std::vector<Tensor> late_tensors;

}  // namespace

TEST_CASE("a block is aligned to 32 bytes, and to 64 from 1 KB up") {
  for (std::size_t bytes = 0; bytes < 5000; bytes += bytes < 1100 ? 1 : 13) {
    void* block = pool::allocate(bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    REQUIRE(address % (bytes >= 1024 ? 64 : 32) == 0);
    std::memset(block, 1, bytes);
    pool::deallocate(block, bytes);
  }
}

TEST_CASE("blocks of all sizes never overlap, whatever the order of freeing") {
  std::deque<Piece> pieces;
  bool is_intact = true;
  for (std::uint64_t i = 0; i < 30'000; ++i) {
    pieces.push_back(make_piece(some_bytes(i), static_cast<unsigned char>(i)));
    if (pieces.size() < 500) continue;
    // Take out one from anywhere.
    std::swap(pieces.front(), pieces[philox(12, i, 0)[0] % pieces.size()]);
    is_intact = is_intact && drop(pieces.front());
    pieces.pop_front();
    if (i % 10'000 == 9'999) release_memory();
  }
  for (const Piece& piece : pieces) is_intact = is_intact && drop(piece);
  CHECK(is_intact);
}

TEST_CASE("a block that was freed is the next to be handed out, small or large") {
  if (pool::kPassThrough) return;
  for (const std::size_t bytes : std::array<std::size_t, 5>{1, 80, 1024, 1025, 1'000'000}) {
    void* block = pool::allocate(bytes);
    pool::deallocate(block, bytes);
    void* again = pool::allocate(bytes);
    CHECK(again == block);
    pool::deallocate(again, bytes);
  }
}

TEST_CASE("release_memory returns small and large blocks to the system") {
  if (pool::kPassThrough || resident_bytes() == 0) return;
  constexpr double kMB = 1e6;
  std::vector<Piece> pieces;
  pieces.reserve(800'000);
  release_memory();
  const double before = resident_bytes();
  for (int i = 0; i < 700'000; ++i) pieces.push_back(make_piece(96, 1));
  for (int i = 0; i < 8; ++i) pieces.push_back(make_piece(10'000'000, 1));
  const double used = resident_bytes();
  CHECK(used - before > 140 * kMB);
  for (const Piece& piece : pieces) pool::deallocate(piece.block, piece.bytes);
  CHECK(resident_bytes() > used - 5 * kMB);
  release_memory();
  // The vector of pieces itself has grown by 20 MB.
  CHECK(resident_bytes() - before < 25 * kMB);
}

TEST_CASE("large blocks beyond 1 GB do not wait for reuse") {
  if (pool::kPassThrough) return;
  release_memory();
  // Untouched memory costs nothing: 40 blocks of 64 MB.
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  std::vector<void*> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(pool::allocate(kBytes));
  for (void* block : blocks) pool::deallocate(block, kBytes);
  CHECK(pool::waiting_large_bytes() == std::size_t{1} << 30);
  release_memory();
  CHECK(pool::waiting_large_bytes() == 0);
}

TEST_CASE("slabs that are partly in use stay useful after release_memory") {
  if (pool::kPassThrough || resident_bytes() == 0) return;
  constexpr std::size_t kBlocks = 200'000;
  std::vector<void*> blocks(kBlocks), kept;
  const auto fill = [&] {
    for (void*& block : blocks) block = pool::allocate(96);
  };
  fill();
  // Keep one block a slab, more or less.
  for (std::size_t i = 0; i < kBlocks; ++i)
    i % 500 == 0 ? kept.push_back(blocks[i]) : pool::deallocate(blocks[i], 96);
  const double before = resident_bytes();
  for (int turn = 0; turn < 3; ++turn) {
    release_memory();
    fill();
    for (void* block : blocks) pool::deallocate(block, 96);
  }
  CHECK(resident_bytes() - before < 5e6);
  for (void* block : kept) pool::deallocate(block, 96);
}

TEST_CASE("a thread that ends leaves nothing behind that others cannot use") {
  if (pool::kPassThrough || resident_bytes() == 0) return;
  const auto run_threads = [](int count) {
    for (int i = 0; i < count; ++i) {
      std::thread(use_every_small_size).join();
      std::thread([] {
        thread_local LateUser late;
        late.tensors.reserve(100);
        use_every_small_size();
        for (int n = 0; n < 100; ++n) late.tensors.push_back(Tensor::zeros({n}));
      }).join();
    }
  };
  run_threads(20);
  const double before = resident_bytes();
  run_threads(100);
  // Two slabs of each of 32 sizes are 4 MB a thread.
  CHECK(resident_bytes() - before < 10e6);
}

TEST_CASE("memory that is still in use survives release_memory") {
  // Keep every tenth block, so that no slab is free as a whole, then free the rest.
  std::vector<Piece> kept;
  std::vector<Piece> dropped;
  for (int i = 0; i < 100'000; ++i)
    (i % 10 == 0 ? kept : dropped).push_back(make_piece(96, static_cast<unsigned char>(i)));
  bool is_intact = true;
  for (const Piece& piece : dropped) is_intact = is_intact && drop(piece);
  release_memory();
  // What is handed out next must not lie in what is kept.
  dropped.clear();
  for (int i = 0; i < 100'000; ++i) dropped.push_back(make_piece(96, 7));
  for (const Piece& piece : kept) is_intact = is_intact && drop(piece);
  for (const Piece& piece : dropped) is_intact = is_intact && drop(piece);
  release_memory();
  CHECK(is_intact);
}

TEST_CASE("blocks may be freed on another thread than the one that made them") {
  std::mutex mutex;
  std::vector<Piece> queue;
  bool is_done = false, is_intact = true;
  std::thread consumer([&] {
    for (bool is_last = false; !is_last;) {
      std::vector<Piece> taken;
      {
        const std::lock_guard lock(mutex);
        taken.swap(queue);
        is_last = is_done;
      }
      for (const Piece& piece : taken)
        if (!drop(piece)) is_intact = false;
      std::this_thread::yield();
    }
  });
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const Piece piece = make_piece(some_bytes(i), static_cast<unsigned char>(i));
    const std::lock_guard lock(mutex);
    queue.push_back(piece);
  }
  {
    const std::lock_guard lock(mutex);
    is_done = true;
  }
  consumer.join();
  CHECK(is_intact);
}

TEST_CASE("threads may allocate, free and release at the same time") {
  std::array<bool, 4> is_intact{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < is_intact.size(); ++t)
    threads.emplace_back([t, &is_intact] {
      bool all = true;
      std::vector<Piece> pieces;
      for (int turn = 0; turn < 20; ++turn) {
        for (std::uint64_t i = 0; i < 2000; ++i)
          pieces.push_back(make_piece(some_bytes(i + t), static_cast<unsigned char>(t * 50 + 1)));
        for (const Piece& piece : pieces) all = all && drop(piece);
        pieces.clear();
        if (turn % 5 == 0) release_memory();
      }
      is_intact[t] = all;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(is_intact == std::array<bool, 4>{true, true, true, true});
}

TEST_CASE("a Tensor may outlive the thread that made it") {
  Tensor x;
  std::thread([&] { x = Tensor::of({1, 2, 3}); }).join();
  const Tensor y = x;
  std::thread([&] { x = Tensor(); }).join();
  CHECK(y.at({2}) == 3);
}

TEST_CASE("a static Tensor may outlive the caches of its thread") {
  // They are destroyed after main(), when the cache of this thread is gone: the program must not
  // crash then.
  late_tensor = Tensor::zeros({3});
  for (int i = 0; i < 3000; ++i) late_tensors.push_back(Tensor::zeros({i % 400}));
  CHECK(late_tensor.size() == 3);
}

TEST_CASE("a request for more memory than there is fails cleanly") {
  if (pool::kPassThrough) return;  // sanitizers end the program
  CHECK_THROWS_AS(pool::allocate(~std::size_t{0} / 2 - 1000), std::bad_alloc);
  CHECK_THROWS_AS(pool::allocate(~std::size_t{0}), std::bad_alloc);
}
