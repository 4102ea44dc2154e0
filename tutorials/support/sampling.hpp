#pragma once

// Text from a language model, one token after another.

#include <cmath>

#include <microtape/layers/transformer.hpp>

#include "corpus.hpp"

namespace sampling {

using corpus::Tokens;
using microtape::Index;
using microtape::Tensor;

/// Token number `n` of the sample `seed`: i with probability proportional to
/// exp(logits[i] / temperature); at temperature 0 the likeliest.
inline std::int64_t draw(
    std::span<const float> logits, double temperature, std::uint64_t seed, std::uint64_t n) {
  const auto most = std::max_element(logits.begin(), logits.end());
  if (temperature == 0) return most - logits.begin();
  std::vector<double> weights;
  double total = 0;
  for (const float x : logits) {
    weights.push_back(std::exp((double{x} - double{*most}) / temperature));
    total += weights.back();
  }
  // Walk along the weights until a random share of their sum is used up.
  double left = microtape::random_uniform(seed, n) * total;
  std::size_t i = 0;
  while (i + 1 < weights.size() && (left -= weights[i]) >= 0) ++i;
  return static_cast<std::int64_t>(i);
}

/// Appends `count` tokens to `tokens` (at least one), each drawn after the model has read as many
/// of those before as its context holds.
inline Tokens continued(
    microtape::Gpt& gpt, Tokens tokens, Index count, double temperature, std::uint64_t seed) {
  for (Index n = 0; n < count; ++n) {
    const auto size = static_cast<Index>(tokens.size());
    const Index length = std::min(size, gpt.sizes().context);
    Tensor window = Tensor::uninitialized({1, length}, microtape::int64);
    std::copy(tokens.end() - length, tokens.end(), window.mutable_data<std::int64_t>().begin());
    const Tensor logits =
        gpt(window).value().slice(1, length - 1, length).contiguous();  // [1, 1, V]
    tokens.push_back(draw(logits.data<float>(), temperature, seed, static_cast<std::uint64_t>(n)));
  }
  return tokens;
}

}  // namespace sampling
