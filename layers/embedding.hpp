#pragma once

#include <microtape/layers/layer.hpp>

namespace microtape {

/// A table with a row of numbers for each of `count` tokens.
class Embedding : public Layer {
 public:
  /// The table, "weight" [count, width], is normal with mean 0 and this deviation.
  /// @throws ValueError unless count and width are 1 or more and the deviation is not negative
  Embedding(Index count, Index width, const LayerOptions& options = {}, double deviation = 0.02);

  /// tokens [..] int64 -> [.., width]
  /// @throws DTypeError unless they are int64; IndexError if one is not in 0 .. count - 1
  Var operator()(const Var& tokens) override;
  std::vector<Member> members() override { return {weight_}; }

  /// The table; a head can tie itself to it.
  const Parameter& weight() const { return weight_; }

 private:
  Parameter weight_;  // [count, width]
};

/// What tells positions apart: fixed sines and cosines, or rows that are learned.
enum class Positions { sinusoidal, learned };

/// y = x + the rows of the first T positions.
/// Source of the sinusoids: Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.5:
/// column 2 i is sin(t / 10000^(2 i / width)), column 2 i + 1 the cosine.
class PositionalEncoding : public Layer {
 public:
  /// Learned rows, "weight" [length, width], start normal with deviation 0.02.
  /// @throws ValueError unless length and width are 1 or more
  PositionalEncoding(Index length, Index width, Positions kind, const LayerOptions& options = {});

  /// x [.., T, width], T <= length -> same shape
  /// @throws ShapeError if T is larger, or the width differs; DTypeError
  Var operator()(const Var& x) override;
  std::vector<Member> members() override;

 private:
  Positions kind_;
  Parameter rows_;  // [length, width]
};

}  // namespace microtape
