// Tutorial 14: a GPT that learns to write like Newton, one character at a time.
//
//     loss = mean of -ln p(next character | characters so far)
//
// A model that knows nothing has the loss ln V, for V different characters. One that knows only
// which character follows which has the bigram entropy. The GPT looks further back and gets below.
// Every step: fill the tape, sweep it backwards, clear it, and change the parameters.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>

#include <CLI/CLI.hpp>

#include "support/checkpoint.hpp"
#include "support/corpus.hpp"
#include "support/gpt_run.hpp"
#include "support/loss_curve.hpp"
#include "support/progress.hpp"
#include "support/sampling.hpp"
#include "support/show.hpp"

using namespace microtape;
using checkpoint::Settings;
using gpt_run::Run;

namespace {

struct Options {
  Index steps = -1;  // in all, those before a resumption included; -1: up to the horizon
  std::string resume, text = MICROTAPE_DATA_DIR "/opticks.txt";
  std::filesystem::path checkpoint, out = "build/gpt";
  std::uint64_t seed = 1;
  std::string prompt = "The Rays ";
  double temperature = 0.8;
  bool brief = false;
};

volatile std::sig_atomic_t interrupted = 0;

/// The first Ctrl-C asks the loop to end; a second one ends the program.
void on_interrupt(int) {
  interrupted = 1;
  std::signal(SIGINT, SIG_DFL);
}

// --- before --------------------------------------------------------------------------------------

/// What must hold of a model that has learned nothing.
void check_start(Run& run, show::Verdict& verdict) {
  const corpus::Batch batch =
      corpus::random_batch(run.text().train, 0, 0, 4, run.settings().context);
  const auto [loss, g] = run.gradients(batch);
  const double ln_v = std::log(static_cast<double>(run.text().vocabulary.size()));
  std::printf("The loss before the first step is %.3f; ln V is %.3f.\n\n", loss, ln_v);
  verdict.add("before the first step the loss is near ln V", std::abs(loss - ln_v) < 0.3);

  bool finite = true;
  for (const Parameter& p : run.parameters())
    finite &= g.reached(p) && std::isfinite(sum(square(g[p])).item());
  verdict.add("every parameter has a finite gradient", finite);
  const Parameter& table = run.parameters().front();  // [V, width], embedding and head at once
  verdict.add(
      "so has the tied table of the tokens, and it is not 0", sum(square(g[table])).item() > 0);
  run.tape().clear();

  // Another last character must not change what was predicted before it.
  const Index length = run.settings().context;
  Tensor changed = batch.tokens;
  std::int64_t& last = changed.mutable_data<std::int64_t>().back();
  last = last == 0 ? 1 : 0;
  const auto before_last = [&](const Tensor& tokens) {
    return run.gpt()(tokens).value().slice(1, 0, length - 1).contiguous();
  };
  verdict.add("no prediction depends on what comes later",
      compare("", before_last(batch.tokens), before_last(changed), 1e-5).agrees);
}

// --- training ------------------------------------------------------------------------------------

void write_curve(const Run& run, double bigram, const std::filesystem::path& path) {
  loss_curve::Line validation;
  for (const double loss : run.history().validation)
    validation.push_back({static_cast<double>(validation.size()) *
                              static_cast<double>(run.settings().evaluate_every),
        loss});
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  if (!(file << loss_curve::draw(
            loss_curve::smoothed(run.history().train, 100), validation, bigram))
          .flush())
    throw FileError("14_gpt: cannot write " + path.string());
}

/// Steps until there are `total` or Ctrl-C comes; saves now and then, and at the end.
void train(Run& run, Index total, const std::filesystem::path& path) {
  using Milestone = progress::Bar::Milestone;
  progress::Bar bar(run.step(), total, run.settings().batch * run.settings().context);
  if (run.is_due()) run.evaluate();
  while (run.step() < total && !interrupted) {
    run.train_step();
    const bool is_due = run.is_due();
    if (is_due) run.evaluate();
    bar.show(run.step(), run.history().train.back(), run.history().validation.back(),
        is_due || run.step() == total ? Milestone::yes : Milestone::no);
    if (is_due) run.save(path);
  }
  bar.finish();
  run.save(path);
  if (interrupted) std::printf("Interrupted. To go on: --resume %s\n", path.c_str());
}

void print_sample(Run& run, const Options& options) {
  const std::string& vocabulary = run.text().vocabulary;
  std::string out;
  for (const std::int64_t token :
      sampling::continued(run.gpt(), corpus::encode(vocabulary, options.prompt),
          options.brief ? 40 : 400, options.temperature, split_seed(options.seed, 2)))
    out += vocabulary[static_cast<std::size_t>(token)];
  std::printf("\n%s\n", out.c_str());
}

// --- all of it -----------------------------------------------------------------------------------

Settings settings_of(const Options& options, const std::optional<checkpoint::Loaded>& loaded) {
  if (loaded) return loaded->settings;
  Settings settings;
  if (options.brief)
    settings = {.context = 16,
        .width = 16,
        .num_heads = 2,
        .depth = 1,
        .batch = 4,
        .horizon = 20,
        .evaluate_every = 5};
  settings.seed = static_cast<Index>(options.seed);
  return settings;
}

void describe(const corpus::Corpus& text, double bigram) {
  std::printf(
      "%zu characters to learn from, %zu held out, V = %zu different ones.\n"
      "Bigram entropy of the held-out text: %.3f nats per character (counts of pairs in the\n"
      "text to learn from, plus one each, say how likely the next character is).\n",
      text.train.size(), text.validation.size(), text.vocabulary.size(), bigram);
}

/// The end of a run: its loss on held-out text, and a sample. @return the exit status
int conclude(Run& run, double bigram, const Options& options, show::Verdict& verdict) {
  const double validation = run.validation_loss();
  std::printf("Validation loss: %.3f; bigram entropy: %.3f.\n\n", validation, bigram);
  verdict.add("the loss on held-out text is finite", std::isfinite(validation));
  const Index horizon = run.settings().horizon;
  const bool is_complete = horizon >= Settings().horizon && run.step() >= horizon;
  if (is_complete) verdict.add("it is below the bigram entropy", validation < bigram);
  print_sample(run, options);
  return verdict.conclude(is_complete ? "the GPT has learned" : "the run may go on");
}

int learn(const Options& options) {
  std::optional<checkpoint::Loaded> loaded;
  if (!options.resume.empty()) loaded = checkpoint::load(options.resume);
  const Settings settings = settings_of(options, loaded);
  Run run(settings, corpus::read(options.text, settings.vocabulary,
                        static_cast<std::size_t>(settings.context) + 1));
  corpus::encode(run.text().vocabulary, options.prompt);  // refuse a prompt before the work

  const double bigram = corpus::bigram_entropy(run.text());
  describe(run.text(), bigram);
  show::Verdict verdict;
  if (loaded) {
    run.load(*loaded);
    std::printf("Going on after step %lld.\n\n", static_cast<long long>(run.step()));
  } else {
    check_start(run, verdict);
    std::printf("\n");
  }

  const std::filesystem::path& out = options.out;
  train(run, options.steps < 0 ? settings.horizon : options.steps,
      options.checkpoint.empty() ? out / "gpt.safetensors" : options.checkpoint);
  write_curve(run, bigram, out / "loss.svg");
  std::printf("Written: %s\n", (out / "loss.svg").c_str());
  if (interrupted) return verdict.conclude("the rest was not run");
  return conclude(run, bigram, options, verdict);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Trains a small GPT on a text, character by character, and lets it write.");
  app.add_option("--steps", options.steps, "Steps in all, with those before --resume")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--resume", options.resume, "Go on from this checkpoint, with its sizes and seed");
  app.add_option("--checkpoint", options.checkpoint, "Where to save (else OUT/gpt.safetensors)");
  app.add_option("--out", options.out, "Folder for loss.svg")->capture_default_str();
  app.add_option("--text", options.text, "A text file to learn from");
  app.add_option("--seed", options.seed, "Of the parameters, the batches and the sample")
      ->capture_default_str();
  app.add_option("--prompt", options.prompt, "How the sample begins")->capture_default_str();
  app.add_option("--temperature", options.temperature, "0: the likeliest character each time")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--brief", options.brief, "A tiny model and a few steps, to see that all works");
  CLI11_PARSE(app, argc, argv);

  std::signal(SIGINT, on_interrupt);
  try {
    if (options.prompt.empty()) throw ValueError("14_gpt: the prompt is empty; give a character");
    return learn(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "14_gpt: %s\n", error.what());
    return 1;
  }
}
