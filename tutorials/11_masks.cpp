// Tutorial 11: masks. A word may be forbidden to look at others: at its future, at padding.
//
//     P = softmax(S + M)     M is 0 where it may look, -1e9 where it may not
//
// e^-1e9 is 0, not almost: P is exactly 0 there, and with it dS = P * (dP - rowsum(dP * P)). It is
// as if the key were not there. The closed form of this tutorial has no M at all: it computes each
// row from the keys that are allowed.
//
// Try this: write -20 for -1e9 in kForbidden. P is 2e-9 and not 0, so "exactly 0" fails, and the
// future leaks. With -50 it leaks as well, but rounding hides it: leaks() sees none.

#include <microtape/layers/leaks.hpp>

#include "support/allowed_keys.hpp"
#include "support/heads.hpp"
#include "support/heatmap_svg.hpp"
#include "support/sentence.hpp"
#include "support/tutorial.hpp"

using namespace microtape;

namespace {

constexpr double kForbidden = -1e9;
constexpr Index kWidth = 8, kPadding = 2;

const std::vector<std::string>& words() {
  static const std::vector<std::string> six{"the", "cat", "sat", "down", "<pad>", "<pad>"};
  return six;
}
Index length() { return static_cast<Index>(words().size()); }

// --- three masks -------------------------------------------------------------------------------

/// -1e9 from this diagonal on: 1 is causal, 2 lets each see one word ahead. -> [n, n]
Tensor future_mask(Index n, Index diagonal) {
  return triu(Tensor::full({n, n}, kForbidden, float64), diagonal).value();
}

/// -1e9 in the columns of the last keys, for every query. -> [n, n]
Tensor padding_mask(Index n, Index padding) {
  const Tensor open = Tensor::zeros({n, n - padding}, float64);
  return concat({open, Tensor::full({n, padding}, kForbidden, float64)}, 1).value();
}

/// One head on a tape, masked, with a seed that weighs its results at random.
struct Head {
  explicit Head(const Tensor& mask)
      : M(mask), dC(Tensor::randn({length(), kWidth}, 4, float64)), sweep(C, dC) {
    while (!sweep.done()) sweep.advance();
  }
  Tensor M;
  MicroTape tape;
  Var Q = leaf("Q", 1), K = leaf("K", 2), V = leaf("V", 3);
  Var C = scaled_dot_product_attention(Q, K, V, {.mask = tape.constant(M, "M")});
  Var S = heads::find(tape, "S"), P = heads::find(tape, "P");
  Tensor dC;
  Sweep sweep;
  Var leaf(const char* name, std::uint64_t seed) {
    return tape.leaf(Tensor::randn({length(), kWidth}, seed, float64), name);
  }
};

bool is_forbidden(const Tensor& mask, Index i, Index j) { return mask.at({i, j}) < 0; }

/// The heatmap of P with // where the mask forbids.
std::string hatched(const Tensor& P, const Tensor& mask) {
  const Var nan = Tensor::full(P.shape(), NAN, float64);
  std::string out = heatmap(
      where(greater(Tensor::zeros(P.shape(), float64), mask), nan, P).value(), words(), words());
  for (std::size_t at = 0; (at = out.find("??", at)) != std::string::npos;)
    out.replace(at, 2, "//");
  return out;
}

Comparison row_of(const char* name, const Tensor& x, const closed_form::Matrix& expected) {
  return compare(name, x, Tensor::of(x.shape(), expected.numbers, float64), 1e-12);
}

/// How many numbers of x are not exactly 0 where the mask forbids.
int left_over(const Tensor& x, const Tensor& mask) {
  int out = 0;
  for (Index i = 0; i < x.extent(0); ++i)
    for (Index j = 0; j < x.extent(1); ++j) out += is_forbidden(mask, i, j) && x.at({i, j}) != 0;
  return out;
}

/// @return P under its mask, to be drawn
heatmap_svg::Panel masked(
    const std::string& out, const char* name, const Tensor& mask, show::Verdict& verdict) {
  Head h(mask);
  const Gradients d = h.sweep.gradients();
  std::printf("P; rows look, columns are looked at, // must not be seen:\n\n%s\n",
      hatched(h.P.value(), mask).c_str());
  const auto matrix = [](const Tensor& x) { return heads::matrix(x, 0); };
  const allowed_keys::Chain expected = allowed_keys::head(matrix(h.Q.value()), matrix(h.K.value()),
      matrix(h.V.value()), matrix(h.dC), [&](std::size_t i, std::size_t j) {
        return !is_forbidden(mask, static_cast<Index>(i), static_cast<Index>(j));
      });
  verdict.add({row_of("P", h.P.value(), expected.P), row_of("C", h.C.value(), expected.C),
      row_of("dS", d[h.S].value(), expected.dS), row_of("dQ", d[h.Q].value(), expected.dQ),
      row_of("dK", d[h.K].value(), expected.dK), row_of("dV", d[h.V].value(), expected.dV)});
  std::printf("\n");
  verdict.add("P is exactly 0 wherever the mask forbids", left_over(h.P.value(), mask) == 0);
  verdict.add("dS too", left_over(d[h.S].value(), mask) == 0);
  const AxisWords both{words(), words()};
  views::write(out, name, h.tape, h.sweep, h.C,
      {.title = name, .seed = h.dC, .words = {{"M", both}, {"S", both}, {"P", both}}});
  return {name, h.P.value(), mask};
}

// --- a row without a key -----------------------------------------------------------------------

/// P of the scores 0, ln 2 and ln 5 with this mask at each.
Tensor without_a_key(double mask, DType dtype) {
  const Tensor s = Tensor::of({{0, std::log(2.0), std::log(5.0)}}, dtype);
  return softmax(s, {.mask = Tensor::full({1, 3}, mask, dtype)}).value();
}

void lonely_row(show::Verdict& verdict) {
  show::heading("4. A row without a key");
  std::printf("The scores are 0, ln 2 and ln 5, and all three keys are forbidden:\n\n");
  const Tensor wide = without_a_key(-1e9, float64), narrow = without_a_key(-1e9, float32);
  show::matrix("-1e9 in float64", wide);
  show::matrix("-1e9 in float32", narrow);
  bool is_refused = false;
  try {
    without_a_key(-INFINITY, float64);
  } catch (const ValueError&) {
    is_refused = true;
  }
  std::printf("  -inf                                refused\n\n");
  std::printf(
      "What is taken off every score alike does nothing: the row looks as if there were\n"
      "no mask. In float32 it is worse, for -1e9 has swallowed the scores. And -inf is\n"
      "0 / 0, which the library refuses. Let such a row look at something, itself for\n"
      "one, and take its result out of the loss: where dC is 0, dS is.\n\n");
  verdict.zero("-1e9 in float64: 1/8 2/8 5/8, all of it seen",
      compare("", wide, Tensor::of({{1 / 8.0, 2 / 8.0, 5 / 8.0}}, float64), 0).max_abs, 1e-7);
  verdict.zero("-1e9 in float32: 1/3 each, the scores are lost",
      compare("", narrow, Tensor::full({1, 3}, 1 / 3.0, float64), 0).max_abs, 1e-7);
  verdict.add("-inf throughout is refused", is_refused);
}

// --- the future --------------------------------------------------------------------------------

/// Self-attention with a future_mask().
auto masked_from(Index diagonal) {
  return [diagonal](const Var& x) {
    return scaled_dot_product_attention(x, x, x, {.mask = future_mask(x.shape()[1], diagonal)});
  };
}

std::string report(const std::vector<Leak>& leaks) {
  std::string out = leaks.empty() ? "  no leaks\n" : "";
  for (const Leak& leak : leaks) out += "  " + leak.str() + "\n";
  return out;
}

void future(show::Verdict& verdict) {
  show::heading("5. The future changes nothing");
  const Tensor x = sentence::embed({"the", "cat", "sat", "down"}, kWidth).reshape({1, 4, kWidth});
  const std::vector<Leak> causal = leaks(masked_from(1), x), wrong = leaks(masked_from(2), x);
  std::printf("leaks() changes one word after the other. Causal:\n\n%s\n", report(causal).c_str());
  std::printf("With the diagonal off by one:\n\n%s\n", report(wrong).c_str());
  verdict.add("causal: earlier outputs keep every bit", causal.empty());
  verdict.add("off by one: each word sees the next, no other", wrong.size() == 3);

  // Backwards: only the first two outputs count, so only the first two words get a gradient.
  MicroTape tape;
  const Var X = tape.leaf(x, "X");
  const Tensor dy =
      concat({Tensor::full({1, 2, kWidth}, 1, float64), Tensor::zeros({1, 2, kWidth}, float64)}, 1)
          .value();
  const Tensor dX = backward(masked_from(1)(X), dy)[X].value();
  const auto largest = [&](Index from) { return (max)(abs(dX.slice(1, from, from + 2))).item(); };
  verdict.add("backwards: no gradient reaches a later word", largest(0) > 0 && largest(2) == 0);
}

}  // namespace

int main(int argc, char** argv) {
  return tutorial::run(argc, argv, "11_masks", "Masks: what must not be seen does not exist.",
      [](const std::string& out, show::Verdict& verdict) {
        const Tensor causal = future_mask(length(), 1), padding = padding_mask(length(), kPadding);
        show::heading("1. Causal: nobody sees the future");
        std::vector<heatmap_svg::Panel> panels{masked(out, "causal", causal, verdict)};
        show::heading("2. Padding: nobody sees what fills up a short sentence");
        panels.push_back(masked(out, "padding", padding, verdict));
        show::heading("3. Both, added up");
        panels.push_back(masked(out, "both", add(causal, padding).value(), verdict));
        if (!out.empty()) {
          views::write_file(views::folder(out) / "masks.svg", heatmap_svg::draw(panels, words()));
          std::printf("Written into %s: masks.svg, all three\n", out.c_str());
        }
        lonely_row(verdict);
        future(verdict);
      });
}
