// A tape of a million nodes: how long it takes, and how many bytes a node takes on it.

#include <benchmark/benchmark.h>
#include <microtape/microtape.hpp>

#include "memory.hpp"

using namespace microtape;

namespace {

constexpr int kNodes = 1'000'000;

/// y = step(y), a million times, on numbers.
template <class Step>
void million(benchmark::State& state, Step step) {
  double bytes = 0;
  for (auto _ : state) {
    MicroTape tape(Keep::needed);
    const double before = memory::resident();
    const Var x = tape.leaf(Tensor::full({}, 0.5));
    Var y = x;
    for (int i = 0; i < kNodes; ++i) y = step(y);
    bytes = memory::resident() - before;
    benchmark::DoNotOptimize(backward(y)[x].value());
  }
  state.counters["bytes_a_node"] = bytes / kNodes;
}
// add keeps a node, an edge and the number; tanh a node, an edge and its value, for the rule.
BENCHMARK_CAPTURE(million, add, [](const Var& y) {
  return y + 1e-6;
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(million, tanh, [](const Var& y) {
  return tanh(y);
})->Unit(benchmark::kMillisecond);

}  // namespace
