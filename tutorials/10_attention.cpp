// Tutorial 10: attention on a tape, and every gradient held against the textbook.
//
//     S = Q K^T / sqrt(d)     P = softmax(S)     C = P V
//
//     dV = P^T dC     dP = dC V^T     dS = P * (dP - rowsum(dP * P))
//     dQ = dS K / sqrt(d)     dK = dS^T Q / sqrt(d)
//
// Part 1 does the two-token example that fits on a board, and part 2 reads a sentence. The closed
// form is plain loops over numbers, and shares no code with the kernels.
//
// Try this: in read_sentence(), leave out by_width. The closed form disagrees, except in dP, which
// knows nothing of S; what holds whatever the numbers are still holds; and the heatmap darkens,
// because larger scores make P less even.
//
// Source: Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.2.1.

#include "support/heads.hpp"
#include "support/sentence.hpp"
#include "support/tutorial.hpp"

using namespace microtape;

namespace {

struct Options {
  std::vector<std::string> sentence{"the cat sat on the mat because it was warm"};
  DType dtype = float64;
  bool break_it = false;

  /// What rounding may do to a result of a few hundred operations.
  double tolerance() const { return dtype == float64 ? 1e-12 : 2e-4; }
  heads::RowSum row_sum() const {
    return break_it ? heads::RowSum::forgotten : heads::RowSum::taken_off;
  }
};

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += word + ' ';
  return out;
}

// --- part 1 ------------------------------------------------------------------------------------

void board(const Options& options, const std::string& out, show::Verdict& verdict) {
  std::printf(
      "Attention lets every word of a sentence look at every other. This program\n"
      "computes it, writes each operation on a tape, walks the tape backwards to get\n"
      "the gradients, and holds every one of them against the textbook's formula.\n");
  show::heading("1. On the board: two tokens, one head, d = 4");
  const double ln3 = std::log(3.0);
  MicroTape tape;
  const auto leaf = [&](const char* name, const Nested& numbers) {
    return tape.leaf(Tensor::of(numbers, options.dtype), name);
  };
  const Var Q = leaf("Q", {{2, 0, 0, 0}, {0, 2, 0, 0}});
  const Var K = leaf("K", {{ln3, 0, 0, 0}, {0, ln3, 0, 0}});
  const Var V = leaf("V", {{4, 0}, {0, 8}});

  //! [board]
  // Forward. The tape writes down each line.
  const Var S = matmul_nt(Q, K, Scale{1 / std::sqrt(4.0), R"(\frac{1}{\sqrt{d}})"}).named("S");
  const Var P = softmax(S).named("P");
  const Var C = matmul(P, V).named("C");
  //! [board]
  std::printf(
      "Each row of Q asks, each row of K answers: S holds how well they match. Softmax\n"
      "makes each row of S sum to 1, and P mixes the rows of V accordingly.\n\n");
  for (const auto& [name, x] : {std::pair{"Q", Q}, {"K", K}, {"V", V}})
    show::matrix(name, x.value());
  for (const auto& [name, x] : {std::pair{"S", S}, {"P", P}, {"C", C}})
    show::matrix(std::string(name) + " = " + forward_text(tape, x.node()), x.value());

  // Backward, from a seed of ones: the rules are those that the ops recorded.
  std::printf(
      "\nNow backwards. dX is the derivative of the loss by X. Let the loss be the sum of\n"
      "all numbers in C; then dC is all ones, and the chain rule gives the rest. (A B is\n"
      "the product of matrices; A * B multiplies element by element.)\n\n");
  //! [sweep]
  Sweep sweep(C, Tensor::full({2, 2}, 1, options.dtype));
  while (!sweep.done()) sweep.step();
  const Gradients d = sweep.gradients();
  //! [sweep]
  show::matrix("dC", d[C].value());
  const auto rule = [&](const Var& y, std::size_t input, const Var& x) {
    const Edge& edge = tape.node(y.node()).edges()[input];
    show::matrix(
        "d" + node_name(tape, x.node()) + " = " + rule_text(tape, y.node(), edge), d[x].value());
  };
  rule(C, 1, V);
  rule(C, 0, P);
  rule(P, 0, S);
  rule(S, 0, Q);
  rule(S, 1, K);

  // What stands on the board, worked out by hand.
  const double q = 3.0 / 8 * ln3;
  const std::pair<Tensor, Nested> expected[] = {{P.value(), {{0.75, 0.25}, {0.25, 0.75}}},
      {C.value(), {{3, 2}, {1, 6}}}, {d[V].value(), {{1, 1}, {1, 1}}},
      {d[P].value(), {{4, 8}, {4, 8}}}, {d[S].value(), {{-0.75, 0.75}, {-0.75, 0.75}}},
      {d[Q].value(), {{-q, q, 0, 0}, {-q, q, 0, 0}}},
      {d[K].value(), {{-0.75, -0.75, 0, 0}, {0.75, 0.75, 0, 0}}}};
  bool agrees = true;
  for (const auto& [value, by_hand] : expected)
    agrees &= compare("", value, Tensor::of(by_hand, float64), options.tolerance()).agrees;
  std::printf("\n");
  verdict.add("P, C, dV, dP, dS, dQ and dK are what one works out by hand", agrees);
  views::write(out, "board", tape, sweep, C, {.title = "Attention on the board"});
}

// --- part 2 ------------------------------------------------------------------------------------

void read_sentence(const Options& options, const std::string& out, show::Verdict& verdict) {
  show::heading("2. A sentence: one head on a tape");
  const std::vector<std::string> words = sentence::words(joined(options.sentence), 12);
  if (words.empty()) throw ValueError("the sentence has no words; give at least one");
  const Index d = 8, n = static_cast<Index>(words.size());
  std::printf(
      "%lld words, each a vector of %lld numbers that depends on the word and its place:\n ",
      static_cast<long long>(n), static_cast<long long>(d));
  for (const std::string& word : words) std::printf(" %s", word.c_str());

  // X is used three times; so three contributions flow back to it, and the tape adds them up.
  MicroTape tape;
  const Var X = tape.leaf(sentence::embed(words, d).to(options.dtype), "X");
  const auto weight = [&](const char* name, std::uint64_t seed) {
    return tape.leaf(Tensor::uniform({d, d}, -0.6, 0.6, seed, options.dtype), name);
  };
  const Var W_Q = weight("W_Q", 1), W_K = weight("W_K", 2), W_V = weight("W_V", 3);
  //! [sentence]
  const Var Q = matmul(X, W_Q).named("Q");  // [n, d]
  const Var K = matmul(X, W_K).named("K");  // [n, d]
  const Var V = matmul(X, W_V).named("V");  // [n, d]
  const Scale by_width{1 / std::sqrt(static_cast<double>(d)), R"(\frac{1}{\sqrt{d}})"};
  const Var S = matmul_nt(Q, K, by_width).named("S");  // [n, n]
  const Var P = softmax(S).named("P");                 // [n, n]
  const Var C = matmul(P, V).named("C");               // [n, d]
  //! [sentence]

  std::printf("\n\nThe tape, in the order in which it was computed:\n\n%s", to_text(tape).c_str());
  std::printf(
      "\nThe sweep walks it backwards, one node at a time. This time the loss weighs the\n"
      "numbers in C at random; dC holds these weights:\n\n");
  const Tensor dC = Tensor::randn({n, d}, 4, options.dtype);
  Sweep sweep(C, dC);
  show::sweep_aloud(tape, sweep);
  const Gradients g = sweep.gradients();

  std::printf("\nThe closed form, by plain loops, beside the tape:\n\n");
  const heads::Chain chain =
      heads::closed_form_chain({Q.value(), K.value(), V.value(), {}, dC}, options.row_sum());
  const heads::Recorded recorded{Q, K, V, S, P, C, g};
  verdict.add(heads::compare_chain(chain, recorded, options.tolerance()));
  std::printf("\nWhat must hold whatever the numbers are (<A, B> is the sum of A * B):\n\n");
  heads::check_invariants(recorded, options.tolerance(), verdict);
  std::printf("\nWho looks at whom (P; rows look, columns are looked at):\n\n%s",
      heatmap(P.value(), words, words, DarkestShade::largest).c_str());

  const AxisWords of_rows{words, {}}, of_both{words, words};
  views::write(out, "attention", tape, sweep, C,
      {.title = "One head of attention",
          .seed = dC,
          .words = {{"X", of_rows}, {"Q", of_rows}, {"K", of_rows}, {"V", of_rows}, {"S", of_both},
              {"P", of_both}, {"C", of_rows}}});
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  return tutorial::run(
      argc, argv, "10_attention", "Attention on a tape: every gradient held against the textbook.",
      [&](const std::string& out, show::Verdict& verdict) {
        board(options, out, verdict);
        read_sentence(options, out, verdict);
      },
      [&](CLI::App& app) {
        app.add_option("sentence", options.sentence, "Words to attend to (UTF-8; at most 12)")
            ->capture_default_str();
        app.add_option_function<std::string>(
               "--dtype",
               [&](const std::string& name) {
                 options.dtype = name == "float32" ? float32 : float64;
               },
               "float64 (else) or float32")
            ->check(CLI::IsMember({"float64", "float32"}));
        app.add_flag("--break", options.break_it,
            "Forget the row sum in the closed form, to see a check fail");
      });
}
