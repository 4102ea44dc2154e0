#include <algorithm>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/view/evaluate.hpp>

// The functions of formulas that take numbers by their place.

namespace microtape {
namespace {

/// The flat index in `whole` of what stands at flat index i of `part`, moved to `place` along an
/// axis.
Index moved(const Shape& whole, const Shape& part, Index axis, Index i, Index place) {
  Index flat = 0, stride = 1;
  for (Index k = whole.rank() - 1; k >= 0; --k) {
    const Index at = k == axis ? place : i % part[k];
    i /= part[k];
    flat += at * stride;
    stride *= whole[k];
  }
  return flat;
}

Index axis_of(const Shape& shape, const Indices& subscript) {
  return normalize_axis("evaluate", shape, subscript.empty() ? -1 : subscript[0]);
}

Array gather(const Array& x, const Indices& subscript, const Array& index) {
  const Index axis = axis_of(x.shape, subscript);
  Array out = Array::zeros(index.shape);
  for (Index i = 0; i < out.size(); ++i)
    out[i] = x[moved(x.shape, index.shape, axis, i, static_cast<Index>(index[i]))];
  return out;
}

Array scatter(const Array& g, const Indices& subscript, const Array& index, const Shape& target) {
  const Index axis = axis_of(target, subscript);
  Array out = Array::zeros(target);
  for (Index i = 0; i < g.size(); ++i)
    out[moved(target, index.shape, axis, i, static_cast<Index>(index[i]))] += g[i];
  return out;
}

Array rows(const Array& table, const Array& index) {
  const Index d = table.shape[1];
  Indices extents = index.shape;
  extents.push_back(d);
  Array out = Array::zeros(Shape(extents));
  for (Index i = 0; i < index.size(); ++i)
    for (Index j = 0; j < d; ++j) out[i * d + j] = table[static_cast<Index>(index[i]) * d + j];
  return out;
}

Array add_rows(const Array& g, const Array& index, const Shape& target) {
  const Index d = target[-1];
  Array out = Array::zeros(target);
  for (Index i = 0; i < index.size(); ++i)
    for (Index j = 0; j < d; ++j) out[static_cast<Index>(index[i]) * d + j] += g[i * d + j];
  return out;
}

/// A label outside 0 .. classes - 1 (one that is to be ignored) has no 1.
Array one_hot(const Array& labels, Index classes) {
  Indices extents = labels.shape;
  extents.push_back(classes);
  Array out = Array::zeros(Shape(extents));
  for (Index i = 0; i < labels.size(); ++i)
    if (labels[i] >= 0 && labels[i] < static_cast<double>(classes))
      out[i * classes + static_cast<Index>(labels[i])] = 1;
  return out;
}

Array argmax(const Array& x, const Indices& subscript) {
  const Index axis = axis_of(x.shape, subscript);
  Indices left;
  for (Index i = 0; i < x.shape.rank(); ++i)
    if (i != axis) left.push_back(x.shape[i]);
  Array out{Shape(left), {}};
  for (const std::vector<Index>& group : plain::groups(x.shape, axis)) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < group.size(); ++i)
      if (x[group[i]] > x[group[best]]) best = i;
    out.values.push_back(static_cast<double>(best));
  }
  return out;
}

}  // namespace

std::optional<Array> evaluate_index_call(const std::string& function, const Indices& subscript,
    const std::vector<Array>& arguments, const Shape& target) {
  const std::size_t count = arguments.size();
  if (function == "gather" && count == 2) return gather(arguments[0], subscript, arguments[1]);
  if (function == "scatter" && count == 2)
    return scatter(arguments[0], subscript, arguments[1], target);
  if (function == "rows" && count == 2) return rows(arguments[0], arguments[1]);
  if (function == "addrows" && count == 2) return add_rows(arguments[0], arguments[1], target);
  if (function == "onehot" && count == 1 && subscript.size() == 1)
    return one_hot(arguments[0], subscript[0]);
  if (function == "argmax" && count == 1) return argmax(arguments[0], subscript);
  if (function == "clamp" && count == 3) {
    const double low = arguments[1][0], high = arguments[2][0];
    return plain::map(arguments[0], [=](double x) { return std::min(std::max(x, low), high); });
  }
  return std::nullopt;
}

}  // namespace microtape
