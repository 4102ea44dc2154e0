// benchmark_attention.cpp in LibTorch, composed of its ops: with one projection for q, k and v
// together, and with three.

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdlib>

#include "memory.hpp"
#include "shapes.hpp"

namespace {

using torch::Tensor;

enum class Projections { one, three };

Tensor parameter(std::vector<std::int64_t> shape) {
  return (torch::randn(shape) * 0.05).set_requires_grad(true);
}

void attention(benchmark::State& state, Projections projections) {
  const char* threads = std::getenv("OMP_NUM_THREADS");
  torch::set_num_threads(threads ? std::atoi(threads) : 1);
  const std::int64_t b = state.range(0), t = state.range(1), e = state.range(2), h = state.range(3);
  const std::int64_t d = e / h;
  const Tensor x = torch::randn({b, t, e}).set_requires_grad(true);
  const Tensor packed = parameter({3 * e, e}), packed_bias = parameter({3 * e});
  const Tensor wq = parameter({e, e}), wk = parameter({e, e}), wv = parameter({e, e});
  const Tensor bq = parameter({e}), bk = parameter({e}), bv = parameter({e});
  const Tensor wo = parameter({e, e}), bo = parameter({e});
  const auto heads = [&](const Tensor& y) { return y.view({b, t, h, d}).transpose(1, 2); };
  const auto step = [&] {
    for (Tensor p : {x, packed, packed_bias, wq, wk, wv, bq, bk, bv, wo, bo})
      p.mutable_grad() = Tensor();
    Tensor q, k, v;
    if (projections == Projections::one) {
      const Tensor all =
          torch::linear(x, packed, packed_bias).view({b, t, 3, h, d}).permute({2, 0, 3, 1, 4});
      q = all[0], k = all[1], v = all[2];
    } else {
      q = heads(torch::linear(x, wq, bq));
      k = heads(torch::linear(x, wk, bk));
      v = heads(torch::linear(x, wv, bv));
    }
    const Tensor s = torch::matmul(q / std::sqrt(static_cast<double>(d)), k.transpose(-2, -1));
    const Tensor c = torch::matmul(torch::softmax(s, -1), v);
    torch::linear(c.transpose(1, 2).reshape({b, t, e}), wo, bo).sum().backward();
  };
  state.counters["growth"] = memory::growth_of(step);
  for (auto _ : state) step();
}

BENCHMARK_CAPTURE(attention, one_projection, Projections::one)->Apply(attention_shapes);
BENCHMARK_CAPTURE(attention, three_projections, Projections::three)->Apply(attention_shapes);

}  // namespace
