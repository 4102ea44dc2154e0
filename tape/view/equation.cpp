#include <microtape/tape/view/equation.hpp>

#include <algorithm>
#include <utility>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/view/formula_shape.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

using Kind = Formula::Kind;

/// The number of an attribute, as its symbol writes it.
Formula attribute_formula(const MicroTape& tape, const Node& node, const Attribute& attribute) {
  if (attribute.is_list()) {
    const bool is_axes = attribute.name() == "axes" && !node.edges().empty();
    if (!is_axes) return list_formula(attribute.list(), {});
    return list_formula(attribute.list(), tape.node(node.edges()[0].input()).shape().rank());
  }
  if (attribute.symbol().empty()) return number_formula(attribute.number());
  Formula symbol = parse_formula(attribute.symbol());
  symbol.value = attribute.number();
  return symbol;
}

/// Whether a formula has the slot @name.
bool mentions(const Formula& f, std::string_view name) {
  if (f.kind == Kind::slot && f.text == name) return true;
  const auto in = [&](const std::vector<Formula>& parts) {
    return std::any_of(
        parts.begin(), parts.end(), [&](const Formula& part) { return mentions(part, name); });
  };
  return in(f.children) || in(f.subscript);
}

/// What the slots of a node's formula f stand for.
/// @param edge  whose rule it is; null for the forward formula
Bindings bindings_of(const MicroTape& tape, NodeId id, const Edge* edge, const Formula& f,
    NodeFormula value, NodeFormula adjoint) {
  const Node& node = tape.node(id);
  Bindings out;
  // In a rule, a name that several inputs share is that of its own input first.
  if (edge && mentions(f, edge->name()))
    out[std::string(edge->name())].push_back(value(edge->input()));
  std::string_view last;  // inputs that share a name stand side by side
  bool is_mentioned = false;
  for (const Edge& input : node.edges()) {
    if (input.name() != last) is_mentioned = mentions(f, input.name());
    last = input.name();
    if (is_mentioned) out[std::string(last)].push_back(value(input.input()));
  }
  if (edge && mentions(f, "g")) out["g"] = {adjoint(id)};
  if (edge && mentions(f, "y")) out["y"] = {value(id)};
  for (const Attribute& attribute : node.attributes())
    out[std::string(attribute.name())] = {attribute_formula(tape, node, attribute)};
  if (edge && edge->attribute())
    out[std::string(edge->attribute()->name())] = {
        attribute_formula(tape, node, *edge->attribute())};
  return out;
}

/// A Keep::needed tape drops the inputs that carry no adjoint; a dot stands for them.
void add_dropped(const Formula& f, Bindings& bindings) {
  if (f.kind == Kind::slot) bindings.try_emplace(f.text, std::vector{name_formula("..")});
  for (const Formula& child : f.children) add_dropped(child, bindings);
}

Formula bound(
    const MicroTape& tape, NodeId id, const Edge* edge, NodeFormula value, NodeFormula adjoint) {
  const Node& node = tape.node(id);
  const Formula f = with_target(parse_formula(edge ? edge->formula() : node.formula()),
      edge ? tape.node(edge->input()).shape() : node.shape());
  Bindings bindings = bindings_of(tape, id, edge, f, value, adjoint);
  if (tape.keep() == Keep::needed) add_dropped(f, bindings);
  return substitute(f, bindings);
}

}  // namespace

std::string node_name(const MicroTape& tape, NodeId id, NodeNames names) {
  const std::string_view name = tape.node(id).name();
  return names == NodeNames::numbers || name.empty() ? cat("#", id) : utf8::printable(name);
}

Formula node_formula(const MicroTape& tape, NodeId id, NodeNames names, std::string_view before) {
  const Node& node = tape.node(id);
  const bool is_given = names == NodeNames::given && !node.name().empty();
  Formula result = name_formula(cat(before, node_name(tape, id, names)),
      is_given ? cat(before, utf8::printable(node.latex())) : std::string_view{});
  result.shape = node.shape();
  return result;
}

Formula forward_equation(const MicroTape& tape, NodeId id, NodeFormula value) {
  return bound(tape, id, nullptr, value, value);
}

Formula rule_equation(
    const MicroTape& tape, NodeId id, const Edge& edge, NodeFormula value, NodeFormula adjoint) {
  return bound(tape, id, &edge, value, adjoint);
}

Formula forward_equation(const MicroTape& tape, NodeId id, NodeNames names) {
  return forward_equation(tape, id, [&](NodeId node) { return node_formula(tape, node, names); });
}

Formula rule_equation(const MicroTape& tape, NodeId id, const Edge& edge, NodeNames names) {
  return rule_equation(
      tape, id, edge, [&](NodeId node) { return node_formula(tape, node, names); },
      [&](NodeId node) { return node_formula(tape, node, names, "d"); });
}

std::string forward_text(const MicroTape& tape, NodeId id) {
  const Node& node = tape.node(id);
  if (!node.formula().empty()) {
    try {
      return to_text(forward_equation(tape, id));
    } catch (const Error&) {
      // check_formulas tells what is wrong with it; here the op and its inputs say enough.
    }
  }
  std::string inputs;
  for (const Edge& edge : node.edges())
    inputs += cat(inputs.empty() ? "" : ", ", node_name(tape, edge.input()));
  return cat(node.op(), "(", inputs, ")");
}

std::string rule_text(const MicroTape& tape, NodeId id, const Edge& edge) {
  if (edge.formula().empty()) return "";
  try {
    return to_text(rule_equation(tape, id, edge));
  } catch (const Error&) {
    return "";
  }
}

}  // namespace microtape
