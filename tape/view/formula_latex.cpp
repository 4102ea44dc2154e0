#include <algorithm>

#include <microtape/tape/view/formula_printer.hpp>

namespace microtape {
namespace {

/// Text as it stands, upright.
std::string as_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("#$%&_{}").find(c) != std::string_view::npos)
      out += std::string("\\") + c;
    else if (c == '\\')
      out += "\\textbackslash{}";
    else if (c == '^' || c == '~')
      out += std::string("\\") + c + "{}";
    else
      out += c;
  }
  return "\\text{" + out + "}";
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_plain(const std::string& text) {
  return std::all_of(
      text.begin(), text.end(), [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

/// A word of more than one letter is upright: letters side by side would be a product.
std::string word(const std::string& text) {
  if (!greek(text).empty()) return "\\" + text;
  if (const std::string letter = greek_name(text); !letter.empty()) return "\\" + letter;
  if (!is_plain(text)) return as_text(text);
  return text.size() == 1 ? text : "\\mathrm{" + text + "}";
}

/// W_Q is W_Q, P_drop is P_{drop}, dP the differential of P.
std::string name_latex(const std::string& text) {
  const Indexed numbered = split_number(text);
  if (!numbered.index.empty())
    return "{" + name_latex(numbered.base) + "}_{" + as_text(numbered.index) + "}";
  const Indexed parts = split_index(text);
  // The d of an adjoint stands before a letter as a letter.
  const std::string rest = parts.base[0] == 'd' ? parts.base.substr(1) : "";
  const bool is_adjoint = rest.size() == 1 || !greek(rest).empty() || !greek_name(rest).empty();
  const std::string base = is_adjoint ? "d" + word(rest) : word(parts.base);
  if (parts.index.empty()) return base;
  const std::string index = word(parts.index);
  return base + "_" + (index.size() == 1 ? index : "{" + index + "}");
}

class Latex final : public Notation {
 public:
  bool stacks_fractions() const override { return true; }
  std::string number(const std::string& digits) const override {
    const Indexed parts = split_exponent(digits);
    if (parts.index.empty()) return is_number(digits) ? digits : word(digits);
    return parts.base + R"( \cdot 10^{)" + parts.index + "}";
  }
  std::string symbol(const std::string& latex) const override {
    const Indexed parts = split_index(latex);
    const std::string base = parts.base[0] == '\\' ? parts.base : word(parts.base);
    return parts.index.empty() ? base : base + "_{" + word(parts.index) + "}";
  }
  std::string name(const Formula& name) const override {
    return name.latex == name.text || name.latex.empty() ? name_latex(name.text) : name.latex;
  }

  std::string parentheses(const std::string& inside) const override {
    return R"(\left()" + inside + R"(\right))";
  }
  std::string brackets(const std::string& inside) const override {
    return R"(\left[)" + inside + R"(\right])";
  }
  std::string listed(const std::vector<std::string>& parts) const override {
    std::string out;
    for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
    return out;
  }

  std::string negative(const std::string& a) const override { return "-" + a; }
  std::string sum(const std::string& a, const std::string& b) const override {
    return a + " + " + b;
  }
  std::string difference(const std::string& a, const std::string& b) const override {
    return a + " - " + b;
  }
  std::string product(const std::string& a, const std::string& b) const override {
    return a + R"(\,)" + b;
  }
  std::string hadamard(const std::string& a, const std::string& b) const override {
    return a + R"( \odot )" + b;
  }
  std::string quotient(const std::string& a, const std::string& b) const override {
    return R"(\frac{)" + a + "}{" + b + "}";
  }
  std::string root(const std::string& a, const Formula&) const override {
    return R"(\sqrt{)" + a + "}";
  }
  std::string power(const std::string& base, const std::string& exponent) const override {
    return nucleus(base) + "^{" + exponent + "}";
  }
  std::string transpose(const std::string& a) const override { return nucleus(a) + R"(^\top)"; }
  std::string relation(const std::string& a, char sign, const std::string& b) const override {
    return a + " " + sign + " " + b;
  }
  std::string call(const CallName& name, const std::string& arguments) const override {
    const std::string f = greek(name.function).empty() ? R"(\operatorname{)" + name.function + "}"
                                                       : "\\" + name.function;
    return f + (name.note.empty() ? "" : "_{" + as_text(name.note) + "}") + arguments;
  }

 private:
  static bool is_number(const std::string& digits) {
    return digits.find_first_not_of("0123456789.") == std::string::npos;
  }
  /// What takes something above: one that has something there already must be a group.
  static std::string nucleus(const std::string& a) {
    return a.find('^') == std::string::npos || a.starts_with(R"(\left()") ? a : "{" + a + "}";
  }
};

}  // namespace

std::string to_latex(const Formula& formula) { return print(formula, Latex()); }

}  // namespace microtape
