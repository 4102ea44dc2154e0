// Tutorial 14: a GPT that learns to write like Newton, one character at a time.
//
//     loss = mean of -ln p(next character | characters so far)
//
// A model that knows nothing has the loss ln V, for V different characters. One that knows only
// which character follows which has the bigram entropy. The GPT looks further back and gets below.
// Every step: fill the tape, sweep it backwards, clear it, and change the parameters.
//
// One table W_E embeds the characters, E = rows(W_E, tokens), and scores them, L = H W_E^T. Its
// gradient is the sum of both uses: dW_E = dL^T H, and to row t is added dE wherever token t stood.
//
// Try this: write 1 for 64 in context, in support/checkpoint.hpp. The GPT sees one character, as
// the bigram counts do. It learns in seconds, but does not get below their entropy: a check fails.
//
// Sources: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019,
// section 2.3; Press, Wolf, "Using the Output Embedding to Improve Language Models", EACL 2017 (one
// table).

#include <csignal>
#include <optional>

#include "support/checkpoint.hpp"
#include "support/corpus.hpp"
#include "support/gpt_run.hpp"
#include "support/loss_curve.hpp"
#include "support/progress.hpp"
#include "support/sampling.hpp"
#include "support/tied.hpp"
#include "support/tutorial.hpp"

using namespace microtape;
using checkpoint::Settings;
using gpt_run::Run;

namespace {

struct Options {
  Index steps = -1;  // in all, those before a resumption included; -1: up to the horizon
  std::string resume, checkpoint, text = MICROTAPE_DATA_DIR "/opticks.txt";
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
  std::printf("\nThe loss before the first step is %.3f; ln V is %.3f.\n\n", loss, ln_v);
  verdict.add("before the first step the loss is near ln V", std::abs(loss - ln_v) < 0.3);
  bool finite = true;
  for (const Parameter& p : run.parameters())
    finite &= g.reached(p) && std::isfinite(sum(square(g[p])).item());
  verdict.add("every parameter has a finite gradient", finite);
  run.tape().clear();
}

// --- training ------------------------------------------------------------------------------------

void write_curve(const std::string& out, const Run& run, double bigram) {
  if (out.empty()) return;
  const auto every = static_cast<double>(run.settings().evaluate_every);
  views::write_file(views::folder(out) / "loss_curve.svg",
      loss_curve::draw(loss_curve::smoothed(run.history().train, 100),
          loss_curve::every(every, run.history().validation), bigram));
  std::printf("Written into %s: loss_curve.svg\n", out.c_str());
}

/// Steps until there are `total` or Ctrl-C comes; saves now and then, and at the end.
void train(Run& run, Index total, const std::string& path) {
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
  std::printf("%s\n", out.c_str());
}

// --- all of it -----------------------------------------------------------------------------------

Settings settings_of(const Options& options, const std::optional<checkpoint::Loaded>& loaded) {
  if (loaded) return loaded->settings;
  Settings settings = options.brief ? checkpoint::brief_settings() : Settings();
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

/// The end of a run: its loss on held-out text, and a sample.
void conclude(Run& run, double bigram, const Options& options, show::Verdict& verdict) {
  const double validation = run.validation_loss();
  std::printf("\nValidation loss: %.3f; bigram entropy: %.3f.\n\n", validation, bigram);
  verdict.add("the loss on held-out text is finite", std::isfinite(validation));
  const Index horizon = run.settings().horizon;
  if (horizon >= Settings().horizon && run.step() >= horizon)
    verdict.add("it is below the bigram entropy", validation < bigram);
  show::heading("3. What it writes");
  print_sample(run, options);
}

void learn(const Options& options, const std::string& out, show::Verdict& verdict) {
  if (options.prompt.empty()) throw ValueError("14_gpt: the prompt is empty; give a character");
  std::optional<checkpoint::Loaded> loaded;
  if (!options.resume.empty()) loaded = checkpoint::load(options.resume);
  const Settings settings = settings_of(options, loaded);
  Run run(settings, corpus::read(options.text, settings.vocabulary,
                        static_cast<std::size_t>(settings.context) + 1));
  corpus::encode(run.text().vocabulary, options.prompt);  // refuse a prompt before the work

  const double bigram = corpus::bigram_entropy(run.text());
  describe(run.text(), bigram);
  show::heading("1. Before it learns");
  tied::check(out, run.text(), verdict);
  if (loaded)
    run.load(*loaded);
  else
    check_start(run, verdict);

  show::heading("2. Learning");
  if (loaded) std::printf("Going on after step %lld.\n", static_cast<long long>(run.step()));
  const std::string beside = (out.empty() ? "build/gpt" : out) + "/gpt.safetensors";
  train(run, options.steps < 0 ? settings.horizon : options.steps,
      options.checkpoint.empty() ? beside : options.checkpoint);
  write_curve(out, run, bigram);
  if (!interrupted) conclude(run, bigram, options, verdict);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::signal(SIGINT, on_interrupt);
  return tutorial::run(
      argc, argv, "14_gpt",
      "Trains a small GPT on a text, character by character, and lets it write.",
      [&](const std::string& out, show::Verdict& verdict) { learn(options, out, verdict); },
      [&](CLI::App& app) {
        app.add_option("--steps", options.steps, "Steps in all, with those before --resume")
            ->check(CLI::NonNegativeNumber);
        app.add_option("--resume", options.resume, "Go on from this checkpoint, as it was begun");
        app.add_option("--checkpoint", options.checkpoint,
            "Where to save (else gpt.safetensors in OUT, or in build/gpt)");
        app.add_option("--text", options.text, "A text file to learn from");
        app.add_option("--seed", options.seed, "Of the parameters, the batches and the sample")
            ->capture_default_str();
        app.add_option("--prompt", options.prompt, "How the sample begins")->capture_default_str();
        app.add_option("--temperature", options.temperature, "0: the likeliest each time")
            ->check(CLI::NonNegativeNumber)
            ->capture_default_str();
        app.add_flag("--brief", options.brief, "A tiny model and a few steps, to see it all work");
      });
}
