#include <microtape/tape/view/formula_shape.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape {
namespace {

using Kind = Formula::Kind;
using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 13> kElementwise{"exp", "ln", "sin", "cos", "tanh",
    "sigmoid", "erf", "abs", "sign", "relu", "Phi", "phi", "detach"};
/// What keeps the shape of its first argument.
constexpr std::array<std::string_view, 4> kKeeping{"softmax", "logsoftmax", "ismax", "clamp"};
constexpr std::array<std::string_view, 5> kDropping{"sum", "mean", "max", "logsumexp", "argmax"};
constexpr std::array<std::string_view, 2> kReducing{"rowsum", "rowmean"};
constexpr std::array<std::string_view, 9> kLeading{
    "broadcast", "sumto", "reshape", "unslice", "scatter", "addrows", "where", "heads", "merge"};

bool is_one_of(std::string_view name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Shape swapped(const Shape& shape) { return shape.with(-1, shape[-2]).with(-2, shape[-1]); }

/// a [.., m, k] times b [.., k, n] -> [.., m, n]
Shape product_shape(const Shape& a, const Shape& b) {
  if (a.rank() < 2 || b.rank() < 2 || a[-1] != b[-2])
    throw ShapeError(cat("shape_of: no product: ", a, " times ", b));
  Indices extents = broadcast_shape("shape_of", batch_axes(a), batch_axes(b));
  extents.push_back(a[-2]);
  extents.push_back(b[-1]);
  return Shape(extents);
}

enum class Reduced { dropped, kept };

/// Without some axes, or with 1 in their place.
Shape reduced(const Shape& shape, const Indices& axes, Reduced how) {
  const Indices gone = normalize_axes("shape_of", shape, axes);
  Indices left;
  for (Index axis = 0; axis < shape.rank(); ++axis) {
    const bool is_gone = std::find(gone.begin(), gone.end(), axis) != gone.end();
    if (!is_gone || how == Reduced::kept) left.push_back(is_gone ? 1 : shape[axis]);
  }
  return Shape(left);
}

Indices integers(const Formula& call) {
  Indices out;
  for (const Formula& entry : call.subscript) {
    if (entry.kind == Kind::number) out.push_back(static_cast<Index>(*entry.value));
    if (entry.kind == Kind::list)
      for (const Formula& item : entry.children) out.push_back(static_cast<Index>(*item.value));
  }
  return out;
}

[[noreturn]] void fail_unknown(const Formula& f) {
  throw ValueError(cat("shape_of: unknown: ", f.text));
}

Shape find(const Formula& f);

Shape find_call(const Formula& f) {
  if (f.shape) return *f.shape;
  const Shape x = find(f.children.at(0));
  const Indices at = integers(f);
  const std::string& name = f.text;
  if (is_elementwise(f) || is_one_of(name, kKeeping)) return x;
  if (is_one_of(name, kDropping)) return reduced(x, at, Reduced::dropped);
  if (is_one_of(name, kReducing)) return reduced(x, at, Reduced::kept);
  if (name == "gather") return find(f.children.at(1));
  if (name == "slice" && at.size() == 3) return x.with(at[0], at[2] - at[1]);
  if (name == "select" && at.size() == 2) return reduced(x, at[0], Reduced::dropped);
  if (name == "permute") {
    Indices extents = at;
    for (Index& extent : extents) extent = x[extent];
    return Shape(extents);
  }
  if (name == "onehot" || name == "rows") {
    Indices extents = name == "rows" ? find(f.children.at(1)) : x;
    extents.push_back(name == "rows" ? x[-1] : at[0]);
    return Shape(extents);
  }
  fail_unknown(f);
}

/// @throws Error if it is not known
Shape find(const Formula& f) {
  if (f.is_number()) return {};
  const auto child = [&f](std::size_t i) { return find(f.children[i]); };
  switch (f.kind) {
    case Kind::name:
      if (f.shape) return *f.shape;
      break;
    case Kind::negate:
    case Kind::root:
      return child(0);
    case Kind::transpose:
      return swapped(child(0));
    case Kind::product:
      if (f.children[0].is_number()) return child(1);
      return f.children[1].is_number() ? child(0) : product_shape(child(0), child(1));
    case Kind::add:
    case Kind::subtract:
    case Kind::hadamard:
    case Kind::divide:
    case Kind::power:
    case Kind::greater:
    case Kind::equal:
      return broadcast_shape("shape_of", child(0), child(1));
    case Kind::call:
      return find_call(f);
    default:
      break;
  }
  fail_unknown(f);
}

}  // namespace

std::optional<Shape> shape_of(const Formula& formula) {
  try {
    return find(formula);
  } catch (const Error&) {
    return std::nullopt;
  }
}

Formula with_target(Formula f, const Shape& target) {
  if (f.kind == Kind::call && is_one_of(f.text, kLeading)) f.shape = target;
  for (Formula& child : f.children) child = with_target(std::move(child), target);
  return f;
}

bool is_elementwise(const Formula& call) {
  return call.kind == Kind::call && is_one_of(call.text, kElementwise);
}

Indices axes_of(const Formula& call) { return integers(call); }

}  // namespace microtape
