#include <algorithm>

#include <microtape/tape/view/formula_printer.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

/// Text as XML has it.
std::string escaped(const std::string& text) { return utf8::escaped(utf8::printable(text)); }

std::string element(const std::string& tag, const std::string& inside) {
  return "<" + tag + ">" + inside + "</" + tag + ">";
}
std::string identifier(const std::string& text) { return element("mi", escaped(text)); }
std::string sign(const std::string& text) { return element("mo", text); }
std::string row(const std::string& inside) { return element("mrow", inside); }

/// The name of a Greek letter as that letter.
std::string word(const std::string& text) {
  const std::string letter = greek(text);
  return identifier(letter.empty() ? text : letter);
}

/// The d of an adjoint stands before a letter as a letter: a word of two would be upright.
std::string base(const std::string& text) {
  const std::string rest = text.starts_with('d') ? text.substr(1) : "";
  const bool is_adjoint = utf8::characters(rest).size() == 1 || !greek(rest).empty();
  return is_adjoint ? row(identifier("d") + word(rest)) : word(text);
}

std::string indexed(const std::string& text) {
  const Indexed numbered = split_number(text);
  if (!numbered.index.empty())
    return element("msub", indexed(numbered.base) + identifier(numbered.index));
  const Indexed parts = split_index(text);
  if (parts.index.empty()) return base(text);
  return element("msub", base(parts.base) + identifier(parts.index));
}

/// MathML Core. Each part is a sequence of elements, so it is put in a row where one is needed.
class Mathml final : public Notation {
 public:
  bool stacks_fractions() const override { return true; }
  std::string number(const std::string& digits) const override {
    const Indexed parts = split_exponent(digits);
    if (parts.index.empty()) return element("mn", digits);
    return element("mn", parts.base) + sign("·") +
           element("msup", element("mn", "10") + element("mn", parts.index));
  }
  std::string symbol(const std::string& latex) const override {
    const Indexed parts = split_index(latex);
    std::string name = parts.base;
    std::erase(name, '\\');
    if (const std::string letter = greek(name); !letter.empty()) name = letter;
    if (parts.index.empty()) return identifier(name);
    return element("msub", identifier(name) + identifier(parts.index));
  }
  std::string name(const Formula& name) const override { return indexed(name.text); }

  std::string parentheses(const std::string& inside) const override {
    return row(sign("(") + inside + sign(")"));
  }
  std::string brackets(const std::string& inside) const override {
    return row(sign("[") + inside + sign("]"));
  }
  std::string listed(const std::vector<std::string>& parts) const override {
    std::string out;
    for (const std::string& part : parts) out += (out.empty() ? "" : sign(",")) + part;
    return out;
  }

  std::string negative(const std::string& a) const override { return sign("−") + a; }
  std::string sum(const std::string& a, const std::string& b) const override {
    return a + sign("+") + b;
  }
  std::string difference(const std::string& a, const std::string& b) const override {
    return a + sign("−") + b;
  }
  std::string product(const std::string& a, const std::string& b) const override {
    return a + R"(<mspace width="0.17em"/>)" + b;
  }
  std::string hadamard(const std::string& a, const std::string& b) const override {
    return a + sign("⊙") + b;
  }
  std::string quotient(const std::string& a, const std::string& b) const override {
    return element("mfrac", row(a) + row(b));
  }
  std::string root(const std::string& a, const Formula&) const override {
    return element("msqrt", a);
  }
  std::string power(const std::string& base, const std::string& exponent) const override {
    return element("msup", row(base) + row(exponent));
  }
  std::string transpose(const std::string& a) const override {
    return element("msup", row(a) + sign("⊤"));
  }
  std::string relation(const std::string& a, char op, const std::string& b) const override {
    return a + sign(op == '>' ? "&gt;" : "=") + b;
  }
  std::string call(const CallName& name, const std::string& arguments) const override {
    const std::string letter = greek(name.function);
    const std::string f = identifier(letter.empty() ? name.function : letter);
    if (name.note.empty()) return f + arguments;
    return element("msub", f + element("mtext", escaped(name.note))) + arguments;
  }
};

}  // namespace

std::string to_mathml(const Formula& formula) { return print(formula, Mathml()); }

}  // namespace microtape
