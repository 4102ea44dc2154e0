#include <algorithm>
#include <array>
#include <utility>

#include <microtape/core/format.hpp>
#include <microtape/tape/diagnose_mistakes.hpp>
#include <microtape/tape/view/formula_shape.hpp>
#include <microtape/tape/view/formula_traits.hpp>

// Mistakes with axes: sums, transposes, the order of a matrix product.

namespace microtape::diagnosis {
namespace {

using Kind = Formula::Kind;

/// What can be taken over other axes.
constexpr std::array<std::string_view, 9> kOverAxes{
    "sum", "rowsum", "mean", "rowmean", "max", "logsumexp", "ismax", "softmax", "logsoftmax"};
constexpr std::string_view kMany = "the sum over all results in which one number takes part";
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kMeans{
    {{"sum", "mean"}, {"rowsum", "rowmean"}}};

/// "each row": what one sum is taken of.
std::string extent_of(const Indices& axes, const Shape& shape) {
  const Indices all = normalize_axes("diagnose", shape, axes);
  if (static_cast<Index>(all.size()) == shape.rank()) return "all elements";
  if (all.size() == 1 && all[0] == shape.rank() - 1) return "each row";
  if (shape.rank() == 2) return "each column";
  std::string out = all.size() == 1 ? "axis" : "axes";
  for (const Index axis : all) out += cat(axis == all[0] ? " " : " and ", axis);
  return out;
}

Formula over(Formula call, const Indices& axes, Index rank) {
  call.subscript = {list_formula(axes, rank)};
  call.shape.reset();
  return call;
}

/// "sum", of a row sum too.
std::string noun_of(const Formula& f) {
  return f.text.starts_with("row") ? f.text.substr(3) : f.text;
}

/// The same over another axis, or over all.
Mistakes other_axes(const Formula& f, const Shape& from) {
  Mistakes out;
  const Indices axes = normalize_axes("diagnose", from, axes_of(f));
  const auto add = [&](std::string key, const Indices& other) {
    if (other == axes) return;
    out.push_back({std::move(key), over(f, other, from.rank()),
        cat("the ", noun_of(f), " of ", to_text(f.children[0]), " is over ", extent_of(other, from),
            " instead of ", extent_of(axes, from)),
        "the axis: which elements belong together?"});
  };
  Indices all;
  for (Index axis = 0; axis < from.rank(); ++axis) all.push_back(axis);
  add("all", all);
  // One number for all, where one for each column was due.
  if (const auto shape = shape_of(f); shape != shape_of(over(f, all, from.rank()))) {
    Formula spread = call_of("broadcast", over(f, all, from.rank()));
    spread.shape = shape;
    out.push_back(out.back());
    out.back().key = "all, spread";
    out.back().formula = spread;
  }
  // Counted from the front and from the end: of samples of other ranks one of the two is the same.
  for (Index axis = 0; axis < from.rank(); ++axis) {
    add(cat("axis ", axis), axis);
    add(cat("axis ", axis - from.rank()), axis);
  }
  return out;
}

enum class End { first, last };

/// The first or the last of what is to be summed.
Formula slice_of(const Formula& f, const Shape& from, End end) {
  const bool keeps = is_call(f, "rowsum");
  Formula out = f.children[0];
  const Indices axes = normalize_axes("diagnose", from, axes_of(f));
  for (std::size_t i = axes.size(); i-- > 0;) {
    const Index at = end == End::last ? from[axes[i]] - 1 : 0;
    out = call_of(keeps ? "slice" : "select", std::move(out));
    out.subscript = {
        number_formula(static_cast<double>(axes[i])), number_formula(static_cast<double>(at))};
    if (keeps) out.subscript.push_back(number_formula(static_cast<double>(at + 1)));
  }
  return out;
}

Formula transposed(const Formula& f) {
  return f.kind == Kind::transpose ? f.children[0] : formula(Kind::transpose, {f});
}

}  // namespace

Mistakes wrong_sum(const Formula& f, const Evidence&) {
  if (f.kind != Kind::call || std::ranges::find(kOverAxes, f.text) == kOverAxes.end()) return {};
  const auto from = shape_of(f.children[0]);
  if (!from) return {};
  Mistakes out = other_axes(f, *from);
  for (const auto& [sum, mean] : kMeans) {
    if (f.text != sum && f.text != mean) continue;
    const std::string inside = to_text(f.children[0]);
    const std::string what = cat("of ", inside, " over ", extent_of(axes_of(f), *from));
    Formula other = f;
    other.text = f.text == sum ? mean : sum;
    out.push_back({"mean", other,
        cat("the ", noun_of(other), " ", what, " stands where the ", noun_of(f), " belongs"),
        "the division by the number of elements"});
    const std::string is_missing = cat("the ", noun_of(f), " ", what, " is missing: ");
    out.push_back(
        {"none", f.children[0], cat(is_missing, inside, " stands there"), std::string(kMany)});
    if (f.text == mean) continue;
    for (const End end : {End::first, End::last}) {
      const std::string_view text = end == End::first ? "first" : "last";
      out.push_back({std::string(text), slice_of(f, *from, end),
          cat(is_missing, "only its ", text, " part is taken"), std::string(kMany)});
    }
  }
  return out;
}

Mistakes wrong_matrix(const Formula& f, const Evidence&) {
  constexpr std::string_view kLook = "the shapes below the factors: they must fit";
  Mistakes out;
  if (f.kind == Kind::transpose) {
    const Formula& a = f.children[0];
    out.push_back(
        changed("missing", f, a, cat("the transpose of ", to_text(a), " is missing"), kLook));
    Formula reshaped = call_of("reshape", a);
    reshaped.shape = shape_of(f);
    if (reshaped.shape)
      out.push_back(changed("reshape", f, reshaped, "a reshape stands where the transpose belongs",
          "the reshape, which leaves the numbers in their order"));
  }
  if (!is_matrix_product(f)) return out;
  const Formula &a = f.children[0], &b = f.children[1];
  for (std::size_t i = 0; i < 2; ++i) {
    const bool is_missing = f.children[i].kind == Kind::transpose;
    out.push_back(changed(cat("transpose ", i), f, with_child(f, i, transposed(f.children[i])),
        cat("the transpose of ", to_text(is_missing ? f.children[i].children[0] : f.children[i]),
            is_missing ? " is missing" : " is one too many"),
        kLook));
  }
  out.push_back(changed(
      "order", f, formula(Kind::product, {b, a}), "the factors stand in the other order", kLook));
  return out;
}

}  // namespace microtape::diagnosis
