#include <microtape/tape/finite.hpp>

#include <cmath>
#include <limits>
#include <optional>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape::finite {
namespace {

constexpr std::string_view kRule = "; what a Check::finite tape computes must be finite";

template <class Predicate>
std::optional<Index> first_where(const Tensor& x, Predicate is_it) {
  if (!is_floating(x.dtype())) return {};
  const auto search = [&](auto data) -> std::optional<Index> {
    for (std::size_t i = 0; i < data.size(); ++i)
      if (is_it(data[i])) return static_cast<Index>(i);
    return {};
  };
  const Tensor numbers = x.contiguous();
  return x.dtype() == float32 ? search(numbers.data<float>()) : search(numbers.data<double>());
}

std::optional<Index> first_nan(const Tensor& x) {
  return first_where(x, [](double v) { return std::isnan(v); });
}
bool has_infinity(const Tensor& x) {
  return first_where(x, [](double v) { return std::isinf(v); }).has_value();
}
std::optional<Index> first_not_finite(const Tensor& x) {
  return first_where(x, [](double v) { return !std::isfinite(v); });
}

std::string value_at(const Tensor& x, Index place) {
  const Indices index = unravel_index(place, x.shape());
  return cat(" ", x.shape(), " is ", number(x.at(index)),
      x.rank() > 0 ? cat(" at ", index) : std::string());
}

/// "x (S) [2, 3] is 0 there"; for another shape than that of y, the range of x.
std::string describe(std::string_view name, const Tensor& x, const Shape& shape, Index place) {
  const std::string head = cat(name, " ", x.shape());
  if (x.size() == 0) return cat(head, " is empty");
  if (x.size() == 1) return cat(head, " is ", number(x.item()));
  if (x.shape() == shape)
    return cat(head, " is ", number(x.at(unravel_index(place, shape))), " there");
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (Index i = 0; i < x.size(); ++i) {
    const double v = x.at(unravel_index(i, x.shape()));
    least = std::min(least, v);
    most = std::max(most, v);
  }
  return cat(head, " lies between ", number(least), " and ", number(most));
}

/// "x (S)", or "x (#4)" if the node has no name.
std::string name_of(std::string_view name, const MicroTape* tape, NodeId id) {
  if (!tape || id == kNoNode) return std::string(name);
  const std::string_view given = tape->node(id).name();
  return cat(name, " (", given.empty() ? cat("#", id) : std::string(given), ")");
}

}  // namespace

void check_made(const Op& op, const Tensor& value, std::span<const Input> inputs) {
  const auto fail = [&](const auto&... what) {
    throw ValueError(cat(op.name.text(), ": ", what..., kRule));
  };
  // A plain input is a constant of the tape from now on.
  for (const Input& input : inputs)
    if (const auto place = first_nan(input.var->value()); place && input.var->node() == kNoNode)
      fail("an input is not finite: ", input.name, value_at(input.var->value(), *place));
  if (!first_not_finite(value)) return;

  // An infinity is passed on where an input or an attribute has one; else it is made. A NaN always
  // is: none has been let in.
  bool is_passed_on = false;
  for (const Input& input : inputs) is_passed_on |= has_infinity(input.var->value());
  for (const Attribute& attribute : op.attributes) is_passed_on |= std::isinf(attribute.number());
  const auto place = is_passed_on ? first_nan(value) : first_not_finite(value);
  if (!place) return;

  std::string from;
  for (const Input& input : inputs)
    from += cat(from.empty() ? "; " : ", ",
        describe(name_of(input.name, input.var->tape(), input.var->node()), input.var->value(),
            value.shape(), *place));
  fail("the result is not finite: y", value_at(value, *place), from);
}

void check_source(std::string_view op, NodeKind kind, std::string_view name, const Tensor& value) {
  const auto place = kind == NodeKind::constant ? first_nan(value) : first_not_finite(value);
  if (place)
    throw ValueError(cat(op, ": the value is not finite: ", name.empty() ? "value" : name,
        value_at(value, *place), kRule));
}

void check_adjoint(
    const MicroTape& tape, const Node& node, const Edge& edge, const Tensor& adjoint) {
  const auto place = first_not_finite(adjoint);
  if (!place) return;
  const Node& input = tape.node(edge.input());
  const std::string from = input.has_value()
                               ? cat("; ", describe(name_of(edge.name(), &tape, edge.input()),
                                               input.value(), adjoint.shape(), *place))
                               : std::string();
  throw ValueError(cat("backward: ", node.op(), ": the adjoint of ", edge.name(),
      " is not finite: d", edge.name(), value_at(adjoint, *place), from, kRule));
}

void check_seed(const Tensor& seed) {
  if (const auto place = first_not_finite(seed))
    throw ValueError(cat("backward: the seed is not finite: seed", value_at(seed, *place), kRule));
}

}  // namespace microtape::finite
