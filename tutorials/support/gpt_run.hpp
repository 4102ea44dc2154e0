#pragma once

// A GPT, the text it reads, and a step of its training.

#include <filesystem>

#include <microtape/layers/optim/optimizer.hpp>
#include <microtape/layers/transformer.hpp>

#include "checkpoint.hpp"
#include "corpus.hpp"

namespace gpt_run {

using namespace microtape;

/// A model and everything that changes while it learns.
class Run {
 public:
  Run(const checkpoint::Settings& settings, corpus::Corpus text)
      : settings_(settings),
        text_(std::move(text)),
        gpt_({.vocabulary = static_cast<Index>(text_.vocabulary.size()),
                 .context = settings.context,
                 .width = settings.width,
                 .num_heads = settings.num_heads,
                 .depth = settings.depth},
            {.seed = static_cast<std::uint64_t>(settings.seed)}),
        parameters_(gpt_.parameters()),
        optimizer_(parameters_) {
    settings_.vocabulary = text_.vocabulary;
  }

  Index step() const { return static_cast<Index>(history_.train.size()); }
  const checkpoint::History& history() const { return history_; }
  Gpt& gpt() { return gpt_; }

  /// The loss on a batch, and its gradients, leaving the tape as the sweep left it.
  std::pair<double, Gradients> gradients(const corpus::Batch& batch) {
    const Var logits = gpt_(tape_.constant(batch.tokens, "tokens"));  // [B, T, V]
    const Var loss = cross_entropy(logits, batch.next);
    return {loss.item(), backward(loss)};
  }

  /// One step: backward, clear, change.
  //! [step]
  void train_step() {
    const corpus::Batch batch =
        corpus::random_batch(text_.train, split_seed(static_cast<std::uint64_t>(settings_.seed), 1),
            step(), settings_.batch, settings_.context);
    const auto [loss, g] = gradients(batch);
    tape_.clear();
    // The rate depends on the step alone, not on --steps: two halves of a run are the whole.
    optimizer_.set_learning_rate(cosine_schedule(step(), {.peak = 4e-3,
                                                             .floor = 2e-4,
                                                             .warm_up = settings_.horizon / 20,
                                                             .total = settings_.horizon}));
    optimizer_.step(g, clip_factor(g, parameters_, 1.0));
    history_.train.push_back(loss);
  }
  //! [step]

  /// The mean loss over the held-out text, in windows beside each other; nothing is recorded.
  double validation_loss() {
    const auto length = static_cast<std::size_t>(settings_.context);
    double sum = 0, count = 0;
    std::vector<std::size_t> starts;
    for (std::size_t at = 0; at + length < text_.validation.size(); at += length) {
      starts.push_back(at);
      if (starts.size() < 16 && at + 2 * length < text_.validation.size()) continue;
      const corpus::Batch batch = corpus::windows(text_.validation, starts, settings_.context);
      const auto n = static_cast<double>(starts.size());
      sum += n * cross_entropy(gpt_(batch.tokens), batch.next).item();
      count += n;
      starts.clear();
    }
    return sum / count;
  }

  /// Whether the validation loss is due: at round numbers of steps, wherever the run was cut.
  bool is_due() const {
    return step() == static_cast<Index>(history_.validation.size()) * settings_.evaluate_every;
  }
  double evaluate() { return history_.validation.emplace_back(validation_loss()); }

  void save(const std::filesystem::path& path) {
    checkpoint::save(path, settings_, history_, gpt_.state_dict(), optimizer_.state_dict());
  }
  void load(const checkpoint::Loaded& from) {
    gpt_.load_state_dict(from.model);
    optimizer_.load_state_dict(from.optimizer);
    history_ = from.history;
  }

  const checkpoint::Settings& settings() const { return settings_; }
  const corpus::Corpus& text() const { return text_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  MicroTape& tape() { return tape_; }

 private:
  checkpoint::Settings settings_;
  corpus::Corpus text_;
  Gpt gpt_;
  std::vector<Parameter> parameters_;
  AdamW optimizer_;
  MicroTape tape_{Keep::needed};  // cleared and filled again, so that its memory is reused
  checkpoint::History history_;
};

}  // namespace gpt_run
