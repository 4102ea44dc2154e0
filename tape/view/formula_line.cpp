#include <utility>

#include <microtape/tape/view/formula_rules.hpp>
#include <microtape/tape/view/formula_shape.hpp>
#include <microtape/tape/view/formula_traits.hpp>

// Formulas and the shapes that they are to have.

namespace microtape {
namespace {

using Kind = Formula::Kind;

/// The sum over the batch of A^T B that with_shape() made: the product over the rows of all.
bool is_product_of_all_rows(const Formula& f) {
  if (!is_call(f, "sum") || !f.shape || !is_matrix_product(f.children[0])) return false;
  const Formula* left = &f.children[0].children[0];
  while (const auto inner = scaled_child(*left)) left = &left->children[*inner];
  return left->kind == Kind::transpose && f.shape->rank() == 2;
}

/// Without what a reader does to make it fit.
Formula stripped(const Formula& f, LineOf line) {
  if (const auto inner = scaled_child(f))
    return with_child(f, *inner, stripped(f.children[*inner], line));
  const bool is_split = line == LineOf::adjoint && splits_rows(f);
  if (is_aligned_broadcast(f) || merges_rows(f) || is_split || is_product_of_all_rows(f))
    return f.children[0];
  return f;
}

Formula call(std::string_view function, Formula argument) {
  Formula result = formula(Kind::call, {std::move(argument)});
  result.text = function;
  return result;
}

/// Summed from one shape to another that broadcasts to it.
Formula summed(Formula f, const Shape& from, const Shape& to) {
  const Index dropped = from.rank() - to.rank();
  Indices gone, kept;
  for (Index axis = 0; axis < from.rank(); ++axis) {
    if (axis < dropped)
      gone.push_back(axis);
    else if (to[axis - dropped] != from[axis])
      kept.push_back(axis);
  }
  for (const auto& [function, axes] : {std::pair{"rowsum", &kept}, {"sum", &gone}}) {
    if (axes->empty()) continue;
    f = call(function, std::move(f));
    f.subscript = {list_formula(*axes, from.rank())};
  }
  f.shape = to;
  return f;
}

}  // namespace

Formula line_form(const Formula& f, LineOf line) {
  Formula out = stripped(f, line);
  // y = x would hide what happens.
  if (out == f || out.kind == Kind::name) return f;
  return numbers_in_front(std::move(out));
}

Formula with_shape(Formula f, const Shape& shape) {
  const auto from = shape_of(f);
  if (!from || *from == shape) return f;
  if (broadcasts_to(shape, *from)) return summed(std::move(f), *from, shape);
  f = call(broadcasts_to(*from, shape) ? "broadcast" : "reshape", std::move(f));
  f.shape = shape;
  return f;
}

Formula sum_of(std::span<const Formula> terms) {
  if (terms.size() == 1) return terms[0];
  const std::size_t half = (terms.size() + 1) / 2;
  return formula(Kind::add, {sum_of(terms.first(half)), sum_of(terms.subspan(half))});
}

}  // namespace microtape
