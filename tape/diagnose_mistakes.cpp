#include <microtape/tape/diagnose_mistakes.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <microtape/core/format.hpp>
#include <microtape/tape/view/formula_traits.hpp>

// The catalogue, and where in a formula a mistake can be made.

namespace microtape::diagnosis {
namespace {

using Kind = Formula::Kind;

/// The simplest first: the first of several that come to the same is told.
constexpr Rewrite kCatalogue[] = {
    missing_term,
    wrong_sign,
    wrong_sum,
    missing_factor,
    factor_twice,
    other_operand,
    wrong_matrix,
    wrong_number,
    wrong_function,
};

/// One kind of mistake, at every place.
Mistakes everywhere(const Formula& f, Rewrite rewrite, const Evidence& e) {
  if (f.is_number()) return {};
  Mistakes out = rewrite(f, e);
  for (std::size_t i = 0; i < f.children.size(); ++i)
    for (Mistake& mistake : everywhere(f.children[i], rewrite, e)) {
      mistake.key = cat(i, ".", mistake.key);
      mistake.formula = with_child(f, i, std::move(mistake.formula));
      out.push_back(std::move(mistake));
    }
  return out;
}

bool is_sum(const Formula& f) {
  return (f.kind == Kind::add || f.kind == Kind::subtract) && !f.is_number();
}

/// Whether f (a + b) = f a + f b, for its child at i.
bool distributes(const Formula& f, std::size_t i) {
  return f.kind == Kind::negate || f.kind == Kind::product || f.kind == Kind::hadamard ||
         (f.kind == Kind::divide && i == 0);
}

/// a * 1 = a
Formula without_ones(Formula f) {
  const auto is_one = [](const Formula& c) { return c.kind == Kind::number && *c.value == 1; };
  if (f.kind != Kind::hadamard) return f;
  if (is_one(f.children[1])) return f.children[0];
  return is_one(f.children[0]) ? f.children[1] : f;
}

/// y * (g - s) as y * g - y * s: where people forget a factor of one term.
Formula expanded(Formula f) {
  if (is_sum(f)) {
    for (Formula& child : f.children) child = expanded(std::move(child));
    return f;
  }
  for (std::size_t i = 0; i < f.children.size(); ++i) {
    if (!distributes(f, i)) continue;
    const Formula child = expanded(f.children[i]);
    if (!is_sum(child)) continue;
    const auto part = [&](std::size_t k) {
      return expanded(without_ones(with_child(f, i, child.children[k])));
    };
    return formula(child.kind, {part(0), part(1)});
  }
  return f;
}

/// The formula with something else in place of a name.
Formula replaced(const Formula& f, const Formula& name, const Formula& by) {
  if (f.kind == Kind::name && f.text == name.text) return by;
  Formula out = f;
  for (Formula& child : out.children) child = replaced(child, name, by);
  return out;
}

/// Only some of several uses counted.
Mistakes lost_contribution(const Evidence& e, const std::string& input) {
  Mistakes out;
  const std::size_t uses = e.contributions.size();
  if (uses < 2) return out;
  const auto add = [&](std::string key, std::vector<Formula> left, std::string what) {
    if (const auto sum = sum_of_contributions(left, e.right.shape))
      out.push_back({std::move(key), *sum,
          cat(input, " is used ", uses, " times, and ", what, ": one overwrites another"),
          "each use adds to the adjoint: add them up"});
  };
  for (std::size_t i = 0; i < uses; ++i) {
    std::vector<Formula> rest = e.contributions;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    const std::vector<Formula> own{e.contributions[i]};
    add(cat("only ", i), own, cat("only the contribution ", to_text(own[0]), " is there"));
    if (uses > 2)
      add(cat("without ", i), rest, cat("the contribution ", to_text(own[0]), " is missing"));
  }
  return out;
}

/// An operand that stands wrong in all of its places, and the rule of another input.
Mistakes swapped(const Formula& f, const Evidence& e, const std::string& input) {
  Mistakes out;
  for (const Formula& name : e.operands) {
    for (const Formula& other : e.operands) {
      const Formula after = replaced(f, name, other);
      if (other == name || other.shape != name.shape || after == f) continue;
      out.push_back(changed(cat("all ", name.text, " ", other.text), f, after,
          cat(other.text, " stands where ", name.text, " belongs"),
          "which values does the rule need?"));
    }
    if (name != e.operands.back()) continue;
    Formula one = call_of("broadcast", number_formula(1));
    one.shape = name.shape;
    out.push_back(
        {"ones", replaced(f, name, one), cat(name.text, " is ignored, as if it were 1 everywhere"),
            cat("the chain rule: multiply by ", name.text, ", the adjoint of the result")});
  }
  for (const auto& [name, adjoint] : e.siblings)
    out.push_back({cat("sibling ", name), adjoint,
        cat("this is d", name, ", where d", input, " belongs"), "which rule is whose?"});
  return out;
}

}  // namespace

Mistake changed(std::string key, const Formula& before, Formula after, std::string_view what,
    std::string_view look) {
  constexpr std::size_t kLong = 90;
  std::string cause(what);
  const std::string texts = cat(to_text(after), " instead of ", to_text(before));
  if (texts.size() < kLong) cause += cat(": ", texts);
  return {std::move(key), std::move(after), std::move(cause), std::string(look)};
}

Formula call_of(std::string_view function, Formula argument) {
  Formula result = formula(Kind::call, {std::move(argument)});
  result.text = function;
  return result;
}

Mistakes known_mistakes(const Evidence& e, const std::string& input) {
  if (!e.formula) return {};
  Mistakes out = lost_contribution(e, input);
  const Formula forms[] = {expanded(*e.formula), *e.formula};
  for (const Rewrite rewrite : kCatalogue)
    for (std::size_t form = 0; form < 2; ++form) {
      if (form == 1 && forms[0] == forms[1]) continue;
      for (Mistake& mistake : everywhere(forms[form], rewrite, e)) {
        mistake.key = cat(form, " ", &rewrite - kCatalogue, " ", mistake.key);
        out.push_back(std::move(mistake));
      }
    }
  std::ranges::move(swapped(*e.formula, e, input), std::back_inserter(out));
  return out;
}

}  // namespace microtape::diagnosis
