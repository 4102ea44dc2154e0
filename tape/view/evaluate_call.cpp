#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/view/evaluate.hpp>

// The functions that formulas may call.

namespace microtape {
namespace {

using Slice = std::vector<double>;

// --- of one number -----------------------------------------------------------------------------

struct Elementwise {
  std::string_view name;
  double (*f)(double x);
};

/// The standard normal distribution function and its density.
double normal_cdf(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
double normal_pdf(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

constexpr Elementwise kElementwise[] = {
    {"exp", [](double x) { return std::exp(x); }},
    {"ln", [](double x) { return std::log(x); }},
    {"sin", [](double x) { return std::sin(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"abs", [](double x) { return std::abs(x); }},
    {"sign", [](double x) { return x > 0   ? 1.0
                                   : x < 0 ? -1.0
                                           : x; }},
    {"relu", [](double x) { return x < 0 ? 0.0 : x; }},
    {"Phi", normal_cdf},
    {"phi", normal_pdf},
    {"detach", [](double x) { return x; }},
};

// --- over some axes ------------------------------------------------------------------------------

double sum(const Slice& x) {
  double total = 0;
  for (const double value : x) total += value;
  return total;
}
double mean(const Slice& x) { return sum(x) / static_cast<double>(x.size()); }
double max(const Slice& x) { return x.empty() ? -INFINITY : *std::max_element(x.begin(), x.end()); }
double logsumexp(const Slice& x) {
  const double top = max(x);
  if (std::isinf(top)) return top;
  double total = 0;
  for (const double value : x) total += std::exp(value - top);
  return top + std::log(total);
}

struct Reduction {
  std::string_view name;
  double (*f)(const Slice& x);
  bool keeps_axes;
};
constexpr Reduction kReductions[] = {
    {"sum", sum, false},
    {"mean", mean, false},
    {"max", max, false},
    {"logsumexp", logsumexp, false},
    {"rowsum", sum, true},
    {"rowmean", mean, true},
};

Slice logsoftmax(Slice x) {
  const double shift = logsumexp(x);
  for (double& value : x) value -= shift;
  return x;
}
Slice softmax(Slice x) {
  x = logsoftmax(std::move(x));
  for (double& value : x) value = std::exp(value);
  return x;
}
/// 1/k at the k largest, else 0.
Slice ismax(Slice x) {
  const double top = max(x);
  const auto count = static_cast<double>(std::count(x.begin(), x.end(), top));
  for (double& value : x) value = value == top ? 1 / count : 0;
  return x;
}

struct Along {
  std::string_view name;
  Slice (*f)(Slice x);
};
constexpr Along kAlong[] = {{"softmax", softmax}, {"logsoftmax", logsoftmax}, {"ismax", ismax}};

Slice pick(const Array& x, const std::vector<Index>& at) {
  Slice out;
  for (const Index i : at) out.push_back(x[i]);
  return out;
}

Array reduced(const Array& x, const Indices& axes, const Reduction& reduction) {
  Shape kept = x.shape;
  Indices left;
  const Indices gone = normalize_axes("evaluate", x.shape, axes);
  for (Index axis = 0; axis < x.shape.rank(); ++axis) {
    if (std::find(gone.begin(), gone.end(), axis) != gone.end())
      kept = kept.with(axis, 1);
    else
      left.push_back(x.shape[axis]);
  }
  Array out{reduction.keeps_axes ? kept : Shape(left), {}};
  for (const std::vector<Index>& group : plain::groups(x.shape, axes))
    out.values.push_back(reduction.f(pick(x, group)));
  return out;
}

Array mapped_along(const Array& x, const Indices& axes, const Along& along) {
  Array out = x;
  for (const std::vector<Index>& group : plain::groups(x.shape, axes)) {
    const Slice values = along.f(pick(x, group));
    for (std::size_t i = 0; i < group.size(); ++i) out[group[i]] = values[i];
  }
  return out;
}

// --- moving numbers ----------------------------------------------------------------------------

/// To the target; axes that a reduction dropped are put back first.
Array respread(const Array& g, const Indices& axes, const Shape& target) {
  const bool is_dropped = g.shape.rank() + static_cast<Index>(axes.size()) == target.rank();
  if (!is_dropped || axes.empty()) return plain::broadcast(g, target);
  Shape kept = target;
  for (const Index axis : axes) kept = kept.with(axis, 1);
  return plain::broadcast({kept, g.values}, target);
}

Array slice(const Array& x, const Indices& range) {
  const Index axis = range[0], start = range[1], stop = range[2];
  const Shape shape = x.shape.with(axis, stop - start);
  return {shape, pick(x, plain::places(x.shape, shape, axis, start))};
}

Array unslice(const Array& x, const Indices& range, const Shape& target) {
  Array out = Array::zeros(target);
  const std::vector<Index> at = plain::places(target, x.shape, range[0], range[1]);
  for (std::size_t i = 0; i < at.size(); ++i) out[at[i]] = x.values[i];
  return out;
}

/// Entry range[1] of axis range[0], which is dropped.
Array select(const Array& x, const Indices& range) {
  const Index axis = normalize_axis("evaluate", x.shape, range[0]);
  Array out = slice(x, {axis, range[1], range[1] + 1});
  Indices left;
  for (Index i = 0; i < x.shape.rank(); ++i)
    if (i != axis) left.push_back(x.shape[i]);
  out.shape = Shape(left);
  return out;
}

Array concat(const std::vector<Array>& parts, Index axis) {
  Index extent = 0;
  for (const Array& part : parts) extent += part.shape[axis];
  Array out = Array::zeros(parts[0].shape.with(axis, extent));
  Index start = 0;
  for (const Array& part : parts) {
    const std::vector<Index> at = plain::places(out.shape, part.shape, axis, start);
    for (std::size_t i = 0; i < at.size(); ++i) out[at[i]] = part.values[i];
    start += part.shape[axis];
  }
  return out;
}

Array stack(std::vector<Array> parts, Index axis) {
  for (Array& part : parts) {
    Indices extents = part.shape;
    extents.push_back(1);
    axis = normalize_axis("evaluate", Shape(extents), axis);
    std::rotate(extents.begin() + axis, extents.end() - 1, extents.end());
    part.shape = Shape(extents);
  }
  return concat(parts, axis);
}

/// [.., T, H D] -> [.., H, T, D], the shape given.
Array heads(const Array& x, const Shape& target) {
  const Index last = target.rank() - 1;
  Indices apart = target, order = target;
  std::swap(apart[static_cast<std::size_t>(last - 2)], apart[static_cast<std::size_t>(last - 1)]);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(last - 2)], order[static_cast<std::size_t>(last - 1)]);
  return plain::permuted({Shape(apart), x.values}, order);
}

/// [.., H, T, D] -> [.., T, H D]
Array merge(const Array& x) {
  const Index last = x.shape.rank() - 1;
  Indices order = x.shape;
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(last - 2)], order[static_cast<std::size_t>(last - 1)]);
  Array out = plain::permuted(x, order);
  Indices merged(std::span(out.shape.begin(), static_cast<std::size_t>(last - 1)));
  merged.push_back(x.shape[-3] * x.shape[-1]);
  out.shape = Shape(merged);
  return out;
}

Array where(const Array& mask, const Array& a, const Array& b, const Shape& target) {
  const Array m = plain::broadcast(mask, target), x = plain::broadcast(a, target),
              y = plain::broadcast(b, target);
  Array out = Array::zeros(target);
  for (Index i = 0; i < out.size(); ++i) out[i] = m[i] != 0 ? x[i] : y[i];
  return out;
}

void require(bool is_well_formed, const std::string& function) {
  if (is_well_formed) return;
  throw ValueError(cat("evaluate: wrong number of arguments or indices: ", function,
      "; formulas call it otherwise"));
}

/// "exp, ln, .. "
std::string names_of(const auto& functions) {
  std::string out;
  for (const auto& entry : functions) out += cat(entry.name, ", ");
  return out;
}

[[noreturn]] void fail_unknown(const std::string& function, std::size_t count) {
  throw ValueError(cat("evaluate: unknown function: ", function, " of ", count,
      count == 1 ? " argument" : " arguments", "; formulas may call ", names_of(kElementwise),
      names_of(kReductions), names_of(kAlong),
      "each of one, where of three, and what ops of shapes and indices record"));
}

}  // namespace

Array evaluate_call(const std::string& function, const Indices& subscript,
    const std::vector<Array>& arguments, const Shape& target) {
  if (function == "concat" || function == "stack") {
    require(subscript.size() == 1, function);
    return function == "concat" ? concat(arguments, subscript[0]) : stack(arguments, subscript[0]);
  }
  if (auto found = evaluate_index_call(function, subscript, arguments, target)) return *found;
  if (function == "where") {
    require(arguments.size() == 3, function);
    return where(arguments[0], arguments[1], arguments[2], target);
  }
  if (arguments.size() != 1) fail_unknown(function, arguments.size());
  const Array& x = arguments[0];
  for (const Elementwise& entry : kElementwise)
    if (entry.name == function) return plain::map(x, entry.f);
  for (const Reduction& entry : kReductions)
    if (entry.name == function) return reduced(x, subscript, entry);
  for (const Along& entry : kAlong)
    if (entry.name == function) return mapped_along(x, subscript, entry);
  if (function == "broadcast") return respread(x, subscript, target);
  if (function == "sumto") return plain::sum_to(x, target);
  if (function == "reshape") return plain::fitted(x, target);
  require(function != "heads" || target.rank() >= 3, function);
  if (function == "heads") return heads(x, target);
  require(function != "merge" || x.shape.rank() >= 3, function);
  if (function == "merge") return merge(x);
  if (function == "permute") return plain::permuted(x, subscript);
  require(function != "select" || subscript.size() == 2, function);
  if (function == "select") return select(x, subscript);
  require((function != "slice" && function != "unslice") || subscript.size() == 3, function);
  if (function == "slice") return slice(x, subscript);
  if (function == "unslice") return unslice(x, subscript, target);
  fail_unknown(function, 1);
}

}  // namespace microtape
