// Self-attention, forward and backward: loss = sum, float32, the gradients of x and of all
// parameters, through the public interface on a Keep::needed tape that is cleared and reused.
// peers/torch_attention.py does the same with PyTorch.

#include <benchmark/benchmark.h>
#include <microtape/microtape.hpp>

#include "memory.hpp"
#include "shapes.hpp"

using namespace microtape;

namespace {

void attention(benchmark::State& state) {
  const Index b = state.range(0), t = state.range(1), e = state.range(2), h = state.range(3);
  MultiHeadAttention layer(e, h);
  const Tensor data = Tensor::randn({b, t, e}, 1);
  MicroTape tape(Keep::needed);
  const auto step = [&] {
    const Var x = tape.leaf(data);
    benchmark::DoNotOptimize(backward(sum(layer(x)))[x].value());
    tape.clear();
  };
  state.counters["growth"] = memory::growth_of(step);
  for (auto _ : state) step();
}
BENCHMARK(attention)->Apply(attention_shapes);

}  // namespace
