#include <microtape/tape/view/derivation.hpp>

namespace microtape {
namespace {

/// How a derivation is put together from lines.
struct Layout {
  std::string begin, between, end;
};

/// The equations of values, what is given, the equations of adjoints.
template <class Line>
std::string written(
    const Derivation& derivation, const Layout& layout, const std::string& given, Line line) {
  std::string out = layout.begin;
  bool is_given = false;
  const auto add = [&](const std::string& text) {
    if (out.size() > layout.begin.size()) out += layout.between;
    out += text;
  };
  for (const Equation& equation : derivation.equations) {
    if (equation.is_adjoint && !is_given) add(given);
    is_given |= equation.is_adjoint;
    add(line(equation));
  }
  if (!is_given) add(given);
  return out + layout.end;
}

const Formula& adjoint_of_y(const Derivation& derivation) { return derivation.given.back().name; }

bool is_scalar(const Derivation& derivation) { return adjoint_of_y(derivation).shape->size() == 1; }

}  // namespace

std::string to_text(const Derivation& derivation, Glyphs glyphs) {
  const std::string given = "given " + to_text(adjoint_of_y(derivation), glyphs) +
                            (is_scalar(derivation) ? " = 1:" : ":");
  return written(derivation, {"", "\n", "\n"}, given, [glyphs](const Equation& equation) {
    return to_text(equation.left, glyphs) + " = " + to_text(equation.right, glyphs);
  });
}

std::string to_latex(const Derivation& derivation) {
  const std::string given = R"(\text{given } )" + to_latex(adjoint_of_y(derivation)) +
                            (is_scalar(derivation) ? R"( = 1\colon)" : R"(\colon)");
  const Layout layout{"\\begin{aligned}\n", " \\\\\n", "\n\\end{aligned}\n"};
  return written(derivation, layout, given, [](const Equation& equation) {
    return to_latex(equation.left) + " &= " + to_latex(equation.right);
  });
}

std::string to_mathml(const Derivation& derivation) {
  const auto row = [](const std::string& left, const std::string& right) {
    return "<mtr><mtd style=\"text-align: right\">" + left +
           "</mtd><mtd style=\"text-align: left\">" + right + "</mtd></mtr>";
  };
  const std::string one = is_scalar(derivation) ? "<mo>=</mo><mn>1</mn>" : "";
  const std::string given = row("<mtext>given</mtext>", to_mathml(adjoint_of_y(derivation)) + one);
  const Layout layout{
      "<math xmlns=\"http://www.w3.org/1998/Math/MathML\" display=\"block\">\n"
      "<mtable displaystyle=\"true\">\n",
      "\n", "\n</mtable>\n</math>\n"};
  return written(derivation, layout, given, [&row](const Equation& equation) {
    return row(to_mathml(equation.left), "<mo>=</mo>" + to_mathml(equation.right));
  });
}

}  // namespace microtape
