// Writes the pages that the browser tests open: player_pages FOLDER.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include <microtape/microtape.hpp>

using namespace microtape;

namespace {

std::filesystem::path folder;

Tensor f64(const Nested& numbers) { return Tensor::of(numbers, float64); }

void write(const char* name, const MicroTape& tape, const Var& y, const HtmlOptions& options = {}) {
  write_html(folder / (std::string(name) + ".html"), tape, y, options);
}

const Scale kByWidth{0.5, R"(\frac{1}{\sqrt{d}})"};  // d = 4

/// One head on a sentence: X is used three times, so its adjoint is a sum of three.
void attention() {
  const std::vector<std::string> words{"küçük", "kedi", "ağaçta", "uyudu"};
  MicroTape tape;
  const auto leaf = [&](const char* name, const Shape& shape, std::uint64_t seed) {
    return tape.leaf(Tensor::randn(shape, seed, float64), name);
  };
  const Var X = leaf("X", {4, 4}, 1);
  const Var W_Q = leaf("W_Q", {4, 4}, 2), W_K = leaf("W_K", {4, 4}, 3),
            W_V = leaf("W_V", {4, 4}, 4);
  const Var Q = matmul(X, W_Q).named("Q"), K = matmul(X, W_K).named("K");
  const Var V = matmul(X, W_V).named("V");
  const Var S = matmul_nt(Q, K, kByWidth).named("S");
  const Var P = softmax(S).named("P");
  const Var C = matmul(P, V).named("C");
  write("attention", tape, C,
      {.title = "One head of attention",
          .seed = Tensor::randn({4, 4}, 5, float64),
          .words = {{"X", {words, {}}}, {"S", {words, words}}, {"P", {words, words}},
              {"C", {words, {}}}}});
}

/// A mask of 12 words, dropout, and scores that are masked by an addition.
void mask() {
  std::vector<std::string> words;
  for (int i = 0; i < 12; ++i) words.push_back("w" + std::to_string(i));
  MicroTape tape;
  const auto leaf = [&](const char* name, std::uint64_t seed) {
    return tape.leaf(Tensor::randn({12, 4}, seed, float64), name);
  };
  const Var Q = leaf("Q", 1), K = leaf("K", 2), V = leaf("V", 3);
  const Var M = tape.constant(triu(Tensor::full({12, 12}, -1e9, float64), 1).value(), "M");
  const Var S = matmul_nt(Q, K, kByWidth).named("S");
  const Var P = softmax(S, {.mask = M}).named("P");
  const Var C = matmul(dropout(P, 0.3, 7).named("P_drop"), V).named("C");
  // The same once more, in other words.
  const Var S2 = (2 * (matmul(Q, transpose(K)) * 0.25) + M).named("S2");
  const Var C2 = matmul(softmax(S2).named("P2"), V).named("C2");
  write("mask", tape, sum(C * C2).named("L"),
      {.words = {{"S", {words, words}}, {"P", {words, words}}, {"M", {words, words}}}});
}

/// Attention that is not the textbook's alone: [0] is, with a quotient in place of a factor; [1]
/// uses P once more, beside its dropout, [2] S; the rule of softmax is wrong in [3], NaN arrives at
/// [4], and Q is K as well in [9]. The others are no attention: scores of 2 / Q K^T, a scaled
/// product, softmax along columns, and scores to which something learnt is added.
void verdicts() {
  MicroTape tape;
  const auto leaf = [&](const char* name, const Shape& shape, std::uint64_t seed) {
    return tape.leaf(Tensor::randn(shape, seed, float64), name);
  };
  const Var Q = leaf("Q", {3, 4}, 1), K = leaf("K", {3, 4}, 2), V = leaf("V", {3, 2}, 3);
  const Var C0 = matmul(softmax(matmul(Q, transpose(K)) / 2.0), V).named("C_0");
  const Var P1 = softmax(matmul_nt(Q, K, kByWidth)).named("P_1");
  const Var C1 = matmul(dropout(P1, 0.3, 7), V).named("C_1");
  const Var S2 = matmul_nt(Q, K, kByWidth).named("S_2");
  const Var C2 = matmul(softmax(S2), V).named("C_2");
  const Var S3 = matmul_nt(Q, K, kByWidth);
  const Var P3 = record({"softmax", R"(\operatorname{softmax}(@x))", {{"axis", -1}}},
      [&] { return softmax(Var(S3.value())).value(); },
      {{"x", S3, R"(@y \odot @g)", [](const Var& g, const Var& y) { return g * y; }}});
  const Var C3 = matmul(P3, V).named("C_3");
  const Var C4 = matmul(softmax(matmul_nt(Q, K, {1.0 / 3})), V).named("C_4");
  const Var not_finite = C4 * tape.constant(Tensor::full({3, 2}, std::nan(""), float64), "nan");
  const Var C5 = matmul(softmax(2.0 / matmul_nt(Q, K)), V).named("C_5");
  const Var C6 = matmul(softmax(matmul_nt(Q, K)), V, {3.0}).named("C_6");
  const Var C7 = matmul(softmax(matmul_nt(Q, K), {.axis = 0}), V).named("C_7");
  const Var C8 = matmul(softmax(matmul_nt(Q, K) + leaf("B", {3, 3}, 4)), V).named("C_8");
  const Var C9 = matmul(softmax(matmul_nt(Q, Q, kByWidth)), V).named("C_9");
  const Var all = C0 + C1 + C2 + C3 + not_finite + C5 + C6 + C7 + C8 + C9;
  write("verdicts", tape, (sum(all) + sum(square(P1)) + sum(square(S2))).named("L"));
}

/// The tape begins and ends in a scope; y is in the middle of the last.
void scopes() {
  MicroTape tape;
  Var y;
  {
    const Scope first = tape.scope("first");
    y = tanh(tanh(tape.leaf(f64({1, 2}), "x")));
  }
  y = exp(y).named("between");
  Var early, later;
  {
    const Scope last = tape.scope("last");
    early = tanh(y).named("early");
    y = square(early).named("y");
    exp(y).named("unused");
  }
  exp(early);
  write("scopes", tape, y);
}

/// Names that are read from the right, and those that would not fit; numbers at the edge of a mask.
void long_names() {
  MicroTape tape;
  const Var x = tape.leaf(f64({{1, -0.0}, {-1e8, -99'999'999}}), "שלום");
  const Var y = square(x).named(std::string(200, 'y'));
  write("long_names", tape, y, {.words = {{"שלום", {{"אחת", "שתיים"}, {}}}}});
}

/// Batches, heads and scopes.
void heads() {
  MicroTape tape;
  MultiHeadAttention layer(8, 2, 0, true);
  const Var X = tape.leaf(Tensor::randn({3, 4, 8}, 1), "X");
  write("heads", tape, sum(square(layer(X))).named("L"));
}

void gpt() {
  MicroTape tape;
  Gpt layer({.vocabulary = 27, .context = 16, .width = 32, .num_heads = 4, .depth = 4});
  const Var tokens = tape.constant(Tensor::full({2, 16}, 3, int64), "tokens");
  write("gpt", tape, mean(square(layer(tokens))).named("L"));
}

/// 60 nodes, each of 64 numbers.
void sixty() {
  MicroTape tape;
  Var x = tape.leaf(Tensor::randn({8, 8}, 1, float64), "x");
  const Var W = tape.leaf(Tensor::randn({8, 8}, 2, float64), "W");
  for (int i = 0; i < 29; ++i) x = tanh(matmul(x, W)).named("h_" + std::to_string(i));
  write("sixty", tape, x, {.title = "60 nodes"});
}

/// Case E08: 15001 nodes, and no scopes to fold.
void large() {
  MicroTape tape;
  Var y = tape.leaf(f64(0.5), "x");
  for (int i = 0; i < 5000; ++i) y = tanh(y) + y * 0.5;
  write("large", tape, y);
}

/// Cases E02 and E11, and what would end a script or an attribute.
void names() {
  MicroTape tape;
  Var sum = tape.leaf(f64({1, 2}), "A & B");
  for (const std::string& name :
      {std::string("a<b>"), std::string("x>y"), std::string("say \"hi\""), std::string("it's"),
          std::string("</script><script>alert(1)</script>"),
          std::string("<img src=x onerror=alert(1)>"), std::string("</title>"),
          std::string("@TAPE@ ${x} `y` \\n"), std::string("ok\xff"), std::string("bell\x07"),
          std::string("nul\0x", 5), std::string("two\nlines"), std::string("__proto__"),
          std::string("İstanbul ığüşöç 模型 😀"), std::string("\u202eevil")})
    sum = (sum + tape.leaf(f64({3, 4}), name)).named("s" + name);
  write("names", tape, sum,
      {.title = "</title><script>alert(1)</script> & \xff 😀",
          .words = {{"A & B", {{}, {"</td><b>", "\"it's\" & 模型"}}}}});
}

/// What has no ordinary number: NaN, infinities, no numbers at all; and other ranks and dtypes.
void numbers() {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  MicroTape tape;
  const Var a = tape.leaf(f64({{1, nan, -inf}, {inf, -1e9, 1e-12}}), "a");
  const Var zeros = tape.leaf(Tensor::zeros({2, 3}, float64), "zeros");
  tape.leaf(Tensor::zeros({0, 2, 3}, float64), "none");
  tape.constant(Tensor::of({7, -3}, int64), "labels");
  tape.leaf(Tensor::randn({40, 50}, 1), "wide");
  tape.leaf(Tensor::randn({3, 100, 80}, 1), "sampled");
  tape.leaf(f64(1), "A");
  const Var L = sum(a + zeros).named("L");
  exp(a).named("after");  // no step shows it
  write("numbers", tape, L);
}

/// Without Graphviz: case E09.
void no_dot() {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  MicroTape tape;
  const Var x = tape.leaf(f64(2), "x");
  write("no_dot", tape, (square(x).named("a") * tanh(x).named("b")).named("L"));
  setenv("PATH", path.c_str(), 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  try {
    std::filesystem::create_directories(folder);
    for (void (*page)() : {attention, mask, verdicts, scopes, long_names, heads, gpt, sixty, large,
             names, numbers, no_dot})
      page();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "player_pages: %s\n", error.what());
    return 1;
  }
}
