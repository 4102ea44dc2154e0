#include <cmath>
#include <optional>
#include <utility>

#include <microtape/core/format.hpp>
#include <microtape/tape/view/formula.hpp>
#include <microtape/tape/view/formula_call.hpp>

namespace microtape {
namespace {

using Kind = Formula::Kind;

/// How tightly a text holds together.
enum class Level { sum, product, power, atom };

/// A printed formula, and what stands in it outside of parentheses.
struct Printed {
  std::string text;
  Level level = Level::atom;
  bool is_negative = false;   ///< it begins with a minus that belongs to the whole product
  bool has_matrix = false;    ///< a matrix product
  bool has_hadamard = false;  ///< an elementwise product, or a division by more than a number
  bool has_fraction = false;  ///< any division
};

Printed print(const Formula& f);

std::string in_parentheses(const std::string& text) { return "(" + text + ")"; }

/// As an operand that holds together by itself: the right one of a product, the base of a power.
std::string tight(const Printed& p, Level least) {
  return p.level < least ? in_parentheses(p.text) : p.text;
}

std::string number_text(double value) {
  constexpr double kExact = 1e15;
  const bool is_whole = std::trunc(value) == value && std::abs(value) < kExact;
  return is_whole ? cat(static_cast<Index>(value)) : number(value);
}

/// \tau is tau, d_{model} is d_model.
std::string symbol_text(const std::string& latex) {
  std::string out;
  for (const char c : latex)
    if (c != '\\' && c != '{' && c != '}') out += c;
  return out;
}

Printed print_sum(const Formula& f) {
  const Printed left = print(f.children[0]);
  Printed right = print(f.children[1]);
  bool is_minus = f.kind == Kind::subtract;
  // a + -2 is a - 2.
  if (right.is_negative) {
    right.text.erase(0, 1);
    is_minus = !is_minus;
  }
  return {left.text + (is_minus ? " - " : " + ") + tight(right, Level::product), Level::sum};
}

Printed print_negative(const Formula& f) {
  Printed p = print(f.children[0]);
  if (p.level < Level::product || p.is_negative) p = {in_parentheses(p.text)};
  p.text.insert(0, "-");
  p.level = Level::product;
  p.is_negative = true;
  return p;
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

Printed print_product(const Formula& f) {
  if (const auto moved = fraction_moved(f)) return print(*moved);
  Printed left = print(f.children[0]);
  const Printed right = print(f.children[1]);
  const bool left_is_number = f.children[0].is_number();
  const bool right_is_number = f.children[1].is_number();
  const bool is_hadamard = f.kind == Kind::hadamard;
  const bool is_matrix = !is_hadamard && !left_is_number && !right_is_number;
  const bool mixes = is_hadamard ? left.has_matrix : left.has_hadamard || left.has_fraction;
  if (left.level < Level::product || mixes) left = {in_parentheses(left.text)};
  const bool has_star = is_hadamard || (left_is_number && right_is_number);
  return {left.text + (has_star ? " * " : " ") + tight(right, Level::power), Level::product,
      left.is_negative, left.has_matrix || is_matrix, left.has_hadamard || is_hadamard,
      left.has_fraction};
}

Printed print_quotient(const Formula& f) {
  Printed top = print(f.children[0]);
  const Printed bottom = print(f.children[1]);
  const bool is_elementwise = !f.children[1].is_number();
  const bool mixes = top.has_fraction || (is_elementwise && top.has_matrix);
  if (top.level < Level::product || mixes) top = {in_parentheses(top.text)};
  return {top.text + " / " + tight(bottom, Level::power), Level::product, top.is_negative,
      top.has_matrix, top.has_hadamard || is_elementwise, true};
}

Printed print_power(const Formula& f) {
  const std::string base = tight(print(f.children[0]), Level::atom);
  return {base + "^" + tight(print(f.children[1]), Level::atom), Level::power};
}

Printed print_call(const Formula& f) {
  const CallName name = call_name(f);
  std::string out = name.function;
  if (!name.note.empty()) out += "[" + name.note + "]";
  std::string arguments;
  for (const Formula& argument : f.children)
    arguments += (arguments.empty() ? "" : ", ") + print(argument).text;
  return {out + in_parentheses(arguments)};
}

std::string list_text(const Formula& f) {
  std::string items;
  for (const Formula& item : f.children) items += (items.empty() ? "" : ", ") + print(item).text;
  return "[" + items + "]";
}

Printed print_number(double value) {
  const bool is_negative = value < 0;
  return {number_text(value), is_negative ? Level::product : Level::atom, is_negative};
}

Printed print(const Formula& f) {
  const auto child = [&f](std::size_t i) { return print(f.children[i]).text; };
  switch (f.kind) {
    case Kind::number:
      return print_number(*f.value);
    case Kind::symbol:
      return {symbol_text(f.text)};
    case Kind::slot:
      return {"@" + f.text};
    case Kind::name:
      return {f.text};
    case Kind::list:
      return {list_text(f)};
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
      return {"sqrt" + in_parentheses(child(0))};
    case Kind::power:
      return print_power(f);
    case Kind::transpose:
      return {tight(print(f.children[0]), Level::atom) + "^T", Level::power};
    case Kind::greater:
      return {"[" + child(0) + " > " + child(1) + "]"};
    case Kind::equal:
      return {"[" + child(0) + " = " + child(1) + "]"};
    case Kind::call:
      return print_call(f);
  }
  return {};
}

}  // namespace

std::string to_text(const Formula& formula) { return print(formula).text; }

}  // namespace microtape
