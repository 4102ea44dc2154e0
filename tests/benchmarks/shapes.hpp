#pragma once

#include <benchmark/benchmark.h>

/// The shapes B, T, E, H of attention that are measured, ours and theirs.
inline void attention_shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({4, 32, 64, 4})
      ->Args({8, 128, 256, 8})
      ->Args({4, 512, 512, 8})
      ->Args({1, 1024, 768, 12})
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}
