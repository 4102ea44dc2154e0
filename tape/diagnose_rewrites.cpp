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
    "the terms of the derivative: one for each way from the input to the result";
constexpr std::string_view kProductRule = "the derivative of the result, factor by factor";

Formula negative(const Formula& f) {
  return f.kind == Kind::negate ? f.children[0] : formula(Kind::negate, {f});
}

/// The same operation with another child at i.
Mistake with_other(const Formula& f, std::size_t i, const Formula& child, std::string key,
    std::string_view what, std::string_view look) {
  return changed(cat(key, " ", i), f, with_child(f, i, child), what, look);
}

}  // namespace

Mistakes missing_term(const Formula& f, const Evidence&) {
  if (!is_sum(f)) return {};
  const Formula &a = f.children[0], &b = f.children[1];
  const auto without = [&](std::string key, const Formula& rest, std::size_t i) {
    const std::string cause = cat("the term ", to_text(f.children[i]), " is missing");
    return Mistake{
        std::move(key), rest, cause, std::string(kWays), {}, {}, cat(cause, ", or comes to 0"), i};
  };
  return {without("second", a, 1), without("first", f.kind == Kind::add ? b : negative(b), 0)};
}

Mistakes wrong_sign(const Formula& f, const Evidence&) {
  constexpr std::string_view kLook = "the sign of this term";
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
  Mistakes out;
  const auto add = [&](std::string key, const Formula& rest, std::string cause, std::size_t i) {
    out.push_back(changed(std::move(key), f, rest, cause, kProductRule));
    out.back().unsure = cat(cause, ", or comes to 1");
    out.back().part = i;
  };
  const auto factor = [&](std::size_t i) {
    return cat("the factor ", to_text(f.children[i]), " is missing");
  };
  if (f.kind == Kind::hadamard || f.kind == Kind::product) {
    add("first", f.children[1], factor(0), 0);
    add("second", f.children[0], factor(1), 1);
  }
  if (f.kind != Kind::divide) return out;
  const Formula &a = f.children[0], &b = f.children[1];
  add("divisor", a, cat("the division by ", to_text(b), " is missing"), 1);
  add("numerator", with_child(f, 0, number_formula(1)), factor(0), 0);
  const Kind kind = b.is_number() ? Kind::product : Kind::hadamard;
  out.push_back(changed("inverted", f, formula(kind, {b, a}),
      cat("it multiplies by ", to_text(b), " where it must divide"), kProductRule));
  return out;
}

Mistakes wrong_power(const Formula& f, const Evidence&) {
  if (f.kind != Kind::power) return {};
  constexpr std::string_view kLook = "the power rule";
  const Formula &x = f.children[0], &n = f.children[1];
  const std::string is_off = cat("the exponent of ", to_text(x), " is off by one");
  const auto shifted = [&](double by) {
    return with_child(f, 1,
        n.kind == Kind::number ? number_formula(*n.value + by)
                               : formula(Kind::add, {n, number_formula(by)}));
  };
  return {
      changed("exponent", f, x, cat("the exponent ", to_text(n), " is missing"), kLook),
      changed("more", f, shifted(1), is_off, kLook),
      changed("less", f, shifted(-1), is_off, kLook),
  };
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
  if (f.kind == Kind::transpose) return out;  // told with what it stands in
  for (std::size_t i = 0; i < f.children.size(); ++i) {
    const Formula& child = f.children[i];
    const bool is_transposed = child.kind == Kind::transpose;
    const Formula& name = is_transposed ? child.children[0] : child;
    if (name.kind != Kind::name) continue;
    for (const Formula& other : e.operands.names)
      if (other.text != name.text && other.shape == name.shape)
        out.push_back(with_other(f, i, is_transposed ? with_child(child, 0, other) : other,
            other.text, cat(other.text, " stands where ", name.text, " belongs"),
            "the values that the rule takes"));
  }
  return out;
}

Mistakes wrong_number(const Formula& f, const Evidence&) {
  Mistakes out;
  const bool scales = f.kind == Kind::product || f.kind == Kind::hadamard || f.kind == Kind::divide;
  if (!scales) return out;
  constexpr std::string_view kLook = "this number, on its way through the derivative";
  for (std::size_t i = 0; i < 2; ++i) {
    const Formula& c = f.children[i];
    if (!c.is_number()) continue;
    const std::string text = to_text(c);
    out.push_back({cat("twice ", i), with_child(f, i, formula(Kind::product, {c, c})),
        cat("the number ", text, " is applied twice"), std::string(kLook)});
    out.push_back(
        {cat("inverted ", i), with_child(f, i, formula(Kind::divide, {number_formula(1), c})),
            cat("the number ", text, " is the wrong way up"), std::string(kLook)});
  }
  return out;
}

Mistakes wrong_function(const Formula& f, const Evidence&) {
  constexpr std::string_view kLook = "the derivative of each function";
  if (f.kind == Kind::root)
    return {changed("root", f, f.children[0], "the square root is missing", kLook)};
  if (is_elementwise(f) || is_call(f, "softmax") || is_call(f, "logsoftmax"))
    return {changed("function", f, f.children[0], cat(f.text, " is missing"), kLook)};
  if (is_call(f, "broadcast") && !f.children[0].is_number())
    return {{"broadcast", f.children[0],
        cat(to_text(f.children[0]), " is not repeated to the shape of the input"),
        "the axis that was reduced: its adjoint is spread along it again"}};
  if (f.kind == Kind::greater)
    return {changed("way", f, formula(Kind::greater, {f.children[1], f.children[0]}),
        "the condition is the wrong way round", kLook)};
  return {};
}

}  // namespace microtape::diagnosis
