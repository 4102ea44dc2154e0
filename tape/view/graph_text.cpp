#include <microtape/tape/view/graph_text.hpp>

#include <cmath>

#include <microtape/core/format.hpp>
#include <microtape/tape/view/equation.hpp>
#include <microtape/tape/view/numbers.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

constexpr std::size_t kVectorWidth = 24;  ///< columns of a vector before it breaks
constexpr std::size_t kMatrixWidth = 36;

std::vector<std::string> lines_of(const Tensor& tensor) {
  return number_lines(tensor, tensor.rank() < 2 ? kVectorWidth : kMatrixWidth);
}

/// As the user wrote it, where node_name() has one line.
std::string full_name(const MicroTape& tape, NodeId id) {
  const std::string_view name = tape.node(id).name();
  return name.empty() ? node_name(tape, id) : utf8::drawable(name);
}

/// The scale of a product that has none, which the equation leaves out, too.
bool is_factor_of_one(const Node& node, const Attribute& attribute) {
  return !attribute.is_list() && attribute.number() == 1 &&
         node.formula().starts_with(cat("@", attribute.name(), " @"));
}

std::string_view scope_name(const MicroTape& tape, const Region& region) {
  const std::string_view name = tape.scopes()[region.scope].name;
  return region.scope == 0 ? "backward" : name.empty() ? "scope" : name;
}

/// The last of the regions that are equal to this one and follow it.
const Region& last_repeat(const Graph& graph, const Region& region) {
  const Region* last = &region;
  for (std::uint32_t i = 1; i < region.repeats; ++i) last = &graph.regions[last->next];
  return *last;
}

}  // namespace

AdjointState adjoint_state(const MicroTape& tape, NodeId id, const Sweep* sweep) {
  const Node& node = tape.node(id);
  if (!sweep || !node.is_active()) return AdjointState::none;
  if (sweep->adjoint(id).defined()) return AdjointState::computed;
  const bool may_be_dropped = tape.keep() == Keep::needed && node.kind() == NodeKind::op;
  return may_be_dropped ? AdjointState::not_kept : AdjointState::not_computed;
}

NodeText node_text(
    const MicroTape& tape, NodeId id, const Sweep* sweep, const GraphOptions& options) {
  const Node& node = tape.node(id);
  NodeText text;
  text.name = full_name(tape, id);
  if (node.kind() == NodeKind::op) text.equation = forward_text(tape, id);
  text.detail = cat(utf8::drawable(node.op()), " ", node.shape());
  if (!hides(options, Hide::attributes))
    for (const Attribute& attribute : node.attributes())
      if (!is_factor_of_one(node, attribute)) text.detail += ", " + attribute_text(attribute);
  if (options.values == Show::yes && node.has_value()) text.value = lines_of(node.value());

  const AdjointState state = adjoint_state(tape, id, sweep);
  if (options.adjoints == Show::no || state == AdjointState::none) return text;
  text.adjoint_name = "d" + node_name(tape, id);
  text.is_computed = state == AdjointState::computed;
  if (text.is_computed)
    text.adjoint = lines_of(sweep->adjoint(id).value());
  else
    text.adjoint = {state == AdjointState::not_kept ? "not kept" : "not computed"};
  return text;
}

std::string attribute_text(const Attribute& attribute) {
  static constexpr double kMostWhole = 1e15;
  const double x = attribute.number();
  const bool is_whole = std::abs(x) < kMostWhole && x == std::trunc(x);
  const std::string value = attribute.is_list() ? cat(attribute.list())
                            : is_whole          ? cat(static_cast<std::int64_t>(x))
                                                : number(x, 4);
  return cat(utf8::drawable(attribute.name()), " = ", value);
}

std::string item_id(const Graph::Item& item) {
  return cat(item.kind == Graph::Item::Kind::node ? "n" : "b", item.index);
}

std::string region_name(const MicroTape& tape, const Graph& graph, std::uint32_t index) {
  const Region& region = graph.regions[index];
  const std::string_view name = scope_name(tape, region);
  if (region.repeats == 1) return utf8::drawable(name);
  const bool is_same = scope_name(tape, last_repeat(graph, region)) == name;
  return cat(utf8::drawable(is_same ? name : without_number(name)), " x ", region.repeats);
}

std::string region_detail(
    const MicroTape& tape, const Graph& graph, std::uint32_t index, Graph::Item::Kind drawn_as) {
  const Region& region = graph.regions[index];
  std::string text;
  if (region.repeats > 1) {
    text = cat(utf8::drawable(scope_name(tape, region)), " to ",
        utf8::drawable(scope_name(tape, last_repeat(graph, region))));
    if (graph.is_chain[index]) text += ", one after the other";
    if (drawn_as == Graph::Item::Kind::node) text += "; the first is drawn";
  }
  if (drawn_as == Graph::Item::Kind::node) return text;
  const NodeId nodes = region.end - region.first;
  text += cat(text.empty() ? "" : "; ", region.repeats > 1 ? "each " : "", nodes,
      nodes == 1 ? " node" : " nodes");
  const Node& last = tape.node(region.end - 1);
  return last.is_backward() ? text : cat(text, ", result ", last.shape());
}

std::string arrow_name(const Graph::Arrow& arrow) {
  return arrow.count > 1 ? cat(arrow.count, " edges") : utf8::drawable(arrow.edge->name());
}

std::string arrow_rule(const MicroTape& tape, const Graph& graph, const Graph::Arrow& arrow,
    const GraphOptions& options) {
  const bool is_inside_box = graph.items[arrow.to].kind == Graph::Item::Kind::box;
  if (!arrow.is_active || arrow.count > 1 || is_inside_box || hides(options, Hide::rules))
    return "";
  const std::string rule = rule_text(tape, arrow.node, *arrow.edge);
  return cat("d", node_name(tape, arrow.edge->input()),
      " += ", rule.empty() ? cat("rule of ", tape.node(arrow.node).op()) : rule);
}

}  // namespace microtape
