// Derivations in LaTeX and MathML, and equation by equation.

#include <microtape/tape/ops.hpp>

#include "view/derivation_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

/// C = softmax(Q K^T) V of leaves Q, K, V.
Var attend(MicroTape& tape) {
  const Var q = tape.leaf(normal({4, 6}, 1), "Q"), k = tape.leaf(normal({5, 6}, 2), "K");
  const Var v = tape.leaf(normal({5, 3}, 3), "V");
  const Var p = softmax(matmul_nt(q, k).named("S")).named("P");
  return matmul(p, v).named("C");
}

}  // namespace

TEST_CASE("a derivation in LaTeX is an aligned environment") {
  MicroTape tape;
  const Var x = tape.leaf(normal({2, 3}, 1), "X"), w = tape.leaf(normal({3, 2}, 2), "W");
  const Var p = tape.leaf(normal({2, 2}, 3), "P_drop", R"(\tilde P)");
  const Var l = sum(matmul(x, w) * p / 2.0).named("L");
  CHECK(to_latex(derivation(tape, l)) == R"(\begin{aligned}
L &= \frac{\operatorname{sum}\left(\left(X\,W\right) \odot \tilde P\right)}{2} \\
\text{given } dL = 1\colon \\
dX &= \frac{dL \odot \left(\tilde P\,W^\top\right)}{2} \\
dW &= \frac{dL \odot \left(X^\top\,\tilde P\right)}{2} \\
d\tilde P &= \frac{dL \odot \left(X\,W\right)}{2}
\end{aligned}
)");
}

namespace {

/// Whether every element of an XML text is closed where it should be.
bool is_well_formed(std::string_view xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; (at = xml.find('<', at)) != std::string_view::npos;) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string_view::npos) return false;
    const std::string tag(xml.substr(at + 1, end - at - 1));
    at = end;
    if (tag.ends_with('/')) continue;
    if (!tag.starts_with('/')) {
      open.push_back(tag.substr(0, tag.find(' ')));
    } else {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

}  // namespace

TEST_CASE("a derivation in MathML is a table, well-formed whatever the names") {
  MicroTape tape;
  const Var x = tape.leaf(normal({2, 3}, 1), "a<b> & \"c\"\x01"),
            w = tape.leaf(normal({3}, 2), "]]>");
  const Var y = sqrt(exp(x * w) / 2.0 + 1).named("Y");
  const std::string mathml = to_mathml(derivation(tape, y));
  CHECK(is_well_formed(mathml));
  CHECK(mathml.starts_with(
      "<math xmlns=\"http://www.w3.org/1998/Math/MathML\" display=\"block\">\n"
      "<mtable displaystyle=\"true\">\n<mtr><mtd style=\"text-align: right\"><mi>Y</mi></mtd>"
      "<mtd style=\"text-align: left\"><mo>=</mo><msqrt>"));
  CHECK(mathml.find("<mtext>given</mtext>") != std::string::npos);
  CHECK(mathml.find("<mi>a&lt;b&gt; &amp; \"c\" </mi>") != std::string::npos);
}

TEST_CASE("names that look like adjoints and numbers are told apart from these") {
  // Bug: dX#1 was the second of two dX, and also the adjoint of X#1.
  MicroTape tape;
  const Var a = tape.leaf(normal({2}, 1), "dX"), b = tape.leaf(normal({2}, 2), "dX");
  const Var c = tape.leaf(normal({2}, 3), "X#1");
  CHECK(derived(tape, sum(a * b * c).named("L")) == R"(L = sum(dX#0 * dX#1 * X#1#2)
given dL = 1:
ddX#0 = dL * (X#1#2 * dX#1)
ddX#1 = dL * (X#1#2 * dX#0)
dX#1#2 = dL * (dX#0 * dX#1)
)");
}

TEST_CASE("a derivation has the same bytes each time") {
  MicroTape tape;
  const Var c = attend(tape);
  const Derivation once = derivation(tape, c), again = derivation(tape, c);
  CHECK(to_text(once) == to_text(again));
  CHECK(to_latex(once) == to_latex(again));
  CHECK(to_mathml(once) == to_mathml(again));
}

TEST_CASE("single equations know their nodes, and what is given comes first") {
  MicroTape tape;
  const Var c = attend(tape);
  const Derivation d = derivation(tape, c);
  CHECK(d.y == c.node());
  REQUIRE(d.given.size() == 4);
  CHECK((d.given[0].node == 0 && to_text(d.given[0].name) == "Q"));
  CHECK((d.given[3].node == c.node() && d.given[3].is_adjoint));
  REQUIRE(d.equations.size() == 8);
  CHECK((d.equations[2].node == c.node() && !d.equations[2].is_adjoint));
  CHECK((d.equations[4].node == 2 && d.equations[4].is_adjoint));
  CHECK(to_text(d.equations[4].left) == "dV");
}
