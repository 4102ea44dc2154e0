#pragma once

#include <microtape/layers/dropout.hpp>
#include <microtape/layers/linear.hpp>

namespace microtape {

/// Attention with several heads: per head S = Q K^T / sqrt(d), P = softmax(S + M), C = P V, where
/// d = embed / num_heads; the heads merged and mapped once more.
///
/// Everything is composed from ops, so every gradient is on the tape. The scores take B H Tq Tk
/// numbers: this is not FlashAttention.
///
/// Source: Vaswani et al., "Attention Is All You Need", NeurIPS 2017, sections 3.2.1 and 3.2.2.
class MultiHeadAttention : public Layer {
 public:
  /// @param embed      E, the width of inputs and output; divisible by num_heads
  /// @param num_heads  H, at least 1
  /// @param dropout    0 <= dropout < 1, on P while training
  /// @param causal     adds -1e9 above the diagonal of the scores, together with a mask if there
  ///                   is one
  /// @param options    the four projections get seeds of their own from options.seed
  /// @throws ValueError if one of them is out of range
  MultiHeadAttention(Index embed, Index num_heads, double dropout = 0, bool causal = false,
      const LayerOptions& options = {});

  /// Self-attention. x [B, T, E] -> [B, T, E]
  Var operator()(const Var& x) override { return (*this)(x, x, x); }
  /// Attention of queries to keys and values. If one of them is on a tape, plain ones join it as
  /// constants.
  /// @param query  [B, Tq, E]
  /// @param key    [B, Tk, E]
  /// @param value  [B, Tk, E]
  /// @param mask   nothing, or [Tq, Tk] of the inputs' dtype, which is added to the scores: 0
  ///               allows, a large negative number suppresses. Not boolean. A row of -1e9
  ///               throughout is finite: in float64 it is the softmax of the scores, in float32
  ///               uniform.
  /// @return       [B, Tq, E]
  /// @throws ShapeError if shapes do not fit, also causal with Tq != Tk; DTypeError; ValueError if
  ///         a row of the mask leaves no key (-inf at all that is allowed), or holds NaN or +inf
  Var operator()(const Var& query, const Var& key, const Var& value, const Var& mask = {});

  using Layer::forward;
  /// On Tensors; see operator(). Self-attention if all three are one C++ object: backward() then
  /// returns dq + dk + dv. Otherwise, also if two of them are one object, backward() returns dq,
  /// and grad_key_input(), grad_value_input() hold dk and dv.
  Tensor forward(
      const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask = nullptr);

  /// dk of the last backward(). If key and value came from one memory, the caller adds dv to it.
  /// @throws TapeError if there was none, or it was not of cross attention
  const Tensor& grad_key_input() const { return cross_gradient(1, "grad_key_input"); }
  /// dv of the last backward(). @throws as grad_key_input()
  const Tensor& grad_value_input() const { return cross_gradient(2, "grad_value_input"); }

  /// P of the last call, before dropout. -> [B, H, Tq, Tk], every row sums to 1
  /// @throws TapeError if there was no call, or the last one failed
  const Tensor& weights() const;

  std::vector<Member> members() override {
    return {q_proj_, k_proj_, v_proj_, out_proj_, dropout_};
  }

 protected:
  /// PyTorch packs the first three: in_proj_weight [3 E, E] and in_proj_bias [3 E], rows q, k, v.
  TensorMap with_own_names(TensorMap state, const std::string& prefix) const override;

 private:
  void check(const Var& query, const Var& key, const Var& value, const Var& mask) const;
  void check_mask(const Tensor& mask, Index queries, Index keys, DType dtype) const;
  void check_rows(const Tensor& mask) const;
  Var heads(const Var& x) const;
  Var merge(const Var& c) const;
  Var additive_mask(const Var& on_tape, Index keys, const Var& mask) const;
  const Tensor& cross_gradient(std::size_t input, std::string_view op) const;

  Index embed_;
  Index num_heads_;
  bool causal_;
  Linear q_proj_, k_proj_, v_proj_, out_proj_;
  Dropout dropout_;
  Tensor weights_;
};

}  // namespace microtape
