#include <microtape/tape/view/explain_law.hpp>

#include <algorithm>
#include <cmath>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/view/explain_words.hpp>

namespace microtape {
namespace {

constexpr std::string_view kFlat = "there its slope rounds to 0 (saturated)";
constexpr std::string_view kSlope = "its slope there is 0, or rounds to 0";
constexpr std::string_view kZero = "0 times an adjoint is 0";
constexpr std::string_view kZeros = "all that it is multiplied with is 0";

constexpr bool is_0(double v) { return v == 0; }
constexpr bool is_not_0(double v) { return v != 0; }
constexpr bool is_not_positive(double v) { return !(v > 0); }
constexpr bool is_0_or_1(double v) { return v == 0 || v == 1; }

constexpr Law kLaws[] = {
    {"relu", "", {"input x"}, "relu passes only what is above 0 (it is dead there)",
        is_not_positive},
    {"tanh sigmoid erf exp expm1 softplus silu gelu gelu_tanh log log1p sqrt rsqrt reciprocal", "",
        {"input x"}, kFlat},
    {"square sin cos norm", "", {"input x"}, kSlope},
    {"abs", "", {"input x"}, "abs has no slope at 0, and 0 is taken", is_0},
    {"pow", "x", {"input x", "exponent n"}, kSlope},
    {"pow", "", {"base a", "exponent b"}, kSlope},
    {"clamp", "", {"input x", "lower bound low", "upper bound high"},
        "clamp passes nothing outside of its bounds"},
    {"maximum", "", {"input a", "input b"}, "only the larger one passes"},
    {"minimum", "", {"input a", "input b"}, "only the smaller one passes"},
    {"where", "a", {"mask m"}, "where chose its b there", is_0},
    {"where", "b", {"mask m"}, "where chose its a there", is_not_0},
    {"scale", "", {"factor c"}, kZero, is_0},
    {"mul", "a", {"factor b"}, kZero, is_0},
    {"mul", "b", {"factor a"}, kZero, is_0},
    {"div", "x", {"input x", "number c"}, kSlope},
    {"div ratio", "", {"dividend a", "divisor b"}, kSlope},
    {"matmul matmul_nt matmul_tn", "a", {"factor b"}, kZeros, is_0},
    {"matmul matmul_nt matmul_tn", "b", {"factor a"}, kZeros, is_0},
    {"softmax", "", {"result y", "mask M"}, "a weight of 0, or of 1, has no slope", is_0_or_1},
    {"log_softmax standardize", "", {"result y"}, kSlope},
    {"cross_entropy", "", {}, "its row does not count, or is predicted without any error"},
    {"max", "", {"input x"}, "only the largest one passes"},
    {"min", "", {"input x"}, "only the smallest one passes"},
    {"var", "", {"input x"}, "the slope of a number that is the mean of its row is 0"},
    {"logsumexp", "", {"input x"}, "what is far below the largest does not count"},
    {"slice", "", {}, "slice takes another part"},
    {"gather", "", {}, "no index asks for it"},
    {"embedding", "", {}, "no index asks for that row"},
};

/// One of the numbers of a law in a node.
struct Number {
  std::string_view role;
  const Attribute* attribute = nullptr;
  NodeId node = kNoNode;  ///< its input, or itself, unless it is an attribute
};

std::vector<Number> numbers_of(const Law& law, const MicroTape& tape, NodeId id) {
  std::vector<Number> out;
  const Node& node = tape.node(id);
  for (const std::string_view text : law.numbers) {
    if (text.empty()) break;
    const std::size_t space = text.rfind(' ');
    const std::string_view name = text.substr(space + 1);
    Number number{text.substr(0, space)};
    for (const Attribute& attribute : node.attributes())
      if (attribute.name() == name) number.attribute = &attribute;
    for (const Edge& edge : node.edges())
      if (edge.name() == name) number.node = edge.input();
    if (name == "y") number.node = id;
    if (number.attribute || number.node != kNoNode) out.push_back(number);
  }
  return out;
}

/// A number at entries of a shape, to which it may have to be broadcast. Where entries do not meet
/// entries, as in a matrix product: all of its values if they are the same, else nothing.
std::vector<double> values_at(const MicroTape& tape, NodeId id, const Number& number,
    const Shape& shape, const std::vector<Index>& entries) {
  if (number.attribute) return {number.attribute->number()};
  Array a = to_array(tape.node(number.node).value());
  const bool is_product = tape.node(id).op().starts_with("matmul");
  if (is_product || a.shape != shape) {
    const auto is_first = [&](double v) { return v == a.values.front(); };
    if (std::all_of(a.values.begin(), a.values.end(), is_first)) return a.values;
    if (is_product) return {};
    try {
      a = plain::broadcast(a, shape);
    } catch (const ShapeError&) {
      return {};
    }
  }
  std::vector<double> out;
  for (const Index i : entries) out.push_back(a[i]);
  return out;
}

/// All numbers of the other factor of a matrix product that these entries of one factor meet: those
/// with the same index along the axis that is summed over.
std::vector<double> met_by(const MicroTape& tape, NodeId id, std::string_view input, NodeId other,
    const Shape& shape, const std::vector<Index>& entries) {
  const std::string_view op = tape.node(id).op();
  const Index a_axis = op == "matmul_tn" ? -2 : -1, b_axis = op == "matmul_nt" ? -1 : -2;
  const Index own_axis = input == "a" ? a_axis : b_axis;
  const Index other_axis = input == "a" ? b_axis : a_axis;
  const Array factor = to_array(tape.node(other).value());
  // An op of somebody's own may bear the name, and multiply otherwise.
  if (shape.rank() < 2 || factor.shape.rank() < 2) return {};
  if (shape[own_axis] != factor.shape[other_axis]) return {};
  const auto along = [](Index i, const Shape& of, Index axis) {
    const auto from_front = static_cast<std::size_t>(of.rank() + axis);
    return static_cast<std::size_t>(unravel_index(i, of)[from_front]);
  };
  std::vector<bool> is_met(static_cast<std::size_t>(shape[own_axis]));
  for (const Index i : entries) is_met[along(i, shape, own_axis)] = true;
  std::vector<double> out;
  for (Index i = 0; i < factor.size(); ++i)
    if (is_met[along(i, factor.shape, other_axis)]) out.push_back(factor[i]);
  return out;
}

/// "is -0.3", "is between -3 and -0.2".
std::string range(const std::vector<double>& values) {
  double low = INFINITY, high = -INFINITY;
  for (const double v : values) {
    if (std::isnan(v)) return "is nan";
    low = std::fmin(low, v);
    high = std::fmax(high, v);
  }
  const std::string from = words::digits(low), to = words::digits(high);
  return from == to ? "is " + from : cat("is between ", from, " and ", to);
}

}  // namespace

const Law* law_of(const Node& node, const Edge& edge) {
  const auto found = std::find_if(std::begin(kLaws), std::end(kLaws), [&](const Law& law) {
    return has_word(law.ops, node.op()) && (law.input.empty() || law.input == edge.name());
  });
  return found == std::end(kLaws) ? nullptr : found;
}

bool holds(const Law& law, const MicroTape& tape, NodeId id, const Shape& shape,
    const std::vector<Index>& entries) {
  const std::vector<Number> numbers = numbers_of(law, tape, id);
  if (!law.holds || numbers.empty()) return true;
  const std::vector<double> values =
      law.ops.starts_with("matmul")
          ? met_by(tape, id, law.input, numbers.front().node, shape, entries)
          : values_at(tape, id, numbers.front(), shape, entries);
  return !values.empty() && std::all_of(values.begin(), values.end(), law.holds);
}

std::vector<NodeId> nodes_of(const Law& law, const MicroTape& tape, NodeId id) {
  std::vector<NodeId> out;
  for (const Number& number : numbers_of(law, tape, id))
    if (number.node != kNoNode) out.push_back(number.node);
  return out;
}

std::string numbers_text(const Law& law, const MicroTape& tape, NodeId id, const Shape& shape,
    const std::vector<Index>& entries) {
  std::string out;
  for (const Number& number : numbers_of(law, tape, id)) {
    const std::vector<double> values = values_at(tape, id, number, shape, entries);
    if (values.empty()) continue;
    const bool has_name = !number.attribute && number.node != id;
    out += cat(out.empty() ? "its " : ", its ", number.role,
        has_name ? " " + words::short_name(tape, number.node) : "", " ", range(values));
  }
  return out;
}

}  // namespace microtape
