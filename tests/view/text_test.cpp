#include <microtape/tape/view/text.hpp>

#include <algorithm>
#include <cmath>
#include <locale>
#include <sstream>

#include <microtape/tape/ops.hpp>
#include <microtape/tape/view/equation.hpp>
#include <microtape/tape/view/utf8.hpp>

#include "catch.hpp"

using namespace microtape;

namespace {

/// The example on the board: all of its numbers have closed forms.
Var attention(MicroTape& tape) {
  const double k = std::log(3.0);
  const Var q = tape.leaf(Tensor::of({{2, 0, 0, 0}, {0, 2, 0, 0}}), "Q");
  const Var key = tape.leaf(Tensor::of({{k, 0, 0, 0}, {0, k, 0, 0}}), "K");
  const Var v = tape.leaf(Tensor::of({{4, 0}, {0, 8}}), "V");
  const Scope scope = tape.scope("attn");
  const Var s = matmul_nt(q, key, Scale{0.5, R"(\frac{1}{\sqrt{d}})"}).named("S");
  return matmul(softmax(s).named("P"), v).named("C");
}

Sweep swept(const Var& y) {
  Sweep sweep(y, Tensor::full(y.shape(), 1, y.dtype()));
  while (!sweep.done()) sweep.advance();
  return sweep;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  for (const std::string& line : lines(text)) width = std::max(width, utf8::display_width(line));
  return width;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the table of a tape shows what the board shows") {
  MicroTape tape;
  attention(tape);
  CHECK(to_text(tape) ==
        R"(#  name  equation         shape   value
-----------------------------------------------------
0  Q     (leaf)           [2, 4]  [[2 0 0 0]
                                   [0 2 0 0]]
1  K     (leaf)           [2, 4]  [[1.099     0 0 0]
                                   [    0 1.099 0 0]]
2  V     (leaf)           [2, 2]  [[4 0]
                                   [0 8]]
in attn
3  S     Q K^T / sqrt(d)  [2, 2]  [[1.099     0]
                                   [    0 1.099]]
4  P     softmax(S)       [2, 2]  [[0.75 0.25]
                                   [0.25 0.75]]
5  C     P V              [2, 2]  [[3 2]
                                   [1 6]]
)");
}

TEST_CASE("after a sweep the adjoints stand beside the values") {
  MicroTape tape;
  const Var c = attention(tape);
  const Sweep sweep = swept(c);
  CHECK(to_text(tape, &sweep) ==
        R"(#  name  equation         shape   value                adjoint
---------------------------------------------------------------------------
0  Q     (leaf)           [2, 4]  [[2 0 0 0]           [[-0.412 0.412 0 0]
                                   [0 2 0 0]]           [-0.412 0.412 0 0]]
1  K     (leaf)           [2, 4]  [[1.099     0 0 0]   [[-0.75 -0.75 0 0]
                                   [    0 1.099 0 0]]   [ 0.75  0.75 0 0]]
2  V     (leaf)           [2, 2]  [[4 0]               [[1 1]
                                   [0 8]]               [1 1]]
in attn
3  S     Q K^T / sqrt(d)  [2, 2]  [[1.099     0]       [[-0.75 0.75]
                                   [    0 1.099]]       [-0.75 0.75]]
4  P     softmax(S)       [2, 2]  [[0.75 0.25]         [[4 8]
                                   [0.25 0.75]]         [4 8]]
5  C     P V              [2, 2]  [[3 2]               [[1 1]
                                   [1 6]]               [1 1]]
)");
}

TEST_CASE("an adjoint that the sweep has not reached is a dash, and never 0") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(2), "x"), c = tape.constant(Tensor::of(5), "c");
  const Var y = (x * c).named("y");
  exp(x).named("z");  // y does not depend on it
  Sweep sweep(y, Tensor::full({}, 1));
  CHECK(to_text(tape, &sweep) == R"(#  name  equation    shape  value  adjoint
------------------------------------------
0  x     (leaf)      []     2      -
1  c     (constant)  []     5      -
2  y     x * c       []     10     1
3  z     exp(x)      []     7.389  -
)");
  sweep.advance();
  CHECK(contains(to_text(tape, &sweep), "0  x     (leaf)      []     2      5\n"));
}

TEST_CASE("large values show min, max and norm, and adjoints go below when there is no room") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::arange(-4, 14).reshape({3, 6}), "x");
  const Parameter w("weight", Tensor::full({3, 6}, 0.25));
  const Var y = sum(x * tape.watch(w)).named("gizli çıktı");
  const Sweep sweep = swept(y);
  // The squares of -4 .. 13 sum to 849, 18 times 0.25^2 is 1.125.
  CHECK(to_text(tape, &sweep) ==
        R"(#  name          equation     shape   value
--------------------------------------------------------------------
0  x             (leaf)       [3, 6]  min -4, max 13, norm 29.14
   dx                                 min 0.25, max 0.25, norm 1.061
1  weight        (parameter)  [3, 6]  min 0.25, max 0.25, norm 1.061
   dweight                            min -4, max 13, norm 29.14
2                x * weight   [3, 6]  min -1, max 3.25, norm 7.284
   d#2                                min 1, max 1, norm 4.243
3  gizli çıktı   sum(#2)      []      20.25
   dgizli çıktı                       1
)");
}

TEST_CASE("a training tape says what it did not keep") {
  MicroTape tape(Keep::needed);
  const Var x = tape.leaf(Tensor::of({1, 2}), "x");
  const Var y = sum(exp(x) * Tensor::of({3, 4}));
  const Sweep sweep = swept(y);
  const std::string text = to_text(tape, &sweep);
  CHECK(lines(text) == std::vector<std::string>{
                           "#  name  equation  shape  value          adjoint",
                           "------------------------------------------------------",
                           "0  x     (leaf)    [2]    [1 2]          [8.155 29.56]",
                           "1        exp(x)    [2]    [2.718 7.389]  not kept",
                           "2        #1 * ..   [2]    not kept       not kept",
                           "3        sum(#2)   []     not kept       not kept",
                       });
}

TEST_CASE("no table is wider than 80 columns") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::randn({4, 4}, 1), "çok_uzun_bir_ad_verilmiş_değişken");
  const Var b = tape.leaf(Tensor::randn({1, 1, 1, 1, 1, 1, 2, 8}, 2));
  const Scope outer = tape.scope(std::string(90, 'o')), inner = tape.scope("inner");
  const Var y = sum(gelu(x * x, Gelu::tanh)) + sum(b * b);
  sum(tape.leaf(Tensor::randn({16}, 3)));
  const Sweep sweep = swept(y);
  CHECK(widest(to_text(tape)) <= 80);
  CHECK(widest(to_text(tape, &sweep)) <= 80);
  CHECK(widest(to_text(tape)) > 70);
}

TEST_CASE("scopes are headings wherever the scope changes") {
  MicroTape tape;
  Var x = tape.leaf(Tensor::of(1), "x");
  {
    const Scope outer = tape.scope("encoder");
    const Scope inner = tape.scope("attn");
    x = -x;
  }
  x = -x;
  CHECK(to_text(tape) == R"(#  name  equation  shape  value
-------------------------------
0  x     (leaf)    []     1
  in encoder/attn
1        -x        []     -1
in the outermost scope
2        -#1       []     1
)");
}

TEST_CASE("an op whose formula cannot be read is shown as a call") {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(1), "x");
  record({"mine", "@x * @x"}, [&] { return x.value(); },
      {{"x", x, "?", [](const Var& g) { return g; }}});
  CHECK(forward_text(tape, 1) == "mine(x)");
  CHECK(rule_text(tape, 1, tape.node(1).edges()[0]).empty());
}

TEST_CASE("tensors of any rank and emptiness have a readable form") {
  MicroTape tape;
  tape.leaf(Tensor::arange(0, 8).reshape({2, 2, 2}));
  tape.leaf(Tensor::of({1.5, -0.0, NAN, INFINITY}));
  tape.leaf(Tensor::zeros({0, 3}));
  tape.leaf(Tensor::full({16}, 1));
  tape.leaf(Tensor::full({17}, 1));
  CHECK(to_text(tape) == R"(#  name  equation  shape      value
---------------------------------------------------------------
0        (leaf)    [2, 2, 2]  [[[0 1]
                                [2 3]]
                               [[4 5]
                                [6 7]]]
1        (leaf)    [4]        [1.5 0 nan inf]
2        (leaf)    [0, 3]     no numbers
3        (leaf)    [16]       [1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1]
4        (leaf)    [17]       min 1, max 1, norm 4.123
)");
}

TEST_CASE("the table is the same whatever the locale, and each time") {
  MicroTape tape;
  const Var c = attention(tape);
  const Sweep sweep = swept(c);
  const std::string before = to_text(tape, &sweep);
  // A locale that writes 1.099 as 1,099.
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  const std::locale classic = std::locale::global(std::locale(std::locale(), new Comma));
  const std::string under_locale = to_text(tape, &sweep);
  std::locale::global(classic);
  CHECK(under_locale == before);
  CHECK(
      to_text(MicroTape()) == "#  name  equation  shape  value\n-------------------------------\n");
}
