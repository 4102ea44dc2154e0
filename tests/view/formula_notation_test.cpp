// Formulas in LaTeX, in MathML and in Unicode.

#include <microtape/tape/view/formula.hpp>

#include "catch.hpp"

using namespace microtape;

namespace {

/// With every name bound to itself, c = 1/sqrt(d), tau, and axes -1 or [0, 1] of rank 3.
Formula bound(std::string_view latex) {
  Bindings bindings;
  for (const char* name : {"Q", "K", "A", "B", "x", "y", "dS"})
    bindings[name] = {name_formula(name)};
  bindings["W"] = {name_formula("W_Q")};
  bindings["drop"] = {name_formula("P_drop", R"(\tilde P)")};
  bindings["plain"] = {name_formula("P_drop")};
  bindings["loss"] = {name_formula("loss")};
  bindings["dloss"] = {name_formula("dloss")};
  bindings["theta"] = {name_formula("theta_1")};
  bindings["dalpha"] = {name_formula("dα")};
  bindings["number"] = {name_formula("#12")};
  bindings["shared"] = {name_formula("W_Q#12")};
  bindings["odd"] = {name_formula("a<b> & 50%_{x}")};
  bindings["c"] = {parse_formula(R"(\frac{1}{\sqrt{d}})")};
  bindings["tau"] = {parse_formula(R"(\tau_{max})")};
  bindings["small"] = {number_formula(-1.5e-7)};
  bindings["axis"] = {number_formula(-1)};
  bindings["axes"] = {list_formula({0, 1}, 3)};
  return substitute(parse_formula(latex), bindings);
}

std::string latex(std::string_view formula) { return to_latex(bound(formula)); }
std::string mathml(std::string_view formula) { return to_mathml(bound(formula)); }
std::string unicode(std::string_view formula) { return to_text(bound(formula), Glyphs::unicode); }

}  // namespace

TEST_CASE("LaTeX of the equations of attention") {
  CHECK(latex(R"(@c @Q @K^\top)") == R"(\frac{Q\,K^\top}{\sqrt{d}})");
  CHECK(
      latex(R"(\operatorname{softmax}_{@axis}(@x))") == R"(\operatorname{softmax}\left(x\right))");
  CHECK(latex(R"(@y \odot (@x - \operatorname{rowsum}_{@axis}(@x \odot @y)))") ==
        R"(y \odot \left(x - \operatorname{rowsum}\left(x \odot y\right)\right))");
  CHECK(latex(R"(\operatorname{sum}_{@axes}(@A))") ==
        R"(\operatorname{sum}_{\text{axes 0, 1}}\left(A\right))");
}

TEST_CASE("a fraction in LaTeX needs no parentheses, but those around it stay") {
  CHECK(latex(R"(\frac{@A + @B}{@x - 1})") == R"(\frac{A + B}{x - 1})");
  CHECK(latex(R"(\frac{@A}{@B} @x)") == R"(\frac{A}{B}\,x)");
  CHECK(latex(R"((\frac{@A}{@B})^{2})") == R"(\left(\frac{A}{B}\right)^{2})");
  CHECK(latex(R"(@x - \frac{-@A}{2})") == R"(x + \frac{A}{2})");
  CHECK(latex(R"(\frac{-@A + @B}{2})") == R"(\frac{-A + B}{2})");
  CHECK(latex(R"((@A + @B) @x)") == R"(\left(A + B\right)\,x)");
  CHECK(latex(R"(@x^{-1})") == R"(x^{-1})");
  CHECK(latex(R"(-(@A + @B))") == R"(-\left(A + B\right))");
  CHECK(latex(R"(@A @B \odot @x)") == R"(\left(A\,B\right) \odot x)");
}

TEST_CASE("names in LaTeX: indices, words, Greek letters, what the user gave") {
  CHECK(latex(R"(@W^\top)") == R"(W_Q^\top)");
  CHECK(latex("@drop") == R"(\tilde P)");
  CHECK(latex("@plain") == R"(P_{\mathrm{drop}})");
  CHECK(latex("@loss") == R"(\mathrm{loss})");
  CHECK(latex("@dloss") == R"(\mathrm{dloss})");
  CHECK(latex("@dS @theta") == R"(dS\,\theta_1)");
  CHECK(latex("@dalpha") == R"(d\alpha)");
  CHECK(latex("@number") == R"(\text{\#12})");
  CHECK(latex(R"(@shared^\top)") == R"({W_Q}_{\text{\#12}}^\top)");
  CHECK(latex("@odd") == R"(\text{a<b> \& 50\%}_x)");
}

TEST_CASE("what has something above it in LaTeX becomes a group before it gets more") {
  CHECK(latex(R"((@A^{2})^\top)") == R"(\left(A^{2}\right)^\top)");
  CHECK(to_latex(formula(Formula::Kind::transpose, {name_formula("W", "W^{+}")})) ==
        R"({W^{+}}^\top)");
}

TEST_CASE("numbers and symbols in LaTeX") {
  CHECK(latex(R"(@tau @x)") == R"(\tau_{\mathrm{max}}\,x)");
  CHECK(latex(R"(@small @x)") == R"(-1.5 \cdot 10^{-7}\,x)");
  CHECK(latex(R"(\operatorname{Phi}(@x) [@x > 0])") == R"(\Phi\left(x\right)\,\left[x > 0\right])");
}

TEST_CASE("MathML of the equations of attention") {
  CHECK(mathml(R"(@c @Q @K^\top)") ==
        "<mfrac><mrow><mi>Q</mi><mspace width=\"0.17em\"/><msup><mrow><mi>K</mi></mrow><mo>⊤</mo>"
        "</msup></mrow><mrow><msqrt><mi>d</mi></msqrt></mrow></mfrac>");
  CHECK(mathml(R"(\operatorname{sum}_{@axes}(-@A))") ==
        "<msub><mi>sum</mi><mtext>axes 0, 1</mtext></msub><mrow><mo>(</mo><mo>−</mo><mi>A</mi>"
        "<mo>)</mo></mrow>");
  CHECK(mathml(R"([@x > 0] \odot @y^{2})") ==
        "<mrow><mo>[</mo><mi>x</mi><mo>&gt;</mo><mn>0</mn><mo>]</mo></mrow><mo>⊙</mo><msup><mrow>"
        "<mi>y</mi></mrow><mrow><mn>2</mn></mrow></msup>");
}

TEST_CASE("names in MathML are escaped, indexed, and Greek where they are Greek") {
  CHECK(mathml("@odd") == "<msub><mi>a&lt;b&gt; &amp; 50%</mi><mi>x</mi></msub>");
  CHECK(mathml("@W") == "<msub><mi>W</mi><mi>Q</mi></msub>");
  CHECK(mathml("@dS") == "<mrow><mi>d</mi><mi>S</mi></mrow>");
  CHECK(mathml("@theta") == "<msub><mi>θ</mi><mi>1</mi></msub>");
  CHECK(mathml("@shared") == "<msub><msub><mi>W</mi><mi>Q</mi></msub><mi>#12</mi></msub>");
  CHECK(mathml("@number") == "<mi>#12</mi>");
  CHECK(mathml("@tau") == "<msub><mi>τ</mi><mi>max</mi></msub>");
  CHECK(mathml("@small") == "<mo>−</mo><mn>1.5</mn><mo>·</mo><msup><mn>10</mn><mn>-7</mn></msup>");
  CHECK(to_mathml(name_formula("x\xef\xbf\xbfy\x01z")) == "<mi>x\xef\xbf\xbdy z</mi>");
}

TEST_CASE("a sum over all axes of a number, which has none, says so by no note") {
  // Bug: sum[axes ](x).
  const Formula axes = list_formula({}, 0);
  const Formula f = substitute(
      parse_formula(R"(\operatorname{sum}_{@axes}(@x) + \operatorname{rowsum}_{@axes}(@x))"),
      {{"axes", {axes}}, {"x", {name_formula("x")}}});
  CHECK(to_text(f) == "sum(x) + sum[all, kept](x)");
}

TEST_CASE("Unicode text has the signs of mathematics") {
  CHECK(unicode(R"(@c @Q @K^\top)") == "Q Kᵀ / √d");
  CHECK(unicode(R"(@y \odot (@x - @A^{2} \sqrt{2 \pi}))") == "y ⊙ (x − A² √(2 ⊙ π))");
  CHECK(unicode(R"(@tau @x^{@small})") == "τ_max x^(−1.5e-07)");
  CHECK(unicode(R"(\operatorname{Phi}(-@x))") == "Φ(−x)");
}
