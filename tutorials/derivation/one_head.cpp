// The equations of one head of attention, written by the tape that computed it.

#include <cmath>
#include <iostream>

#include <microtape/microtape.hpp>

using namespace microtape;

int main() {
  MicroTape tape;
  const Var q = tape.leaf(Tensor::randn({3, 4}, 1), "Q");
  const Var k = tape.leaf(Tensor::randn({5, 4}, 2), "K"),
            v = tape.leaf(Tensor::randn({5, 2}, 3), "V");

  // A transpose, a product and a scaling, as one types them first. Only S, P and C have a name.
  const Scale by_width{1 / std::sqrt(4.0), R"(\frac{1}{\sqrt{d}})"};
  const Var s = matmul(q, transpose(scale(k, by_width))).named("S");
  const Var p = softmax(s).named("P");
  const Var c = matmul(p, v).named("C");

  const Derivation textbook = derivation(tape, c);
  const Derivation literal = derivation(tape, c, {.form = DerivationForm::literal});
  std::cout << "As a textbook has it: scalars and signs outside, transposes inside.\n\n"
            << to_text(textbook) << "\nAs the ops recorded it.\n\n"
            << to_text(literal) << "\nThe textbook's again, with the signs of mathematics.\n\n"
            << to_text(textbook, Glyphs::unicode) << "\nFor a slide.\n\n"
            << to_latex(textbook);
}
