// Tutorial 08: a network that reads handwritten digits, and its gradients derived by hand.
//
//     Z = X W_1^T + b_1     H = max(Z, 0)     L = H W_2^T + b_2     P = softmax(L)
//     loss = the mean over n images of -ln P[label]
//
//     dL = (P - onehot) / n     dW_2 = dL^T H     db_2 = colsum(dL)     dH = dL W_2
//     dZ = dH where Z > 0       dW_1 = dZ^T X     db_1 = colsum(dZ)     dX = dZ W_1
//
// Part 1 holds each of these against the tape. Part 2 trains the same network until it reads digits
// that it has never seen, and shows those that it misreads.
//
// Try this: write 4 for 64 in kHidden. Every gradient agrees as before, for the mathematics does
// not care; but four numbers are too few to tell ten digits apart, and the last check fails.

#include <microtape/layers/optim/optimizer.hpp>

#include "support/digits.hpp"
#include "support/perceptron.hpp"
#include "support/tutorial.hpp"

using namespace microtape;

namespace {

struct Options {
  std::string data = MICROTAPE_DATA_DIR "/digits.csv";
  int epochs = 40;
  std::uint64_t seed = 1;
  bool break_it = false;
};

constexpr Index kHidden = 64, kClasses = 10;
constexpr std::size_t kTraining = 1500, kBatch = 50;

// --- part 1 ------------------------------------------------------------------------------------

/// Prints one row of P, and of P less 1 at the label: why the first gradient has the form it has.
void print_first_gradient(const perceptron::ClosedForm& by_hand, std::size_t label) {
  std::printf("What the network thinks of the first image, %s, before it has learned:\n\n",
      digits::called(static_cast<int>(label)).c_str());
  std::printf("  digit      ");
  for (std::size_t j = 0; j < by_hand.P.columns; ++j) std::printf("%7zu", j);
  std::printf("\n  P          ");
  for (std::size_t j = 0; j < by_hand.P.columns; ++j) std::printf("%7.3f", by_hand.P(0, j));
  std::printf("\n  P - onehot ");
  for (std::size_t j = 0; j < by_hand.P.columns; ++j)
    std::printf("%7.3f", by_hand.P(0, j) - (j == label ? 1 : 0));
  std::printf(
      "\n\nThe last line, over the number of images, is dL. A step against it makes the\n"
      "right digit more probable and all others less, each as far as it is wrong.\n");
}

void gradients(const Options& options, const std::vector<digits::Digit>& all,
    const std::string& out, show::Verdict& verdict) {
  show::heading("1. The gradients, by hand and by tape");
  const digits::Batch batch = digits::batch(all, 0, 6);
  std::vector<std::size_t> labels;
  for (const std::int64_t label : batch.labels.data<std::int64_t>())
    labels.push_back(static_cast<std::size_t>(label));

  // Biases start at 0, and a bias of 0 would hide a mistake: here they are random, too.
  perceptron::Network network(digits::kPixels, kHidden, kClasses, options.seed);
  network.first.bias().mutable_value() = Tensor::uniform({kHidden}, -0.5, 0.5, 7, float64);
  network.second.bias().mutable_value() = Tensor::uniform({kClasses}, -0.5, 0.5, 8, float64);

  MicroTape tape;
  const Var X = tape.leaf(batch.X, "X");
  const perceptron::Network::Values y = network(X);
  const Var loss = cross_entropy(y.L, tape.constant(batch.labels, "labels")).named("loss");
  const perceptron::ClosedForm by_hand =
      perceptron::closed_form_of(network, batch.X, labels, options.break_it);
  print_first_gradient(by_hand, labels[0]);

  std::printf("\nThe tape of six images:\n\n%s\nThe sweep:\n\n", to_text(tape).c_str());
  Sweep sweep(loss, Tensor::of(1, float64));
  show::sweep_aloud(tape, sweep);
  const Gradients d = sweep.gradients();

  std::printf("\nThe closed form, by plain loops, beside the tape:\n\n");
  const perceptron::Recorded recorded{network, X, y, loss, d};
  verdict.add(perceptron::compare_chain(by_hand, recorded, 1e-12));
  std::printf("\nWhat must hold whatever the numbers are:\n\n");
  perceptron::check_invariants(recorded, verdict);
  views::write(out, "digits", tape, sweep, loss, {.title = "Six digits through a network"});
}

// --- part 2 ------------------------------------------------------------------------------------

/// How many digits of a batch in a hundred the network reads right.
double percent_right(perceptron::Network& network, const digits::Batch& batch) {
  const Tensor read = argmax(network(batch.X).L).value();
  int right = 0;
  for (Index i = 0; i < read.size(); ++i) right += read.at({i}) == batch.labels.at({i});
  return 100.0 * right / static_cast<double>(read.size());
}

/// One pass over the digits in a new order. @return the mean loss
double train_epoch(perceptron::Network& network, Optimizer& optimizer,
    const std::vector<digits::Digit>& training) {
  MicroTape tape(Keep::needed);
  double total = 0;
  //! [epoch]
  for (std::size_t first = 0; first < training.size(); first += kBatch) {
    const digits::Batch batch = digits::batch(training, first, first + kBatch);
    const Var L = network(tape.constant(batch.X)).L;
    const Var loss = cross_entropy(L, batch.labels);
    const Gradients d = backward(loss);
    total += loss.item() * static_cast<double>(batch.labels.size());
    tape.clear();
    optimizer.step(d);
  }
  //! [epoch]
  return total / static_cast<double>(training.size());
}

/// Shows up to six digits of the batch that the network takes for another.
void show_misread(perceptron::Network& network, const std::vector<digits::Digit>& held_out) {
  const Tensor read = argmax(network(digits::batch(held_out, 0, held_out.size()).X).L).value();
  std::vector<digits::Digit> images;
  std::vector<std::string> captions;
  for (std::size_t i = 0; i < held_out.size() && images.size() < 6; ++i) {
    const int digit = static_cast<int>(read.at({static_cast<Index>(i)}));
    if (digit == held_out[i].label) continue;
    images.push_back(held_out[i]);
    captions.push_back(digits::called(held_out[i].label) + ", read as " + digits::called(digit));
  }
  if (images.empty()) return;
  std::printf("\nSome that it misreads:\n\n");
  digits::print(images, captions);
}

void train(const Options& options, const std::vector<digits::Digit>& all, show::Verdict& verdict) {
  show::heading("2. Learning to read");
  const auto border = all.begin() + kTraining;
  std::vector<digits::Digit> training(all.begin(), border);
  const std::vector<digits::Digit> held_out(border, all.end());
  const digits::Batch unseen = digits::batch(held_out, 0, held_out.size());
  std::printf("%zu digits to learn from, %zu that the network never sees while it learns.\n\n",
      training.size(), held_out.size());

  perceptron::Network network(digits::kPixels, kHidden, kClasses, options.seed);
  AdamW optimizer(network.parameters());
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    // Large steps first, small ones in the end.
    optimizer.set_learning_rate(
        cosine_schedule(epoch, {.peak = 5e-3, .floor = 2e-4, .total = options.epochs}));
    training = digits::shuffled(
        std::move(training), split_seed(options.seed, static_cast<std::uint64_t>(epoch)));
    const double loss = train_epoch(network, optimizer, training);
    if (epoch > 0 && (epoch + 1) % 10 != 0) continue;
    std::printf("  epoch %2d: loss %.3f, right of those unseen: %.1f %%\n", epoch + 1, loss,
        percent_right(network, unseen));
  }
  std::printf("\n");
  verdict.add("more than 95 % of the digits that it never saw are read right",
      percent_right(network, unseen) > 95);
  show_misread(network, held_out);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  return tutorial::run(
      argc, argv, "08_digits",
      "A network that reads handwritten digits: its gradients by hand, then its training.",
      [&](const std::string& out, show::Verdict& verdict) {
        const std::vector<digits::Digit> all = digits::shuffled(digits::read(options.data), 3);
        if (all.size() <= kTraining)
          throw ValueError("digits: too few: " + std::to_string(all.size()) + "; needs more than " +
                           std::to_string(kTraining));
        std::printf(
            "A digit is 8 x 8 numbers, from 0 for paper to 16 for ink; a network turns them\n"
            "into ten numbers, one for each digit that it might be:\n\n");
        digits::print(
            {all[0], all[1], all[2]}, {digits::called(all[0].label), digits::called(all[1].label),
                                          digits::called(all[2].label)});
        gradients(options, all, out, verdict);
        train(options, all, verdict);
      },
      [&](CLI::App& app) {
        app.add_option("--data", options.data, "Digits, one a line: 64 pixels, then 0 .. 9");
        app.add_option("--epochs", options.epochs, "How often to go over all digits")
            ->check(CLI::Range(1, 1000))
            ->capture_default_str();
        app.add_option("--seed", options.seed, "Of the first weights, and the order of the digits")
            ->capture_default_str();
        app.add_flag("--break", options.break_it, "Forget the relu in the closed form");
      });
}
