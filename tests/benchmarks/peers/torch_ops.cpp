// benchmark_ops.cpp in LibTorch: the same chains, under the same names.

#include <benchmark/benchmark.h>
#include <torch/torch.h>

namespace {

using torch::Tensor;

enum class Second { constant, leaf };

template <class Step>
void chain(
    benchmark::State& state, const Tensor& start, Second second, std::int64_t length, Step step) {
  torch::set_num_threads(1);
  for (auto _ : state) {
    const Tensor x = start.detach().clone().set_requires_grad(true);
    const Tensor c = start.detach().clone().set_requires_grad(second == Second::leaf);
    Tensor y = x;
    for (std::int64_t i = 0; i < length; ++i) y = step(y, c);
    y.sum().backward();
    benchmark::DoNotOptimize(x.grad());
  }
  state.counters["op"] = benchmark::Counter(static_cast<double>(length),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

const auto kAdd = [](const Tensor& y, const Tensor& c) { return y + c; };
const auto kMul = [](const Tensor& y, const Tensor& c) { return y * c; };
const auto kTanh = [](const Tensor& y, const Tensor&) { return y.tanh(); };
const auto kMatmul = [](const Tensor& y, const Tensor& c) { return torch::matmul(y, c); };

constexpr std::int64_t kShort = 1000, kLong = 10'000;

BENCHMARK_CAPTURE(chain, add_4_constant, torch::ones({4}), Second::constant, kShort, kAdd);
BENCHMARK_CAPTURE(chain, add_4_leaf, torch::ones({4}), Second::leaf, kShort, kAdd);
BENCHMARK_CAPTURE(chain, mul_4_constant, torch::ones({4}), Second::constant, kShort, kMul);
BENCHMARK_CAPTURE(chain, mul_4_leaf, torch::ones({4}), Second::leaf, kShort, kMul);
BENCHMARK_CAPTURE(chain, tanh_4, torch::ones({4}), Second::constant, kShort, kTanh);
BENCHMARK_CAPTURE(chain, matmul_8x8_constant, torch::eye(8), Second::constant, kShort, kMatmul);
BENCHMARK_CAPTURE(chain, matmul_8x8_leaf, torch::eye(8), Second::leaf, kShort, kMatmul);
BENCHMARK_CAPTURE(chain, scalar_mul_constant, torch::ones({}), Second::constant, kLong, kMul);
BENCHMARK_CAPTURE(chain, scalar_mul_leaf, torch::ones({}), Second::leaf, kLong, kMul);

}  // namespace
