// Small ops on a tape: what is spent on each beside its arithmetic. A chain of ops is recorded,
// differentiated and cleared; the time shown is that of one op, all three together.
// peers/torch_ops.cpp does the same in LibTorch, under the same names.

#include <numeric>

#include <benchmark/benchmark.h>
#include <microtape/microtape.hpp>

using namespace microtape;

namespace {

/// Whether the second operand of each op gets an adjoint too.
enum class Second { constant, leaf };

/// x -> step(.. step(step(x, c), c) .., c), its sum, its gradients.
template <class Step>
void chain(
    benchmark::State& state, const Tensor& start, Second second, std::int64_t length, Step step) {
  MicroTape tape(Keep::needed);
  for (auto _ : state) {
    const Var x = tape.leaf(start);
    const Var c = second == Second::leaf ? tape.leaf(start) : Var(start);
    Var y = x;
    for (std::int64_t i = 0; i < length; ++i) y = step(y, c);
    benchmark::DoNotOptimize(backward(sum(y))[x].value());
    y = {};
    tape.clear();
  }
  state.counters["op"] = benchmark::Counter(static_cast<double>(length),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

const Tensor kFour = Tensor::full({4}, 1);
const Tensor kScalar = Tensor::full({}, 1);
Tensor eye(Index n) {
  Tensor out = Tensor::zeros({n, n});
  for (Index i = 0; i < n; ++i)
    out.mutable_data<float>()[static_cast<std::size_t>(i * (n + 1))] = 1;
  return out;
}

const auto kAdd = [](const Var& y, const Var& c) { return y + c; };
const auto kMul = [](const Var& y, const Var& c) { return y * c; };
const auto kTanh = [](const Var& y, const Var&) { return tanh(y); };
const auto kMatmul = [](const Var& y, const Var& c) { return matmul(y, c); };

constexpr std::int64_t kShort = 1000, kLong = 10'000;

BENCHMARK_CAPTURE(chain, add_4_constant, kFour, Second::constant, kShort, kAdd);
BENCHMARK_CAPTURE(chain, add_4_leaf, kFour, Second::leaf, kShort, kAdd);
BENCHMARK_CAPTURE(chain, mul_4_constant, kFour, Second::constant, kShort, kMul);
BENCHMARK_CAPTURE(chain, mul_4_leaf, kFour, Second::leaf, kShort, kMul);
BENCHMARK_CAPTURE(chain, tanh_4, kFour, Second::constant, kShort, kTanh);
BENCHMARK_CAPTURE(chain, matmul_8x8_constant, eye(8), Second::constant, kShort, kMatmul);
BENCHMARK_CAPTURE(chain, matmul_8x8_leaf, eye(8), Second::leaf, kShort, kMatmul);
BENCHMARK_CAPTURE(chain, scalar_mul_constant, kScalar, Second::constant, kLong, kMul);
BENCHMARK_CAPTURE(chain, scalar_mul_leaf, kScalar, Second::leaf, kLong, kMul);

// --- softmax in cache ----------------------------------------------------------------------------

/// The sum in lanes that do not wait for one another, as the machine's widest vectors have them.
float total(const std::vector<float>& data) {
  constexpr std::size_t kLanes = 128;
  float lanes[kLanes] = {};
  const float* x = data.data();
  for (std::size_t i = 0; i < data.size(); i += kLanes)
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += x[i + k];
  return std::accumulate(lanes, lanes + kLanes, 0.f);
}

/// Bytes a second that a core reads from its second-level cache: the yardstick of softmax.
void read_l2(benchmark::State& state) {
  const std::vector<float> data(128 * 1024, 1.f);  // 512 KB
  for (auto _ : state) benchmark::DoNotOptimize(total(data));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(data.size() * 4));
}
BENCHMARK(read_l2);

/// P = softmax(S), and dS from dP. S [256, 256], float32: 256 KB. Bytes: S and P read and written
/// once each way.
void softmax_forward(benchmark::State& state) {
  const Var x = Tensor::randn({256, 256}, 1);
  for (auto _ : state) benchmark::DoNotOptimize(softmax(x).value());
  state.SetBytesProcessed(state.iterations() * x.value().size() * 4 * 2);
}
BENCHMARK(softmax_forward);

void softmax_forward_backward(benchmark::State& state) {
  MicroTape tape(Keep::needed);
  const Tensor start = Tensor::randn({256, 256}, 1), seed = Tensor::randn({256, 256}, 2);
  for (auto _ : state) {
    const Var x = tape.leaf(start);
    benchmark::DoNotOptimize(backward(softmax(x), seed)[x].value());
    tape.clear();
  }
  state.SetBytesProcessed(state.iterations() * start.size() * 4 * 5);
}
BENCHMARK(softmax_forward_backward);

/// Products of large matrices: what the BLAS can do is what we should get.
void matmul_square(benchmark::State& state) {
  const Index n = state.range(0);
  const Var a = Tensor::randn({n, n}, 1), b = Tensor::randn({n, n}, 2);
  for (auto _ : state) benchmark::DoNotOptimize(matmul(a, b).value());
  state.SetItemsProcessed(state.iterations() * 2 * n * n * n);
}
BENCHMARK(matmul_square)->Arg(64)->Arg(256)->Arg(1024);

}  // namespace
