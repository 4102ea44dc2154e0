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

constexpr std::string_view kSumOrMean = "the sum, or the mean";

/// The simplest first: the first of several that come to the same is told.
constexpr Rewrite kCatalogue[] = {
    missing_term,
    wrong_sign,
    wrong_sum,
    missing_factor,
    wrong_power,
    factor_twice,
    other_operand,
    wrong_matrix,
    wrong_number,
    wrong_function,
};

/// The cause, with the part that has changed if that is short.
std::string told(const Mistake& mistake) {
  constexpr std::size_t kLong = 90;
  if (!mistake.before) return mistake.cause;
  const std::string texts = cat(to_text(*mistake.after), " instead of ", to_text(*mistake.before));
  return texts.size() > kLong ? mistake.cause : cat(mistake.cause, ": ", texts);
}

/// One kind of mistake, at every place.
Mistakes everywhere(const Formula& f, Rewrite rewrite, const Evidence& e) {
  if (f.is_number()) return {};
  Mistakes out = rewrite(f, e);
  for (Mistake& mistake : out) {
    mistake.kind = rewrite;
    mistake.from = f;
    mistake.to = mistake.formula;
  }
  for (std::size_t i = 0; i < f.children.size(); ++i)
    for (Mistake& mistake : everywhere(f.children[i], rewrite, e)) {
      mistake.place = cat(i, ".", mistake.place);
      mistake.formula = with_child(f, i, std::move(mistake.formula));
      // rowsum(g) instead of rowsum(g * y) says more than g instead of g * y.
      if (f.children.size() == 1 && mistake.before == f.children[i]) {
        mistake.before = f;
        mistake.after = mistake.formula;
      }
      out.push_back(std::move(mistake));
    }
  return out;
}

/// The formula with something else in place of a part, wherever that stands.
Formula replaced(const Formula& f, const Formula& part, const Formula& by) {
  if (f == part) return by;
  Formula out = f;
  for (Formula& child : out.children) child = replaced(child, part, by);
  return out;
}

/// Whether it is linear in each child.
bool distributes(const Formula& f) {
  return f.kind == Kind::negate || f.kind == Kind::product || f.kind == Kind::hadamard;
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
  if (f.is_number()) return f;
  if (is_sum(f)) {
    for (Formula& child : f.children) child = expanded(std::move(child));
    return f;
  }
  if (!distributes(f)) return f;
  for (std::size_t i = 0; i < f.children.size(); ++i) {
    const Formula child = expanded(f.children[i]);
    if (!is_sum(child) || child.is_number()) continue;
    const auto part = [&](std::size_t k) {
      return expanded(without_ones(with_child(f, i, child.children[k])));
    };
    return formula(child.kind, {part(0), part(1)});
  }
  return f;
}

/// Only some of several uses counted.
Mistakes lost_contribution(const Evidence& e, const std::string& input) {
  Mistakes out;
  const std::size_t uses = e.contributions.size();
  if (uses < 2) return out;
  const auto add = [&](std::string key, std::vector<Formula> left, std::string what) {
    if (const auto sum = sum_of_contributions(left, e.right.shape))
      out.push_back({std::move(key), *sum, cat(input, " is used ", uses, " times, and ", what),
          "the adding up: a contribution must not overwrite another"});
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

/// An operand that stands wrong in all of its places, or where it does not belong, and the rule of
/// another input.
Mistakes wrong_whole(const Formula& f, const Evidence& e, const std::string& input) {
  Mistakes out;
  for (const Formula& name : e.operands.names) {
    for (const Formula& other : e.operands.names) {
      const Formula after = replaced(f, name, other);
      if (other == name || other.shape != name.shape || after == f) continue;
      out.push_back(changed(cat("all ", name.text, " ", other.text), f, after,
          cat(other.text, " stands where ", name.text, " belongs"),
          "the values that the rule takes"));
    }
    if (name.shape == e.right.shape)
      out.push_back({cat("times ", name.text), formula(Kind::hadamard, {f, name}),
          cat("the factor ", name.text, " is one too many"), "the values that the rule takes"});
    const bool is_g = name == e.operands.names.back();
    out.push_back({cat("just ", name.text), name,
        is_g ? "the adjoint of the result is passed on unchanged"
             : cat("d", input, " is just ", name.text),
        "the chain rule: the adjoint of the result times the derivative of the result"});
    if (!is_g) continue;
    Formula one = call_of("broadcast", number_formula(1));
    one.shape = name.shape;
    out.push_back(
        {"ones", replaced(f, name, one), cat(name.text, " is ignored, as if it were 1 everywhere"),
            "the chain rule: the adjoint of the result times the derivative of the result"});
  }
  for (const auto& [name, adjoint] : e.siblings)
    out.push_back(
        {cat("sibling ", name), adjoint, cat("this is d", name, ", where d", input, " belongs"),
            "which rule stands at which input"});
  return out;
}

/// A multiple of what is right: twice, a half, n times and 1/n, n being an extent.
Mistakes scaled(const Formula& f, const Evidence& e, const std::string& input) {
  Mistakes out;
  const auto add = [&](std::string key, double c, const std::string& what, std::string_view look) {
    out.push_back({std::move(key), formula(Kind::product, {number_formula(c), f}),
        cat("d", input, " is ", what), std::string(look)});
  };
  add("twice", 2, "twice the right one", "the number of factors and of terms");
  add("half", 0.5, "half of the right one", "the number of factors and of terms");
  for (const auto& [of, shape] : {std::pair{"x", e.right.shape}, {"y", e.g.shape}})
    for (Index axis = 0; axis <= shape.rank(); ++axis) {
      // Counted from the end; 0 stands for all of them.
      const Index n = axis == 0 ? shape.size() : shape[-axis];
      const std::string note = axis == 0 ? ", a number of elements" : ", the extent of an axis";
      const double extent = static_cast<double>(n);
      add(cat("times ", of, axis), extent, cat("the right one times ", n, note), kSumOrMean);
      add(cat("by ", of, axis), 1 / extent, cat("the right one divided by ", n, note), kSumOrMean);
    }
  return out;
}

}  // namespace

Mistake changed(std::string key, const Formula& before, const Formula& after,
    std::string_view cause, std::string_view look) {
  return {std::move(key), after, std::string(cause), std::string(look), before, after};
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
  for (const Rewrite& rewrite : kCatalogue)
    for (std::size_t form = 0; form < 2; ++form) {
      if (form == 1 && forms[0] == forms[1]) continue;
      for (Mistake& mistake : everywhere(forms[form], rewrite, e)) {
        mistake.place = cat(form, ".", mistake.place);
        mistake.key = cat(&rewrite - kCatalogue, " ", mistake.place, " ", mistake.key);
        const Formula all = replaced(forms[form], *mistake.from, *mistake.to);
        out.push_back(mistake);
        if (all == mistake.formula) continue;
        out.push_back(mistake);
        out.back().key += " all";
        out.back().formula = all;
        out.back().place = "";
      }
    }
  std::ranges::move(wrong_whole(*e.formula, e, input), std::back_inserter(out));
  std::ranges::move(scaled(*e.formula, e, input), std::back_inserter(out));
  for (Mistake& mistake : out) mistake.cause = told(mistake);
  return out;
}

}  // namespace microtape::diagnosis
