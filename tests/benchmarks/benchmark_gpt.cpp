// A training step of a small GPT: forward, backward and AdamW. peers/torch_gpt.py does the same.

#include <benchmark/benchmark.h>
#include <microtape/microtape.hpp>

using namespace microtape;

namespace {

void gpt_step(benchmark::State& state) {
  const Index batch = state.range(0);
  Gpt model({.vocabulary = 64, .context = 64, .width = 64, .num_heads = 4, .depth = 4});
  AdamW optimizer(model.parameters(), {.learning_rate = 1e-3});
  const Tensor tokens = Tensor::full({batch, 64}, 3, int64);
  MicroTape tape(Keep::needed);
  for (auto _ : state) {
    const Var logits = model(tape.constant(tokens));
    const Gradients gradients = backward(cross_entropy(logits, Var(tokens)));
    tape.clear();
    optimizer.step(gradients);
  }
}
BENCHMARK(gpt_step)->Arg(1)->Arg(16)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
