#include <microtape/tape/view/formula_rules.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <microtape/tape/view/formula_shape.hpp>
#include <microtape/tape/view/formula_traits.hpp>

namespace microtape {
namespace {

using Kind = Formula::Kind;

// --- transposes inward ---------------------------------------------------------------------------

/// (A^T)^T = A.
Changed double_transpose(const Formula& f) {
  if (f.kind != Kind::transpose || f.children[0].kind != Kind::transpose) return std::nullopt;
  return f.children[0].children[0];
}

/// (A B)^T = B^T A^T.
Changed transpose_of_a_product(const Formula& f) {
  if (f.kind != Kind::transpose || !is_matrix_product(f.children[0])) return std::nullopt;
  const std::vector<Formula>& factors = f.children[0].children;
  return formula(Kind::product,
      {formula(Kind::transpose, {factors[1]}), formula(Kind::transpose, {factors[0]})});
}

/// (the sum of A over a batch)^T = the sum of A^T over it.
Changed transpose_of_a_sum(const Formula& f) {
  if (f.kind != Kind::transpose || !is_call(f.children[0], "sum")) return std::nullopt;
  const Formula& sum = f.children[0];
  const auto from = shape_of(sum.children[0]);
  const Indices axes = axes_of(sum);
  const auto is_of_a_batch = [&](Index axis) { return axis >= 0 && axis + 2 < from->rank(); };
  if (!from || axes.empty() || !std::all_of(axes.begin(), axes.end(), is_of_a_batch))
    return std::nullopt;
  Formula out = with_child(sum, 0, formula(Kind::transpose, {sum.children[0]}));
  if (out.shape) out.shape = shape_of(f);
  return out;
}

// --- scalars and signs outward -------------------------------------------------------------------

/// Of several scalings the sign stands outermost, then what divides, then a number, then a value.
int rank_of_scaling(const Formula& f) {
  if (!scaled_child(f)) return -1;
  return f.kind == Kind::negate ? 3 : f.kind == Kind::divide ? 2 : f.kind == Kind::product ? 1 : 0;
}

/// A call that moves out of scalars by itself is none.
bool is_linear_call(const Formula& f) {
  static constexpr std::array<std::string_view, 13> kLinear{"sum", "rowsum", "mean", "rowmean",
      "broadcast", "sumto", "reshape", "permute", "slice", "unslice", "select", "heads", "merge"};
  return f.kind == Kind::call && f.children.size() == 1 && !is_aligned_broadcast(f) &&
         !merges_rows(f) && std::find(kLinear.begin(), kLinear.end(), f.text) != kLinear.end();
}

/// Whether f is linear in its child at i.
bool is_linear(const Formula& f, std::size_t i) {
  switch (f.kind) {
    case Kind::negate:
    case Kind::transpose:
    case Kind::product:
    case Kind::hadamard:
      return true;
    case Kind::divide:
      return i == 0;
    default:
      return is_linear_call(f);
  }
}

/// (c A) B = c (A B), (A / c)^T = A^T / c, sum(-A) = -sum(A): scalars and signs leave all that is
/// linear.
Changed scaling_outward(const Formula& f) {
  for (std::size_t i = 0; i < f.children.size(); ++i) {
    const Formula& child = f.children[i];
    const auto inner = scaled_child(child);
    if (!inner || !is_linear(f, i)) continue;
    if (scaled_child(f) == i && rank_of_scaling(f) >= rank_of_scaling(child)) continue;
    return with_child(child, *inner, with_child(f, i, child.children[*inner]));
  }
  return std::nullopt;
}

/// A c = c A, 1 A = A, (-2) A = -(2 A).
Changed number_in_front(const Formula& f) {
  if (f.kind != Kind::product || f.is_number()) return std::nullopt;
  const Formula &c = f.children[0], &a = f.children[1];
  if (a.is_number()) return formula(Kind::product, {a, c});
  if (c.kind != Kind::number) return std::nullopt;
  if (*c.value == 1) return a;
  if (!(*c.value < 0)) return std::nullopt;
  return formula(Kind::negate, {formula(Kind::product, {number_formula(-*c.value), a})});
}

/// (p / q) A = (p A) / q.
Changed fraction_in_front(const Formula& f) {
  if (f.kind != Kind::product || f.is_number()) return std::nullopt;
  const Formula& fraction = f.children[0];
  if (fraction.kind != Kind::divide || !fraction.is_number()) return std::nullopt;
  const Formula& p = fraction.children[0];
  Formula q = fraction.children[1];
  // 1 / sqrt(d) came with its number, and sqrt(d) has none of its own.
  if (fraction.value && !p.value) return std::nullopt;
  if (fraction.value && !q.value) q.value = *p.value / *fraction.value;
  return formula(Kind::divide, {formula(Kind::product, {p, f.children[1]}), q});
}

Formula product_of_numbers(const Formula& a, const Formula& b) {
  if (a.kind == Kind::number && b.kind == Kind::number) return number_formula(*a.value * *b.value);
  return formula(Kind::product, {a, b});
}

/// -(-A) = A.
Changed double_negation(const Formula& f) {
  if (f.kind != Kind::negate || f.children[0].kind != Kind::negate) return std::nullopt;
  return f.children[0].children[0];
}

/// c (d A) = (c d) A.
Changed two_numbers(const Formula& f) {
  if (f.kind != Kind::product || f.is_number() || !f.children[0].is_number()) return std::nullopt;
  const Formula& inner = f.children[1];
  if (inner.kind != Kind::product || !inner.children[0].is_number()) return std::nullopt;
  return formula(
      Kind::product, {product_of_numbers(f.children[0], inner.children[0]), inner.children[1]});
}

/// (A / c) / d = A / (c d).
Changed two_divisors(const Formula& f) {
  if (f.kind != Kind::divide || f.is_number() || !f.children[1].is_number()) return std::nullopt;
  const Formula& inner = f.children[0];
  if (inner.kind != Kind::divide || !inner.children[1].is_number()) return std::nullopt;
  return formula(
      Kind::divide, {inner.children[0], product_of_numbers(inner.children[1], f.children[1])});
}

/// A + (-B) = A - B, A - (-B) = A + B.
Changed sign_in_a_sum(const Formula& f) {
  if (!is_sum(f) || f.children[1].kind != Kind::negate) return std::nullopt;
  return formula(
      f.kind == Kind::add ? Kind::subtract : Kind::add, {f.children[0], f.children[1].children[0]});
}

/// A (B C) = A B C, A * (B * C) = A * B * C.
Changed factors_in_a_row(const Formula& f) {
  const bool is_product = is_matrix_product(f) && is_matrix_product(f.children[1]);
  const bool is_hadamard = f.kind == Kind::hadamard && f.children[1].kind == Kind::hadamard;
  if ((!is_product && !is_hadamard) || scaled_child(f)) return std::nullopt;
  const std::vector<Formula>& right = f.children[1].children;
  return formula(f.kind, {formula(f.kind, {f.children[0], right[0]}), right[1]});
}

constexpr FormulaRule kTextbook[] = {
    double_transpose,
    transpose_of_a_product,
    transpose_of_a_sum,
    scaling_outward,
    number_in_front,
    fraction_in_front,
    double_negation,
    two_numbers,
    two_divisors,
    sign_in_a_sum,
    factors_in_a_row,
};

// --- applying them -------------------------------------------------------------------------------

using Rules = std::span<const FormulaRule>;

/// Applies rules, from the leaves to the root, until none applies.
Formula rewritten(Formula f, std::initializer_list<Rules> lists) {
  for (Formula& child : f.children) child = rewritten(std::move(child), lists);
  for (const Rules rules : lists)
    for (const FormulaRule rule : rules)
      if (Changed better = rule(f)) return rewritten(*std::move(better), lists);
  return f;
}

/// c (A B) as (c A) B, which is written without parentheses.
Formula scaled(const Formula& c, Formula f) {
  const bool is_elementwise = f.kind == Kind::hadamard || f.kind == Kind::divide;
  if (!is_elementwise && !is_matrix_product(f)) return formula(Kind::product, {c, std::move(f)});
  // 2 (A B) * C needs no more parentheses than (A B) * C.
  const bool is_mixed = is_elementwise && is_matrix_product(f.children[0]);
  Formula first = is_mixed ? formula(Kind::product, {c, f.children[0]}) : scaled(c, f.children[0]);
  return with_child(std::move(f), 0, std::move(first));
}

}  // namespace

Formula numbers_in_front(Formula f) {
  for (Formula& child : f.children) child = numbers_in_front(std::move(child));
  if (f.kind != Kind::product || f.is_number() || !f.children[0].is_number()) return f;
  return scaled(f.children[0], f.children[1]);
}

Formula literal_form(Formula f) { return rewritten(std::move(f), {silent_rules()}); }

Formula textbook_form(Formula f) {
  return numbers_in_front(rewritten(std::move(f), {silent_rules(), kTextbook}));
}

}  // namespace microtape
