#pragma once

// Handwritten digits: a file of them, batches for a network, pictures for a terminal.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <microtape/microtape.hpp>

namespace digits {

using microtape::Index;
using microtape::Tensor;

inline constexpr std::size_t kSide = 8, kPixels = kSide * kSide;
inline constexpr double kInk = 16;  // the darkest pixel

/// One image, row by row, each pixel 0 .. 16; and the digit that it is.
struct Digit {
  std::array<double, kPixels> pixels;
  int label;
};

/// Numbers as a network takes them.
struct Batch {
  Tensor X;       // [n, 64] float64, 0 .. 1
  Tensor labels;  // [n] int64
};

/// A line of the file: 64 pixels and a label, with commas between.
/// @return whether it is one
inline bool parse(const std::string& line, Digit& digit) {
  std::istringstream in(line);
  char comma = 0;
  for (double& pixel : digit.pixels)
    if (!(in >> pixel >> comma) || comma != ',' || !(pixel >= 0 && pixel <= kInk)) return false;
  return in >> digit.label && digit.label >= 0 && digit.label <= 9 && (in >> std::ws).eof();
}

/// All digits of a file. @throws microtape::FileError if it cannot be read, or a line is not a
/// digit
inline std::vector<Digit> read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw microtape::FileError("digits: cannot open " + path);
  std::vector<Digit> all;
  for (std::string line; std::getline(file, line);) {
    all.emplace_back();
    if (!parse(line, all.back()))
      throw microtape::FileError("digits: " + path + ": line " + std::to_string(all.size()) +
                                 " is not a digit; needs 64 numbers 0 .. 16 and a label 0 .. 9");
  }
  return all;
}

/// The same digits in an order that depends on the seed alone (Fisher and Yates).
inline std::vector<Digit> shuffled(std::vector<Digit> all, std::uint64_t seed) {
  for (std::size_t left = all.size(); left > 1; --left) {
    const double u = microtape::random_uniform(seed, left);
    std::swap(all[left - 1], all[static_cast<std::size_t>(u * static_cast<double>(left))]);
  }
  return all;
}

/// Digits first .. last - 1; fewer if there are not so many.
inline Batch batch(const std::vector<Digit>& all, std::size_t first, std::size_t last) {
  std::vector<double> pixels, labels;
  for (std::size_t i = first; i < std::min(last, all.size()); ++i) {
    for (const double pixel : all[i].pixels) pixels.push_back(pixel / kInk);
    labels.push_back(all[i].label);
  }
  const Index n = static_cast<Index>(labels.size());
  return {Tensor::of({n, kPixels}, pixels, microtape::float64),
      Tensor::of({n}, labels, microtape::int64)};
}

/// "a 7", "an 8"
inline std::string called(int digit) { return (digit == 8 ? "an " : "a ") + std::to_string(digit); }

/// One row of an image: two characters a pixel, in five shades.
inline std::string shaded(const Digit& image, std::size_t row) {
  static constexpr std::array<const char*, 5> shades{"  ", "░░", "▒▒", "▓▓", "██"};
  std::string line;
  for (std::size_t column = 0; column < kSide; ++column) {
    const double pixel = image.pixels[row * kSide + column];
    line += shades[static_cast<std::size_t>(pixel / kInk * 4 + 0.5)];
  }
  return line;
}

/// Prints images side by side, three in a line, a caption above each.
inline void print(const std::vector<Digit>& images, const std::vector<std::string>& captions) {
  for (std::size_t first = 0; first < images.size(); first += 3) {
    const std::size_t last = std::min(first + 3, images.size());
    for (std::size_t i = first; i < last; ++i)
      std::printf("  %-*s", i + 1 < last ? 22 : 0, captions[i].c_str());
    std::printf("\n");
    for (std::size_t row = 0; row < kSide; ++row) {
      for (std::size_t i = first; i < last; ++i)
        std::printf("%s|%s|", i == first ? "  " : "      ", shaded(images[i], row).c_str());
      std::printf("\n");
    }
    std::printf("\n");
  }
}

}  // namespace digits
