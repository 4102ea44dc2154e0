#include <microtape/tape/view/formula_printer.hpp>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <microtape/core/format.hpp>

namespace microtape {
namespace {

using Kind = Formula::Kind;

/// How tightly a text holds together.
enum class Level { sum, product, power, atom };

/// A printed formula, and what stands in it outside of parentheses.
struct Printed {
  std::string text;  ///< without the minus
  Level level = Level::atom;
  bool is_negative = false;   ///< a minus stands before its first term
  bool has_matrix = false;    ///< a matrix product
  bool has_hadamard = false;  ///< an elementwise product, or a division by more than a number
  bool has_fraction = false;  ///< any division on one line
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 27> kGreek{
    {{"alpha", "α"}, {"beta", "β"}, {"gamma", "γ"}, {"delta", "δ"}, {"epsilon", "ϵ"},
        {"varepsilon", "ε"}, {"zeta", "ζ"}, {"eta", "η"}, {"theta", "θ"}, {"iota", "ι"},
        {"kappa", "κ"}, {"lambda", "λ"}, {"mu", "μ"}, {"nu", "ν"}, {"xi", "ξ"}, {"pi", "π"},
        {"rho", "ρ"}, {"sigma", "σ"}, {"tau", "τ"}, {"upsilon", "υ"}, {"phi", "ϕ"}, {"varphi", "φ"},
        {"chi", "χ"}, {"psi", "ψ"}, {"omega", "ω"}, {"Phi", "Φ"}, {"Psi", "Ψ"}}};

std::string number_text(double value) {
  constexpr double kExact = 1e15;
  const bool is_whole = std::trunc(value) == value && std::abs(value) < kExact;
  return is_whole ? cat(static_cast<Index>(value)) : number(value);
}

/// p/q A b .. is p A b .. / q: the product with the fraction of numbers that leads it moved behind;
/// nothing if it has none.
std::optional<Formula> fraction_moved(const Formula& f) {
  if (f.kind != Kind::product && f.kind != Kind::hadamard) return std::nullopt;
  const Formula& left = f.children[0];
  if (left.kind == Kind::divide && left.is_number()) {
    const Formula& numerator = left.children[0];
    const bool is_one = numerator.kind == Kind::number && *numerator.value == 1;
    return formula(
        Kind::divide, {is_one ? f.children[1] : formula(Kind::product, {numerator, f.children[1]}),
                          left.children[1]});
  }
  const std::optional<Formula> inner = fraction_moved(left);
  if (!inner) return std::nullopt;
  return formula(
      Kind::divide, {formula(f.kind, {inner->children[0], f.children[1]}), inner->children[1]});
}

class Printer {
 public:
  explicit Printer(const Notation& notation) : to_(notation) {}

  Printed print(const Formula& f) const {
    const auto child = [&](std::size_t i) { return whole(print(f.children[i])); };
    switch (f.kind) {
      case Kind::number:
        return print_number(*f.value);
      case Kind::symbol:
        return {to_.symbol(f.text)};
      case Kind::slot:
        return {to_.name(name_formula("@" + f.text))};
      case Kind::name:
        return {to_.name(f)};
      case Kind::list:
        return {to_.brackets(listed(f.children))};
      case Kind::add:
      case Kind::subtract:
        return print_sum(f);
      case Kind::negate:
        return print_negative(f);
      case Kind::product:
      case Kind::hadamard:
        return print_product(f);
      case Kind::divide:
        return print_quotient(f);
      case Kind::root:
        return {to_.root(child(0), f.children[0])};
      case Kind::power:
        return print_power(f);
      case Kind::transpose:
        return {to_.transpose(tight(print(f.children[0]), Level::atom)), Level::power};
      case Kind::greater:
        return {to_.brackets(to_.relation(child(0), '>', child(1)))};
      case Kind::equal:
        return {to_.brackets(to_.relation(child(0), '=', child(1)))};
      case Kind::call:
        return {to_.call(call_name(f), to_.parentheses(listed(f.children)))};
    }
    return {};
  }

  /// With its minus.
  std::string whole(const Printed& p) const {
    return p.is_negative ? to_.negative(p.text) : p.text;
  }

 private:
  std::string in_parentheses(const Printed& p) const { return to_.parentheses(whole(p)); }

  /// As an operand that holds together by itself: the right one of a product, the base of a power.
  std::string tight(const Printed& p, Level least) const {
    return p.level < least ? in_parentheses(p) : whole(p);
  }

  std::string listed(const std::vector<Formula>& formulas) const {
    std::vector<std::string> parts;
    for (const Formula& f : formulas) parts.push_back(whole(print(f)));
    return to_.listed(parts);
  }

  static Printed negative(Printed p) {
    p.level = Level::product;
    p.is_negative = true;
    return p;
  }

  Printed print_number(double value) const {
    const Printed p{to_.number(number_text(std::abs(value)))};
    return value < 0 ? negative(p) : p;
  }

  Printed print_sum(const Formula& f) const {
    const Printed left = print(f.children[0]);
    Printed right = print(f.children[1]);
    bool is_minus = f.kind == Kind::subtract;
    // a + (b - c) is a + b - c, but a - (b - c) is not a - b - c.
    if (right.level < Level::product && is_minus) right = {in_parentheses(right)};
    // a + -2 is a - 2.
    if (right.is_negative) is_minus = !is_minus;
    return {is_minus ? to_.difference(left.text, right.text) : to_.sum(left.text, right.text),
        Level::sum, left.is_negative};
  }

  Printed print_negative(const Formula& f) const {
    Printed p = print(f.children[0]);
    if (p.level < Level::product || p.is_negative) p = {in_parentheses(p)};
    return negative(std::move(p));
  }

  Printed print_product(const Formula& f) const {
    if (const auto moved = fraction_moved(f)) return print(*moved);
    Printed left = print(f.children[0]);
    const Printed right = print(f.children[1]);
    const bool left_is_number = f.children[0].is_number();
    const bool right_is_number = f.children[1].is_number();
    const bool is_hadamard = f.kind == Kind::hadamard;
    const bool is_matrix = !is_hadamard && !left_is_number && !right_is_number;
    const bool mixes = is_hadamard ? left.has_matrix : left.has_hadamard || left.has_fraction;
    if (left.level < Level::product || mixes) left = {in_parentheses(left)};
    const std::string b = tight(right, Level::power);
    const bool has_star = is_hadamard || (left_is_number && right_is_number);
    return {has_star ? to_.hadamard(left.text, b) : to_.product(left.text, b), Level::product,
        left.is_negative, left.has_matrix || is_matrix, left.has_hadamard || is_hadamard,
        left.has_fraction};
  }

  Printed print_quotient(const Formula& f) const {
    Printed top = print(f.children[0]);
    const Printed bottom = print(f.children[1]);
    if (to_.stacks_fractions()) {
      // The minus of a product stands before the fraction.
      const bool is_negative = top.is_negative && top.level >= Level::product;
      return {to_.quotient(is_negative ? top.text : whole(top), whole(bottom)),
          is_negative ? Level::product : Level::power, is_negative};
    }
    const bool is_elementwise = !f.children[1].is_number();
    const bool mixes = top.has_fraction || (is_elementwise && top.has_matrix);
    if (top.level < Level::product || mixes) top = {in_parentheses(top)};
    return {to_.quotient(top.text, tight(bottom, Level::power)), Level::product, top.is_negative,
        top.has_matrix, top.has_hadamard || is_elementwise, true};
  }

  Printed print_power(const Formula& f) const {
    const std::string base = tight(print(f.children[0]), Level::atom);
    const Printed exponent = print(f.children[1]);
    const bool is_raised = to_.stacks_fractions();  // what stands above holds together by itself
    return {
        to_.power(base, is_raised ? whole(exponent) : tight(exponent, Level::atom)), Level::power};
  }

  const Notation& to_;
};

}  // namespace

std::string print(const Formula& formula, const Notation& notation) {
  const Printer printer(notation);
  return printer.whole(printer.print(formula));
}

std::string greek(std::string_view name) {
  for (const auto& [letter, sign] : kGreek)
    if (letter == name) return std::string(sign);
  return "";
}

std::string greek_name(std::string_view sign) {
  for (const auto& [letter, other] : kGreek)
    if (other == sign) return std::string(letter);
  return "";
}

Indexed split_exponent(const std::string& digits) {
  const std::size_t e = digits.find('e');
  if (e == std::string::npos) return {digits, ""};
  const std::string sign = digits[e + 1] == '-' ? "-" : "";
  return {digits.substr(0, e), sign + digits.substr(digits.find_first_not_of("+-0", e + 1))};
}

Indexed split_index(const std::string& text) {
  const std::size_t at = text.find('_');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) return {text, ""};
  std::string index = text.substr(at + 1);
  if (index.size() > 2 && index.front() == '{' && index.back() == '}')
    index = index.substr(1, index.size() - 2);
  return {text.substr(0, at), index};
}

Indexed split_number(const std::string& text) {
  const std::size_t at = text.rfind('#');
  if (at == std::string::npos || at == 0 || (at == 1 && text[0] == 'd')) return {text, ""};
  return {text.substr(0, at), text.substr(at)};
}

}  // namespace microtape
