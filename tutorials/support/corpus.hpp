#pragma once

// A text as a language model needs it: numbered characters, a part to learn from and a part held
// out, batches, and the entropy of a simple model to compare with.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <microtape/microtape.hpp>

namespace corpus {

using microtape::Index;
using microtape::Tensor;

/// Tokens, and for each of them the token that follows. Both [B, T] int64.
struct Batch {
  Tensor tokens;
  Tensor next;
};

using Tokens = std::vector<std::int64_t>;

struct Corpus {
  std::string vocabulary;  ///< each character once, in order; its place is its token
  Tokens train;            ///< the first nine tenths
  Tokens validation;       ///< the rest
};

/// @throws ValueError that names the character if one is not in the vocabulary
inline Tokens encode(const std::string& vocabulary, const std::string& text) {
  Tokens out;
  for (const char c : text) {
    const std::size_t token = vocabulary.find(c);
    if (token == std::string::npos)
      throw microtape::ValueError(
          std::string("14_gpt: no such token: '") + c + "'; use characters that the text has");
    out.push_back(static_cast<std::int64_t>(token));
  }
  return out;
}

/// @param vocabulary  as a checkpoint has it; empty: the characters of the text
/// @throws FileError if the file cannot be read; ValueError if it is too short to be split
inline Corpus read(
    const std::filesystem::path& path, std::string vocabulary, std::size_t least_tokens) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw microtape::FileError("14_gpt: cannot read " + path.string());
  if (text.size() / 10 < least_tokens)
    throw microtape::ValueError("14_gpt: the text is too short: " + std::to_string(text.size()) +
                                " characters; needs " + std::to_string(10 * least_tokens));
  if (vocabulary.empty()) {
    vocabulary = text;
    std::sort(vocabulary.begin(), vocabulary.end());
    vocabulary.erase(std::unique(vocabulary.begin(), vocabulary.end()), vocabulary.end());
  }
  const std::size_t held_out = text.size() - text.size() / 10;
  return {vocabulary, encode(vocabulary, text.substr(0, held_out)),
      encode(vocabulary, text.substr(held_out))};
}

/// The windows of `length` tokens that begin at `starts`. -> [starts, length]
inline Batch windows(const Tokens& tokens, const std::vector<std::size_t>& starts, Index length) {
  const microtape::Shape shape{static_cast<Index>(starts.size()), length};
  Batch batch{Tensor::uninitialized(shape, microtape::int64),
      Tensor::uninitialized(shape, microtape::int64)};
  auto token = batch.tokens.mutable_data<std::int64_t>().begin();
  auto next = batch.next.mutable_data<std::int64_t>().begin();
  for (const std::size_t start : starts) {
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(start);
    token = std::copy_n(first, length, token);
    next = std::copy_n(first + 1, length, next);
  }
  return batch;
}

/// Batch number `step`: `count` windows from random places. A function of (seed, step) alone, so
/// that a run which goes on later sees the same batches.
inline Batch random_batch(
    const Tokens& tokens, std::uint64_t seed, Index step, Index count, Index length) {
  const auto room = static_cast<double>(tokens.size() - static_cast<std::size_t>(length));
  std::vector<std::size_t> starts;
  for (Index i = 0; i < count; ++i) {
    const auto counter = static_cast<std::uint64_t>(step * count + i);
    starts.push_back(static_cast<std::size_t>(microtape::random_uniform(seed, counter) * room));
  }
  return windows(tokens, starts, length);
}

/// What the best guess from the last character alone would reach, in nats a character: the mean of
/// -ln p(next | last) over `validation`, with p = (pairs + 1) / (firsts + V) counted in `train`
/// (one is added to each pair, so that a pair never seen is not impossible).
inline double bigram_entropy(const Corpus& text) {
  const std::size_t v = text.vocabulary.size();
  std::vector<double> pairs(v * v, 1), firsts(v, static_cast<double>(v));
  const auto at = [](const Tokens& tokens, std::size_t i) {
    return static_cast<std::size_t>(tokens[i]);
  };
  for (std::size_t i = 0; i + 1 < text.train.size(); ++i) {
    ++pairs[at(text.train, i) * v + at(text.train, i + 1)];
    ++firsts[at(text.train, i)];
  }
  double sum = 0;
  for (std::size_t i = 0; i + 1 < text.validation.size(); ++i) {
    const std::size_t last = at(text.validation, i);
    sum -= std::log(pairs[last * v + at(text.validation, i + 1)] / firsts[last]);
  }
  return sum / static_cast<double>(text.validation.size() - 1);
}

}  // namespace corpus
