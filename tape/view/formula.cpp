#include <microtape/tape/view/formula.hpp>

#include <algorithm>
#include <utility>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape {
namespace {

using Kind = Formula::Kind;

bool is_literal(const Formula& f) { return f.kind == Kind::number; }

bool is_one(const Formula& f) { return is_literal(f) && *f.value == 1; }

/// Adds two literals up, and drops a leading factor and an exponent of 1: x^{@n - 1} reads as x^2
/// or x, and a product without a factor of its own, 1 A B, as A B.
Formula folded(Formula f) {
  const bool is_sum = f.kind == Kind::add || f.kind == Kind::subtract;
  if (is_sum && is_literal(f.children[0]) && is_literal(f.children[1])) {
    const double a = *f.children[0].value;
    const double b = *f.children[1].value;
    return number_formula(f.kind == Kind::add ? a + b : a - b);
  }
  const bool is_first = f.kind == Kind::power && is_one(f.children[1]);
  const bool is_second = f.kind == Kind::product && is_one(f.children[0]);
  if (!is_first && !is_second) return f;
  Formula rest = std::move(f.children[is_first ? 0 : 1]);
  return rest;
}

const std::vector<Formula>& look_up(const Bindings& bindings, const Formula& slot) {
  const auto found = bindings.find(slot.text);
  if (found != bindings.end() && !found->second.empty()) return found->second;
  throw ValueError(cat(
      "substitute: no such name: @", slot.text, "; a formula names inputs, attributes, y and g"));
}

}  // namespace

bool Formula::is_number() const {
  switch (kind) {
    case Kind::number:
    case Kind::symbol:
      return true;
    case Kind::add:
    case Kind::subtract:
    case Kind::negate:
    case Kind::product:
    case Kind::hadamard:
    case Kind::divide:
    case Kind::root:
    case Kind::power:
      return value || std::all_of(children.begin(), children.end(),
                          [](const Formula& child) { return child.is_number(); });
    default:
      return false;
  }
}

Formula number_formula(double value) {
  Formula result;
  result.value = value;
  return result;
}

Formula list_formula(const Indices& items, std::optional<Index> rank) {
  Formula result;
  result.kind = Kind::list;
  for (const Index item : items)
    result.children.push_back(number_formula(static_cast<double>(item)));
  if (rank) result.value = static_cast<double>(*rank);
  return result;
}

Formula name_formula(std::string_view text, std::string_view latex) {
  Formula result;
  result.kind = Kind::name;
  result.text = text;
  result.latex = latex.empty() ? text : latex;
  return result;
}

Formula formula(Kind kind, std::vector<Formula> children) {
  Formula result;
  result.kind = kind;
  result.children = std::move(children);
  return result;
}

Formula substitute(const Formula& f, const Bindings& bindings) {
  if (f.kind == Kind::slot) return look_up(bindings, f).front();
  Formula result = f;
  result.children.clear();
  const bool takes_many = f.kind == Kind::call && (f.text == "concat" || f.text == "stack");
  for (const Formula& child : f.children) {
    if (takes_many && child.kind == Kind::slot) {
      const std::vector<Formula>& all = look_up(bindings, child);
      result.children.insert(result.children.end(), all.begin(), all.end());
    } else {
      result.children.push_back(substitute(child, bindings));
    }
  }
  for (Formula& entry : result.subscript) entry = substitute(entry, bindings);
  return folded(std::move(result));
}

}  // namespace microtape
