#include <microtape/tape/view/equation.hpp>

#include <utility>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

using Kind = Formula::Kind;

/// @param rank  that axes count in
Formula list_formula(const Indices& list, std::optional<Index> rank) {
  Formula result;
  result.kind = Kind::list;
  for (const Index item : list)
    result.children.push_back(number_formula(static_cast<double>(item)));
  if (rank) result.value = static_cast<double>(*rank);
  return result;
}

/// The number of an attribute, as its symbol writes it.
Formula attribute_formula(const MicroTape& tape, const Node& node, const Attribute& attribute) {
  if (attribute.is_list) {
    const bool is_axes = attribute.name == "axes" && !node.edges().empty();
    if (!is_axes) return list_formula(attribute.list, {});
    return list_formula(attribute.list, tape.node(node.edges()[0].input()).shape().rank());
  }
  if (attribute.symbol.empty()) return number_formula(attribute.number);
  Formula symbol = parse_formula(attribute.symbol);
  symbol.value = attribute.number;
  return symbol;
}

Formula node_formula(
    const MicroTape& tape, NodeId id, NodeNames names, std::string_view before = "") {
  const Node& node = tape.node(id);
  const bool is_given = names == NodeNames::given && !node.name().empty();
  return name_formula(cat(before, node_name(tape, id, names)),
      is_given ? cat(before, node.latex()) : std::string_view{});
}

/// What the slots of a node's formulas stand for.
/// @param edge  whose rule it is; null for the forward formula
Bindings bindings_of(const MicroTape& tape, NodeId id, const Edge* edge, NodeNames names) {
  const Node& node = tape.node(id);
  Bindings out;
  for (const Edge& input : node.edges())
    out[std::string(input.name())].push_back(node_formula(tape, input.input(), names));
  // In a rule, a name that several inputs share is that of its own input first.
  if (edge) {
    std::vector<Formula>& same = out[std::string(edge->name())];
    same.insert(same.begin(), node_formula(tape, edge->input(), names));
    out["g"] = {node_formula(tape, id, names, "d")};
  }
  out["y"] = {node_formula(tape, id, names)};
  for (const Attribute& attribute : node.attributes())
    out[std::string(attribute.name)] = {attribute_formula(tape, node, attribute)};
  if (edge && edge->attribute())
    out[std::string(edge->attribute()->name)] = {attribute_formula(tape, node, *edge->attribute())};
  return out;
}

/// A Keep::needed tape drops the inputs that carry no adjoint; a dot stands for them.
void add_dropped(const Formula& f, Bindings& bindings) {
  if (f.kind == Kind::slot) bindings.try_emplace(f.text, std::vector{name_formula("..")});
  for (const Formula& child : f.children) add_dropped(child, bindings);
}

Formula bound(const MicroTape& tape, NodeId id, const Edge* edge, NodeNames names) {
  const Formula f = parse_formula(edge ? edge->formula() : tape.node(id).formula());
  Bindings bindings = bindings_of(tape, id, edge, names);
  if (tape.keep() == Keep::needed) add_dropped(f, bindings);
  return substitute(f, bindings);
}

}  // namespace

std::string node_name(const MicroTape& tape, NodeId id, NodeNames names) {
  const std::string_view name = tape.node(id).name();
  return names == NodeNames::numbers || name.empty() ? cat("#", id) : utf8::printable(name);
}

Formula forward_equation(const MicroTape& tape, NodeId id, NodeNames names) {
  return bound(tape, id, nullptr, names);
}

Formula rule_equation(const MicroTape& tape, NodeId id, const Edge& edge, NodeNames names) {
  return bound(tape, id, &edge, names);
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
