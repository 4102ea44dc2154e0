#include <microtape/layers/transformer.hpp>

#include <microtape/core/format.hpp>

namespace microtape {

TransformerBlock::TransformerBlock(
    Index width, Index num_heads, double dropout, bool causal, const LayerOptions& options)
    : Layer(options, "block"),
      ln1_(width, part_options(options, "ln1", 0)),
      attention_(width, num_heads, dropout, causal, part_options(options, "attention", 1)),
      ln2_(width, part_options(options, "ln2", 2)),
      mlp_(width, 4 * width, width, part_options(options, "mlp", 3)),
      dropout_(dropout, part_options(options, "dropout", 4)) {}

Var TransformerBlock::operator()(const Var& x) {
  const auto scope = enter(x);
  const Var attended = x + dropout_(attention_(ln1_(x)));  // [B, T, width]
  return attended + dropout_(mlp_(ln2_(attended)));        // [B, T, width]
}

Gpt::Gpt(const GptOptions& sizes, const LayerOptions& options)
    : Layer(options, "gpt"),
      sizes_(sizes),
      tokens_(sizes.vocabulary, sizes.width, part_options(options, "tokens", 0)),
      positions_(
          sizes.context, sizes.width, Positions::learned, part_options(options, "positions", 1)),
      ln_(sizes.width, part_options(options, "ln", 2)) {
  if (sizes.depth < 1)
    throw ValueError(cat("Gpt: no blocks: depth ", sizes.depth, "; needs depth >= 1"));
  for (Index i = 0; i < sizes.depth; ++i)
    blocks_.push_back(
        std::make_unique<TransformerBlock>(sizes.width, sizes.num_heads, sizes.dropout, true,
            part_options(options, cat("block", i), static_cast<std::uint64_t>(3 + i))));
}

Var Gpt::operator()(const Var& tokens) {
  const auto scope = enter(tokens);
  in_scope_of(tokens, [&] {
    if (tokens.rank() != 2 || tokens.shape()[1] > sizes_.context)
      throw ShapeError(cat("Gpt: the tokens do not fit: tokens ", tokens.shape(),
          "; they must be [B, T] with T <= ", sizes_.context));
  });
  Var h = positions_(tokens_(tokens));  // [B, T, width]
  for (const std::unique_ptr<TransformerBlock>& block : blocks_) h = (*block)(h);
  const Var normed = ln_(h);
  return matmul_nt(
      normed, watch(tokens, tokens_.weight()));  // [B, T, width] [V, width]^T -> [B, T, V]
}

std::vector<Member> Gpt::members() {
  std::vector<Member> out{tokens_, positions_};
  for (const std::unique_ptr<TransformerBlock>& block : blocks_) out.push_back(*block);
  out.push_back(ln_);
  return out;
}

}  // namespace microtape
