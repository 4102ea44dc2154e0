#include <algorithm>
#include <array>

#include <microtape/tape/view/formula_printer.hpp>

namespace microtape {
namespace {

using Kind = Formula::Kind;

/// "12" as "¹²"; empty unless all are digits.
std::string raised(const std::string& text) {
  static constexpr std::array<std::string_view, 10> kDigits{
      "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out;
  for (const char c : text) {
    if (c < '0' || c > '9') return "";
    out += kDigits[static_cast<std::size_t>(c - '0')];
  }
  return out;
}

class Text final : public Notation {
 public:
  explicit Text(Glyphs glyphs) : is_unicode_(glyphs == Glyphs::unicode) {}

  bool stacks_fractions() const override { return false; }
  std::string number(const std::string& digits) const override { return digits; }
  std::string symbol(const std::string& latex) const override {
    const Indexed parts = split_index(latex);
    std::string base = parts.base;
    std::erase(base, '\\');
    if (const std::string sign = greek(base); is_unicode_ && !sign.empty()) base = sign;
    return parts.index.empty() ? base : base + "_" + parts.index;
  }
  std::string name(const Formula& name) const override { return name.text; }

  std::string parentheses(const std::string& inside) const override { return "(" + inside + ")"; }
  std::string brackets(const std::string& inside) const override { return "[" + inside + "]"; }
  std::string listed(const std::vector<std::string>& parts) const override {
    std::string out;
    for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
    return out;
  }

  std::string negative(const std::string& a) const override { return minus() + a; }
  std::string sum(const std::string& a, const std::string& b) const override {
    return a + " + " + b;
  }
  std::string difference(const std::string& a, const std::string& b) const override {
    return a + " " + minus() + " " + b;
  }
  std::string product(const std::string& a, const std::string& b) const override {
    return a + " " + b;
  }
  std::string hadamard(const std::string& a, const std::string& b) const override {
    return a + (is_unicode_ ? " ⊙ " : " * ") + b;
  }
  std::string quotient(const std::string& a, const std::string& b) const override {
    return a + " / " + b;
  }
  std::string root(const std::string& a, const Formula& inside) const override {
    const bool is_sign =
        inside.kind == Kind::number || inside.kind == Kind::symbol || inside.kind == Kind::name;
    if (!is_unicode_) return "sqrt" + parentheses(a);
    return "√" + (is_sign ? a : parentheses(a));
  }
  std::string power(const std::string& base, const std::string& exponent) const override {
    const std::string above = is_unicode_ ? raised(exponent) : "";
    return base + (above.empty() ? "^" + exponent : above);
  }
  std::string transpose(const std::string& a) const override {
    return a + (is_unicode_ ? "ᵀ" : "^T");
  }
  std::string relation(const std::string& a, char sign, const std::string& b) const override {
    return a + " " + sign + " " + b;
  }
  std::string call(const CallName& name, const std::string& arguments) const override {
    const std::string note = name.note.empty() ? "" : brackets(name.note);
    const std::string sign = is_unicode_ ? greek(name.function) : "";
    return (sign.empty() ? name.function : sign) + note + arguments;
  }

 private:
  std::string minus() const { return is_unicode_ ? "−" : "-"; }

  bool is_unicode_;
};

}  // namespace

std::string to_text(const Formula& formula, Glyphs glyphs) { return print(formula, Text(glyphs)); }

}  // namespace microtape
