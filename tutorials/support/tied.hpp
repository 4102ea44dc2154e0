#pragma once

// A very small GPT in float64 on a tape that keeps everything, and the gradient of its table of
// tokens, W_E, which it uses twice: to embed, and to score.

#include <string>

#include "corpus.hpp"
#include "heads.hpp"
#include "views.hpp"

namespace tied {

using closed_form::Matrix;
using microtape::Index;
using microtape::NodeId;
using microtape::Sweep;
using microtape::Tensor;
using microtape::Var;

/// The first node of an op. @throws microtape::ValueError if there is none
inline Var find_op(microtape::MicroTape& tape, const std::string& op) {
  for (NodeId id = 0; id < tape.size(); ++id)
    if (tape.node(id).op() == op) return tape.var(id);
  throw microtape::ValueError("find_op: the tape has no " + op);
}

/// One batch on the tape, swept, and what came back to W_E along each of its uses.
struct Run {
  explicit Run(const corpus::Corpus& text)
      : batch(corpus::random_batch(text.train, 0, 0, 2, 8)),
        gpt({.vocabulary = static_cast<Index>(text.vocabulary.size()),
                .context = 8,
                .width = 8,
                .num_heads = 2,
                .depth = 2},
            {.dtype = microtape::float64}) {
    while (!sweep.done()) {
      const Sweep::Step step = sweep.step();
      for (const Sweep::Contribution& c : step.contributions)
        if (c.edge->input() == W_E.node())
          (step.node == E.node() ? by_embedding : by_scoring) = c.value.value();
    }
  }
  corpus::Batch batch;
  microtape::Gpt gpt;
  microtape::MicroTape tape;
  Var L = gpt(tape.constant(batch.tokens, "tokens")).named("L");  // [B, T, V]
  Var loss = cross_entropy(L, tape.constant(batch.next, "next")).named("loss");
  Var W_E = heads::find(tape, "W_E");                                        // [V, width]
  Var E = find_op(tape, "embedding").named("E");                             // [B, T, width]
  Var H = tape.var(tape.node(L.node()).edges().front().input()).named("H");  // [B, T, width]
  Sweep sweep{loss, Tensor::of(1, microtape::float64)};
  Tensor by_embedding, by_scoring;  // [V, width]
};

/// All leading axes as rows. [.., n] -> a matrix of n columns
inline Matrix rows(const Tensor& x) {
  return heads::matrix(x.reshape({x.size() / x.extent(-1), x.extent(-1)}), 0);
}

/// Both contributions to dW_E by plain loops, and the loss.
struct ByHand {
  double loss = 0;
  Matrix by_embedding, by_scoring;
};

/// @param L, H  the scores, and the rows that were scored; dE: the adjoint of what was embedded
//! [by hand]
inline ByHand by_hand(const Matrix& L, const Matrix& H, const Matrix& dE,
    std::span<const std::int64_t> tokens, std::span<const std::int64_t> next) {
  const double n = static_cast<double>(tokens.size());
  Matrix dL = closed_form::softmax(L), embedding(L.columns, H.columns);
  double loss = 0;
  for (std::size_t i = 0; i < L.rows; ++i) {
    const auto right = static_cast<std::size_t>(next[i]);
    loss -= std::log(dL(i, right)) / n;
    dL(i, right) -= 1;
    // What came back to row i belongs to the row of W_E that was copied there.
    for (std::size_t j = 0; j < H.columns; ++j)
      embedding(static_cast<std::size_t>(tokens[i]), j) += dE(i, j);
  }
  for (double& number : dL.numbers) number /= n;
  return {loss, embedding, closed_form::product(closed_form::transposed(dL), H)};
}
//! [by hand]

/// Holds the tape against the closed form, prints its equation, and writes its views.
inline void check(const std::string& out, const corpus::Corpus& text, show::Verdict& verdict) {
  Run run(text);
  const microtape::Gradients d = run.sweep.gradients();
  const ByHand expected = by_hand(rows(run.L.value()), rows(run.H.value()), rows(d[run.E].value()),
      run.batch.tokens.data<std::int64_t>(), run.batch.next.data<std::int64_t>());
  const std::string equations = microtape::to_text(microtape::derivation(run.tape, run.loss));
  std::printf(
      "One table, two uses. The last equation that the tape of a tiny GPT writes:\n\n%s\n"
      "Both terms, and the loss, by plain loops beside the tape:\n\n",
      equations.substr(equations.rfind("dW_E = ")).c_str());
  const auto row = [](const char* name, const Tensor& x, const Matrix& m) {
    return microtape::compare(name, x, Tensor::of(x.shape(), m.numbers, microtape::float64), 1e-12);
  };
  verdict.add({microtape::compare("loss = mean(-ln p)", run.loss.value(),
                   Tensor::of(expected.loss, microtape::float64), 1e-12),
      row("dW_E, by embedding", run.by_embedding, expected.by_embedding),
      row("dW_E, by scoring", run.by_scoring, expected.by_scoring),
      row("dW_E, their sum", d[run.W_E].value(),
          closed_form::sum(expected.by_embedding, expected.by_scoring))});
  views::write(out, "gpt", run.tape, run.sweep, run.loss, {.title = "A GPT, and its tied table"});
  views::write_graph(out, "gpt.folded",
      to_dot(run.tape, &run.sweep, {.unfold = 1, .fold_repeats = microtape::Fold::yes}));
}

}  // namespace tied
