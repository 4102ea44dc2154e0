// What each step towards speed buys: pairs of benchmarks, x/with and x/without. Each computes the
// same, up to rounding; docs/performance.md says why one is quicker.

#include <cmath>
#include <cstdlib>

#include <benchmark/benchmark.h>
#include <microtape/core/kernels/gemm.hpp>
#include <microtape/core/kernels/math.hpp>
#include <microtape/microtape.hpp>

#ifdef MICROTAPE_CBLAS
#include <cblas.h>
#endif

using namespace microtape;

namespace {

void pair(const char* name, void (*with)(benchmark::State&), void (*without)(benchmark::State&)) {
  benchmark::RegisterBenchmark((std::string(name) + "/with").c_str(), with)->UseRealTime();
  benchmark::RegisterBenchmark((std::string(name) + "/without").c_str(), without)->UseRealTime();
}

// --- memory ----------------------------------------------------------------------------------

/// A large block, asked for, written, and given back: the pool's pages are there already.
constexpr std::size_t kLarge = 8 << 20;

void touch(void* block) {
  for (std::size_t i = 0; i < kLarge; i += 4096) static_cast<volatile char*>(block)[i] = 1;
}
void large_from_pool(benchmark::State& state) {
  for (auto _ : state) {
    void* block = pool::allocate(kLarge);
    touch(block);
    pool::deallocate(block, kLarge);
  }
}
void large_from_malloc(benchmark::State& state) {
  // An aligned block of this size from the C library: new pages each time.
  for (auto _ : state) {
    void* block = std::aligned_alloc(4096, kLarge);
    touch(block);
    std::free(block);
  }
}

// --- attention -------------------------------------------------------------------------------

const Tensor kHeads = Tensor::randn({4, 512, 8, 64}, 1);  // [B, T, H, D]

/// The gradients of a loss by all heads of attention.
template <class Attention>
void attend(benchmark::State& state, Attention attention) {
  MicroTape tape(Keep::needed);
  for (auto _ : state) {
    const Var x = permute(tape.leaf(kHeads), {0, 2, 1, 3});
    benchmark::DoNotOptimize(backward(sum(attention(x))));
    tape.clear();
  }
}
void attention_fused(benchmark::State& state) {
  attend(state, [](const Var& x) { return scaled_dot_product_attention(x, x, x); });
}
void attention_composed(benchmark::State& state) {
  attend(state, [](const Var& x) {
    const Var p = softmax(matmul_nt(x, x, Scale{0.125}));
    return matmul(p, x);
  });
}

/// Products of heads as they lie in [B, T, H, D], and of heads that are copied together first.
void heads_in_place(benchmark::State& state) {
  const Tensor q = kHeads.permute({0, 2, 1, 3});
  for (auto _ : state) benchmark::DoNotOptimize(matmul_nt(Var(q), Var(q)));
}
void heads_copied(benchmark::State& state) {
  const Tensor q = kHeads.permute({0, 2, 1, 3});
  for (auto _ : state) {
    const Var a = q.contiguous(), b = q.contiguous();
    benchmark::DoNotOptimize(matmul_nt(a, b));
  }
}

#ifdef MICROTAPE_CBLAS
constexpr int kSmall = 8;
const Tensor kA = Tensor::randn({kSmall, kSmall}, 1), kB = Tensor::randn({kSmall, kSmall}, 2);

template <class Product>
void multiply(benchmark::State& state, Product product) {
  float out[kSmall * kSmall];
  for (auto _ : state) {
    product(kA.data<float>().data(), kB.data<float>().data(), out);
    benchmark::DoNotOptimize(out);
  }
}
/// A B^T of [8, 8]: B is transposed first, or the library is asked for the product as it is.
void product_transposed_first(benchmark::State& state) {
  using kernels::Transpose;
  multiply(state, [](const float* a, const float* b, float* c) {
    kernels::gemm(
        Transpose::no, Transpose::yes, kSmall, kSmall, kSmall, 1, a, kSmall, b, kSmall, c, kSmall);
  });
}
void product_as_it_is(benchmark::State& state) {
  multiply(state, [](const float* a, const float* b, float* c) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, kSmall, kSmall, kSmall, 1, a, kSmall, b,
        kSmall, 0, c, kSmall);
  });
}
#endif

// --- sums ------------------------------------------------------------------------------------

const Tensor kRow = Tensor::randn({1 << 14}, 1);

void sum_in_lanes(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(kernels::sum(kRow, {0}));
}
void sum_in_turn(benchmark::State& state) {
  for (auto _ : state) {
    float sum = 0;
    for (const float x : kRow.data<float>()) sum += x;
    benchmark::DoNotOptimize(sum);
  }
}

// --- functions of one number -----------------------------------------------------------------

const Tensor kNumbers = Tensor::uniform({1 << 16}, -10, 0, 1);

template <class F>
void map(benchmark::State& state, F f) {
  std::vector<float> out(static_cast<std::size_t>(kNumbers.size()));
  const float* x = kNumbers.data<float>().data();
  for (auto _ : state) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = f(x[i]);
    benchmark::DoNotOptimize(out.data());
  }
}
void exp_polynomial(benchmark::State& state) {
  map(state, [](float x) { return kernels::math::exp(x); });
}
void exp_library(benchmark::State& state) {
  map(state, [](float x) { return std::exp(x); });
}

// --- the tape --------------------------------------------------------------------------------

const Tensor kFour = Tensor::full({4}, 1);

void chain(benchmark::State& state, Keep keep) {
  MicroTape tape(keep);
  for (auto _ : state) {
    const Var x = tape.leaf(kFour);
    Var y = x;
    for (int i = 0; i < 1000; ++i) y = y * kFour;
    benchmark::DoNotOptimize(backward(sum(y)));
    y = {};
    tape.clear();
  }
}
void tape_for_training(benchmark::State& state) { chain(state, Keep::needed); }
void tape_to_look_at(benchmark::State& state) { chain(state, Keep::everything); }

const bool kRegistered = [] {
  pair("large blocks from the pool", large_from_pool, large_from_malloc);
  pair("attention as one op", attention_fused, attention_composed);
  pair("heads where they lie", heads_in_place, heads_copied);
  pair("exp by a polynomial", exp_polynomial, exp_library);
  pair("sums in lanes", sum_in_lanes, sum_in_turn);
#ifdef MICROTAPE_CBLAS
  pair("a small transpose first", product_transposed_first, product_as_it_is);
#endif
  pair("Keep::needed", tape_for_training, tape_to_look_at);
  return true;
}();

}  // namespace
