#include <microtape/core/threads.hpp>

#include <atomic>
#include <thread>

#if __has_include(<dlfcn.h>)
#include <dlfcn.h>
#endif

#include <microtape/core/error.hpp>
#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/core/kernels/matmul.hpp>
#include <microtape/core/kernels/softmax.hpp>
#include <microtape/core/parallel.hpp>

#include "kernel_testing.hpp"

using namespace microtape;
using namespace microtape::testing;
namespace k = microtape::kernels;

namespace {

/// So many threads until the end of a test.
class Threads {
 public:
  explicit Threads(int n) { set_num_threads(n); }
  ~Threads() { set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_ = num_threads();
};

template <class F>
Tensor with_threads(int n, F f) {
  const Threads threads(n);
  return f();
}

}  // namespace

TEST_CASE("parallel_for does each piece once, with any number of threads") {
  for (const int n : {1, 2, 5}) {
    const Threads threads(n);
    for (const Index count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> times(static_cast<std::size_t>(count));
      k::parallel_for(count, [&](Index i) { ++times[static_cast<std::size_t>(i)]; });
      for (const auto& t : times) REQUIRE(t == 1);
    }
  }
}

TEST_CASE("parallel_ranges covers all without a gap, the last range being shorter") {
  const Threads threads(3);
  for (const Index n : {0, 1, 9, 10, 11, 95, 100}) {
    std::vector<std::atomic<int>> times(static_cast<std::size_t>(n));
    std::atomic<Index> longest = 0;
    k::parallel_ranges(n, 10, [&](Index first, Index last) {
      if (last - first > longest) longest = last - first;
      for (; first < last; ++first) ++times[static_cast<std::size_t>(first)];
    });
    for (const auto& t : times) REQUIRE(t == 1);
    REQUIRE(longest <= 10);
  }
}

TEST_CASE("of several pieces that fail the first by number is reported, and all threads go on") {
  const Threads threads(4);
  for (int round = 0; round < 50; ++round) {
    const auto fail = [](Index i) {
      if (i % 10 == 3) throw ValueError("piece " + std::to_string(i));
    };
    REQUIRE_THROWS_WITH(k::parallel_for(100, fail), "piece 3");
  }
  std::atomic<int> count = 0;
  k::parallel_for(100, [&](Index) { ++count; });
  CHECK(count == 100);
}

TEST_CASE("work inside of work is a plain loop, and two callers do not wait for each other") {
  const Threads threads(2);
  std::atomic<int> inner = 0;
  k::parallel_for(8, [&](Index) { k::parallel_for(8, [&](Index) { ++inner; }); });
  CHECK(inner == 64);

  std::atomic<int> total = 0;
  const auto call = [&] {
    for (int i = 0; i < 200; ++i) k::parallel_for(16, [&](Index) { ++total; });
  };
  std::thread other(call);
  call();
  other.join();
  CHECK(total == 2 * 200 * 16);
}

TEST_CASE("the threads sleep and wake again") {
  const Threads threads(3);
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> count = 0;
    k::parallel_for(50, [&](Index) { ++count; });
    REQUIRE(count == 50);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST_CASE("no bit depends on the number of threads") {
  const Tensor a = Tensor::randn({700, 300}, 1), b = Tensor::randn({300, 200}, 2);
  const Tensor heads = Tensor::randn({3, 4, 130, 64}, 3), wide = Tensor::randn({2, 90, 1000}, 4);
  const Tensor row = Tensor::randn({1000}, 5);
  const auto all = [&] {
    return std::vector<Tensor>{k::matmul(a, b), k::matmul_tn(a, a), k::matmul_nt(a, a),
        k::matmul_nt(a.transpose(), Tensor::randn({600, 700}, 6)), k::matmul(a.transpose(), a),
        k::matmul_nt(heads, heads), k::softmax(wide, 2), k::softmax(wide, 1), k::exp(wide),
        k::mul(wide, wide), k::add(wide, row.broadcast_to(wide.shape())),
        k::softmax_pullback(wide, k::softmax(wide, 2))};
  };
  std::vector<Tensor> alone;
  with_threads(1, [&] { return (alone = all())[0]; });
  for (const int n : {2, 3}) {
    std::vector<Tensor> together;
    with_threads(n, [&] { return (together = all())[0]; });
    for (std::size_t i = 0; i < alone.size(); ++i) check_same(together[i], alone[i]);
  }
}

TEST_CASE("products in panels of rows are those of long double") {
  for (const Index m : {511, 512, 513, 768, 1000}) {
    const Tensor a = Tensor::randn({m, 3}, 1, float64), b = Tensor::randn({3, 5}, 2, float64);
    const Tensor c = k::matmul(a, b);
    const Tensor d = k::matmul_tn(k::copy(a.transpose()), b);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < 5; ++j) {
        long double wanted = 0;
        for (Index l = 0; l < 3; ++l)
          wanted += static_cast<long double>(a.at({i, l})) * b.at({l, j});
        REQUIRE(std::abs(c.at({i, j}) - static_cast<double>(wanted)) < 1e-14);
        REQUIRE(d.at({i, j}) == c.at({i, j}));
      }
  }
}

TEST_CASE("an error names the first row that is wrong, however many threads there are") {
  const Threads threads(2);
  Tensor x = Tensor::zeros({4000, 100});
  for (const Index row : {3000, 3999, 1234})
    for (Index i = 0; i < 100; ++i)
      x.mutable_data<float>()[static_cast<std::size_t>(row * 100 + i)] = -INFINITY;
  for (int round = 0; round < 10; ++round) {
    std::string what;
    try {
      k::softmax(x, 1);
    } catch (const ValueError& error) {
      what = error.what();
    }
    REQUIRE(what.starts_with("softmax: row [1234] has only -inf"));
  }
}

// CTest sets the environment for these two.
TEST_CASE("three threads are asked for", "[.][environment]") { CHECK(num_threads() == 3); }
TEST_CASE("no number of threads is asked for", "[.][environment]") {
  CHECK_THROWS_MATCHES(num_threads(), ValueError,
      says("MICROTAPE_NUM_THREADS: not a number of threads: 3x; 1 to 1024"));
  CHECK_THROWS_AS(num_threads(), ValueError);  // and again
}

TEST_CASE("set_num_threads refuses what is no number of threads") {
  CHECK(num_threads() >= 1);
  CHECK_THROWS_MATCHES(set_num_threads(0), ValueError,
      says("set_num_threads: no such number of threads: 0; 1 to 1024"));
  CHECK_THROWS_AS(set_num_threads(1025), ValueError);
}

#if __has_include(<dlfcn.h>)
TEST_CASE("the threads of OpenBLAS are as they were after a product, and not used in it") {
  const auto get = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (!get || !set) return;  // another BLAS, or none
  const int before = get();
  set(2);
  k::matmul(Tensor::randn({600, 300}, 1), Tensor::randn({300, 300}, 2));
  CHECK(get() == 2);
  set(before);
}
#endif
