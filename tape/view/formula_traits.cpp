#include <microtape/tape/view/formula_traits.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <microtape/tape/view/formula_shape.hpp>

namespace microtape {
namespace {

using Kind = Formula::Kind;

/// Whether a shape becomes another one when neighbours among its leading axes are merged.
bool merges_into(const Shape& from, const Shape& to) {
  if (from.rank() == 0 || to.rank() == 0 || from[-1] != to[-1] || from.size() != to.size())
    return false;
  Index axis = 0;
  for (Index i = 0; i + 1 < to.rank(); ++i) {
    Index merged = 1;
    do merged *= axis + 1 < from.rank() ? from[axis++] : 0;
    while (merged < to[i] && merged > 0);
    if (merged != to[i]) return false;
  }
  // What is left over has one row.
  while (axis + 1 < from.rank())
    if (from[axis++] != 1) return false;
  return true;
}

bool reshapes(const Formula& f, bool (*fits)(const Shape& from, const Shape& to)) {
  if (!is_call(f, "reshape")) return false;
  const auto from = shape_of(f.children[0]);
  return from && fits(*from, *f.shape);
}

}  // namespace

bool is_call(const Formula& f, std::string_view function) {
  return f.kind == Kind::call && f.text == function;
}

bool is_scalar(const Formula& f) { return shape_of(f) == Shape(); }

bool is_sum(const Formula& f) { return f.kind == Kind::add || f.kind == Kind::subtract; }

bool is_matrix_product(const Formula& f) {
  return f.kind == Kind::product && !f.children[0].is_number() && !f.children[1].is_number();
}

bool is_pointwise_pair(const Formula& f) {
  static constexpr std::array kPairs{Kind::add, Kind::subtract, Kind::hadamard, Kind::divide,
      Kind::power, Kind::greater, Kind::equal};
  return std::find(kPairs.begin(), kPairs.end(), f.kind) != kPairs.end();
}

std::optional<std::size_t> scaled_child(const Formula& f) {
  if (f.kind == Kind::negate) return 0;
  const bool has_two =
      f.kind == Kind::product || f.kind == Kind::divide || f.kind == Kind::hadamard;
  if (!has_two || f.is_number()) return std::nullopt;
  const Formula &a = f.children[0], &b = f.children[1];
  if (f.kind == Kind::product && a.is_number()) return 1;
  if (f.kind == Kind::product && b.is_number()) return 0;
  if (f.kind == Kind::divide && is_scalar(b)) return 0;
  if (f.kind != Kind::hadamard || is_scalar(a) == is_scalar(b)) return std::nullopt;
  return is_scalar(a) ? 1 : 0;
}

bool is_aligned_broadcast(const Formula& f) {
  if (!is_call(f, "broadcast")) return false;
  const auto from = shape_of(f.children[0]);
  if (!from) return false;
  const Indices axes = axes_of(f);
  const Index dropped = f.shape->rank() - from->rank();
  if (from->rank() == 0 || dropped == 0 || axes.empty()) return true;
  return std::all_of(axes.begin(), axes.end(), [&](Index axis) { return axis < dropped; });
}

bool merges_rows(const Formula& f) { return reshapes(f, merges_into); }

bool splits_rows(const Formula& f) {
  return reshapes(f, [](const Shape& from, const Shape& to) { return merges_into(to, from); });
}

Formula with_child(Formula f, std::size_t i, Formula child) {
  f.children[i] = std::move(child);
  return f;
}

}  // namespace microtape
