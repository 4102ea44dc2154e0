#pragma once

// A sentence as numbers: words, and a vector for each.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <microtape/microtape.hpp>

namespace sentence {

/// The words between spaces, at most `most`.
inline std::vector<std::string> words(const std::string& text, std::size_t most) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : text + ' ') {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      word += c;
    } else if (!word.empty()) {
      out.push_back(word);
      word.clear();
    }
  }
  if (out.size() > most) out.resize(most);
  return out;
}

/// A number that depends on every byte of the word (FNV-1a), the same on every machine.
inline std::uint64_t hash(const std::string& word) {
  std::uint64_t h = 14695981039346656037ull;
  for (const char c : word) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}

/// Row i: a standard normal vector of its own for each word, plus sines and cosines of the position
/// (Vaswani et al., "Attention Is All You Need", 2017, section 3.5), so that a word that stands
/// twice has two rows. -> [words, d], float64
inline microtape::Tensor embed(const std::vector<std::string>& words, microtape::Index d) {
  std::vector<double> x;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const microtape::Tensor word =
        microtape::Tensor::randn({d}, hash(words[i]), microtape::float64);
    for (microtape::Index j = 0; j < d; ++j) {
      const double angle = static_cast<double>(i) /
                           std::pow(1e4, static_cast<double>(j / 2 * 2) / static_cast<double>(d));
      x.push_back(word.at(j) + (j % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  }
  return microtape::Tensor::of(
      {static_cast<microtape::Index>(words.size()), d}, x, microtape::float64);
}

}  // namespace sentence
