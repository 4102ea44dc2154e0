#include <utility>

#include <microtape/core/format.hpp>
#include <microtape/tape/diagnose_mistakes.hpp>
#include <microtape/tape/view/formula_shape.hpp>
#include <microtape/tape/view/formula_traits.hpp>

// Mistakes with terms, factors and operands.

namespace microtape::diagnosis {
namespace {

using Kind = Formula::Kind;

constexpr std::string_view kWays =
    "the result depends on this input in more than one way: each way adds a term";
constexpr std::string_view kProductRule = "the derivative of the result, factor by factor";

Formula negative(const Formula& f) {
  return f.kind == Kind::negate ? f.children[0] : formula(Kind::negate, {f});
}

bool is_sum(const Formula& f) { return f.kind == Kind::add || f.kind == Kind::subtract; }

/// The same operation with another child at i.
Mistake with_other(const Formula& f, std::size_t i, const Formula& child, std::string key,
    std::string_view what, std::string_view look) {
  return changed(cat(key, " ", i), f, with_child(f, i, child), what, look);
}

}  // namespace

Mistakes missing_term(const Formula& f, const Evidence&) {
  if (!is_sum(f)) return {};
  const Formula &a = f.children[0], &b = f.children[1];
  const auto is_missing = [](const Formula& term) {
    return cat("the term ", to_text(term), " is missing");
  };
  return {
      {"second", a, is_missing(b), std::string(kWays)},
      {"first", f.kind == Kind::add ? b : negative(b), is_missing(a), std::string(kWays)},
  };
}

Mistakes wrong_sign(const Formula& f, const Evidence&) {
  constexpr std::string_view kLook = "derive the sign of this term again";
  if (f.kind == Kind::negate)
    return {{"minus", f.children[0],
        cat("the minus before ", to_text(f.children[0]), " is missing"), std::string(kLook)}};
  if (!is_sum(f)) return {};
  const bool is_plus = f.kind == Kind::add;
  const Formula &a = f.children[0], &b = f.children[1];
  return {
      {"second", formula(is_plus ? Kind::subtract : Kind::add, {a, b}),
          cat("the term ", to_text(b), " has the wrong sign: ", is_plus ? "- where +" : "+ where -",
              " belongs"),
          std::string(kLook)},
      {"first", with_child(f, 0, negative(a)), cat("the term ", to_text(a), " has the wrong sign"),
          std::string(kLook)},
  };
}

Mistakes missing_factor(const Formula& f, const Evidence&) {
  const auto is_missing = [](std::string_view what, const Formula& part) {
    return cat("the ", what, " ", to_text(part), " is missing");
  };
  Mistakes out;
  if (f.kind == Kind::hadamard || f.kind == Kind::product)
    for (std::size_t i = 0; i < 2; ++i)
      out.push_back(changed(cat("without ", i), f, f.children[1 - i],
          is_missing("factor", f.children[i]), kProductRule));
  if (f.kind == Kind::divide) {
    out.push_back(changed(
        "divisor", f, f.children[0], is_missing("division by", f.children[1]), kProductRule));
    const bool is_number = f.children[1].is_number();
    out.push_back(changed("inverted", f,
        is_number ? formula(Kind::product, {f.children[1], f.children[0]})
                  : formula(Kind::hadamard, f.children),
        cat("it multiplies by ", to_text(f.children[1]), " where it must divide"), kProductRule));
  }
  if (f.kind == Kind::power) {
    const Formula &x = f.children[0], &n = f.children[1];
    out.push_back(changed("exponent", f, x, is_missing("exponent", n), "the power rule"));
    for (const Kind kind : {Kind::add, Kind::subtract})
      out.push_back(changed(kind == Kind::add ? "more" : "less", f,
          with_child(f, 1, formula(kind, {n, number_formula(1)})),
          cat("the exponent of ", to_text(x), " is off by one"), "the power rule"));
  }
  return out;
}

Mistakes factor_twice(const Formula& f, const Evidence&) {
  Mistakes out;
  if (f.kind != Kind::hadamard && f.kind != Kind::divide) return out;
  for (std::size_t i = 0; i < 2; ++i) {
    const Formula& factor = f.children[i];
    if (factor.kind != Kind::name) continue;
    out.push_back(with_other(f, i, formula(Kind::hadamard, {factor, factor}), "twice",
        cat("the factor ", factor.text, " stands twice"), kProductRule));
  }
  return out;
}

Mistakes other_operand(const Formula& f, const Evidence& e) {
  Mistakes out;
  for (std::size_t i = 0; i < f.children.size(); ++i) {
    const Formula& name = f.children[i];
    if (name.kind != Kind::name) continue;
    for (const Formula& other : e.operands)
      if (other.text != name.text && other.shape == name.shape)
        out.push_back(with_other(f, i, other, other.text,
            cat(other.text, " stands where ", name.text, " belongs"),
            "which values does the rule need?"));
  }
  return out;
}

Mistakes wrong_number(const Formula& f, const Evidence&) {
  Mistakes out;
  const bool scales = f.kind == Kind::product || f.kind == Kind::hadamard || f.kind == Kind::divide;
  if (!scales) return out;
  constexpr std::string_view kLook = "follow the number through the derivative";
  for (std::size_t i = 0; i < 2; ++i) {
    const Formula& c = f.children[i];
    if (!c.is_number()) continue;
    const std::string text = to_text(c);
    out.push_back(with_other(f, i, formula(Kind::product, {c, c}), "twice",
        cat("the number ", text, " is applied twice"), kLook));
    out.push_back(with_other(f, i, formula(Kind::divide, {number_formula(1), c}), "inverted",
        cat("the number ", text, " is the wrong way up"), kLook));
  }
  return out;
}

Mistakes wrong_function(const Formula& f, const Evidence&) {
  constexpr std::string_view kLook = "which function does the derivative contain?";
  if (f.kind == Kind::root)
    return {changed("root", f, f.children[0], "the square root is missing", kLook)};
  if (is_elementwise(f))
    return {changed("function", f, f.children[0], cat(f.text, " is missing"), kLook)};
  if (f.kind == Kind::greater)
    return {changed("way", f, formula(Kind::greater, {f.children[1], f.children[0]}),
        "the condition is the wrong way round", kLook)};
  return {};
}

}  // namespace microtape::diagnosis
