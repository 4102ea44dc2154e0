#include <array>
#include <utility>

#include <microtape/tape/view/formula_rules.hpp>
#include <microtape/tape/view/formula_shape.hpp>
#include <microtape/tape/view/formula_traits.hpp>

// The rules that leave broadcasts and merged rows out.

namespace microtape {
namespace {

using Kind = Formula::Kind;

/// Whether f does the same to every number of its child at i: whatever else it has are numbers.
bool is_pointwise_in(const Formula& f, std::size_t i) {
  if (f.kind == Kind::negate || f.kind == Kind::root || is_elementwise(f)) return true;
  if (f.kind != Kind::product && !is_pointwise_pair(f)) return false;
  return f.children[1 - i].is_number();
}

/// f with what stands inside its child at i in place of it.
Formula without_call(const Formula& f, std::size_t i) {
  return with_child(f, i, f.children[i].children[0]);
}

/// The call at i of f around f, so that it leads to a shape.
Formula moved_out(const Formula& f, std::size_t i, const Shape& shape) {
  Formula call = f.children[i];
  call.shape = shape;
  return with_child(std::move(call), 0, without_call(f, i));
}

bool has_shape(const Formula& f, const std::optional<Shape>& shape) {
  return shape && shape_of(f) == shape;
}

/// sumto(A) = sum_{axes}(A): the axes along which something was repeated have numbers.
Changed sum_over_named_axes(const Formula& f) {
  if (!is_call(f, "sumto") || !shape_of(f.children[0])) return std::nullopt;
  Formula out = with_shape(f.children[0], *f.shape);
  if (is_call(out, "sum")) out.shape.reset();
  return out;
}

/// A + broadcast(b) = A + b if A has the shape already; and so for A * b, A / b .., and for A B if
/// only the batch is repeated.
Changed broadcast_beside_its_shape(const Formula& f) {
  if (!is_pointwise_pair(f) && !is_matrix_product(f)) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i)
    if (is_aligned_broadcast(f.children[i]))
      if (Formula without = without_call(f, i); has_shape(without, shape_of(f))) return without;
  return std::nullopt;
}

/// where(broadcast(m), A, B) = where(m, A, B): it repeats by itself.
Changed broadcast_in_a_choice(const Formula& f) {
  if (!is_call(f, "where")) return std::nullopt;
  for (std::size_t i = 0; i < f.children.size(); ++i)
    if (is_aligned_broadcast(f.children[i])) return without_call(f, i);
  return std::nullopt;
}

/// exp(broadcast(A)) = broadcast(exp(A)), 2 reshape(A) = reshape(2 A) if it merges rows.
Changed call_out_of_a_function_of_each_number(const Formula& f) {
  for (std::size_t i = 0; i < f.children.size(); ++i)
    if ((is_aligned_broadcast(f.children[i]) || merges_rows(f.children[i])) &&
        is_pointwise_in(f, i))
      return moved_out(f, i, *f.children[i].shape);
  return std::nullopt;
}

/// broadcast(A)^T = broadcast(A^T) if only the batch is repeated.
Changed broadcast_out_of_a_transpose(const Formula& f) {
  if (f.kind != Kind::transpose || !is_aligned_broadcast(f.children[0])) return std::nullopt;
  const auto from = shape_of(f.children[0].children[0]), to = shape_of(f);
  if (!to || from->rank() < 2 || (*from)[-1] != (*to)[-2] || (*from)[-2] != (*to)[-1])
    return std::nullopt;
  return moved_out(f, 0, *to);
}

/// reshape(A) B = reshape(A B): every row is multiplied by the same matrix.
Changed rows_out_of_a_product(const Formula& f) {
  if (!is_matrix_product(f) || !merges_rows(f.children[0])) return std::nullopt;
  const auto a = shape_of(f.children[0].children[0]), b = shape_of(f.children[1]), to = shape_of(f);
  if (!to || b->rank() != 2 || a->rank() < 2) return std::nullopt;
  return moved_out(f, 0, *to);
}

/// reshape(A) + b = reshape(A + b): every row gets the same vector.
Changed rows_out_of_a_pair(const Formula& f) {
  if (!is_pointwise_pair(f)) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    const Formula& call = f.children[i];
    if (!merges_rows(call)) continue;
    const auto other = shape_of(f.children[1 - i]);
    if (other && other->rank() <= 1 && has_shape(f, call.shape) &&
        has_shape(without_call(f, i), shape_of(call.children[0])))
      return moved_out(f, i, *call.shape);
  }
  return std::nullopt;
}

/// softmax(reshape(A)) = reshape(softmax(A)): each row is for itself.
Changed rows_out_of_a_function_of_rows(const Formula& f) {
  const bool is_of_rows = is_call(f, "softmax") || is_call(f, "logsoftmax");
  if (!is_of_rows || axes_of(f) != Indices{-1} || !merges_rows(f.children[0])) return std::nullopt;
  return moved_out(f, 0, *f.children[0].shape);
}

constexpr FormulaRule kRules[] = {
    sum_over_named_axes,
    broadcast_beside_its_shape,
    broadcast_in_a_choice,
    call_out_of_a_function_of_each_number,
    broadcast_out_of_a_transpose,
    rows_out_of_a_product,
    rows_out_of_a_pair,
    rows_out_of_a_function_of_rows,
};

}  // namespace

std::span<const FormulaRule> silent_rules() { return kRules; }

}  // namespace microtape
