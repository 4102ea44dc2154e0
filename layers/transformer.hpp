#pragma once

#include <microtape/layers/attention.hpp>
#include <microtape/layers/embedding.hpp>
#include <microtape/layers/layer_norm.hpp>
#include <microtape/layers/mlp.hpp>

namespace microtape {

/// A block of a transformer, with the normalization first ("pre-norm"): x + attention(norm(x)),
/// then x + mlp(norm(x)). The hidden layer of the MLP is four times as wide. Source: Radford et
/// al., "Language Models are Unsupervised Multitask Learners" (GPT-2), 2019, section 2.3 (layer
/// normalization moved to the input of each sub-block).
class TransformerBlock : public Layer {
 public:
  /// @throws ValueError as MultiHeadAttention
  TransformerBlock(Index width, Index num_heads, double dropout = 0, bool causal = true,
      const LayerOptions& options = {});

  /// x [B, T, width] -> same shape
  Var operator()(const Var& x) override;
  std::vector<Member> members() override { return {ln1_, attention_, ln2_, mlp_, dropout_}; }

 private:
  LayerNorm ln1_;
  MultiHeadAttention attention_;
  LayerNorm ln2_;
  Mlp mlp_;
  Dropout dropout_;  // of what each half adds
};

/// The sizes of a Gpt.
struct GptOptions {
  Index vocabulary = 256;  ///< number of tokens
  Index context = 64;      ///< most tokens in a row
  Index width = 64;        ///< numbers a token
  Index num_heads = 4;     ///< of the attention of each block
  Index depth = 2;         ///< number of blocks
  double dropout = 0;      ///< of P, and of what each half of a block adds
};

/// A small GPT: tokens and positions embedded, causal blocks, a last normalization, and a head that
/// shares the table of the tokens (tied): logits = h W_E^T.
/// Source: Radford et al., 2019, section 2.3.
class Gpt : public Layer {
 public:
  /// @throws ValueError if a size is below 1, num_heads does not divide width, or dropout lies
  ///         outside [0, 1)
  explicit Gpt(const GptOptions& sizes, const LayerOptions& options = {});

  /// tokens [B, T] int64, T <= context -> logits [B, T, vocabulary]
  /// @throws ShapeError if the rank is not 2 or T too large; DTypeError unless int64; IndexError if
  ///         a token is not in the vocabulary
  Var operator()(const Var& tokens) override;
  std::vector<Member> members() override;

  /// As it was made.
  const GptOptions& sizes() const { return sizes_; }

 private:
  GptOptions sizes_;
  Embedding tokens_;
  PositionalEncoding positions_;
  std::vector<std::unique_ptr<TransformerBlock>> blocks_;
  LayerNorm ln_;
};

}  // namespace microtape
