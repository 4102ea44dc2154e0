#include <microtape/tape/view/dot.hpp>

#include <algorithm>

#include <microtape/core/format.hpp>
#include <microtape/core/io/file.hpp>
#include <microtape/tape/view/dot_text.hpp>
#include <microtape/tape/view/graph_text.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

constexpr std::size_t kRuleWidth = 24;
constexpr std::size_t kMostIndent = 20;

/// Colours by Okabe and Ito, made lighter for the ground: told apart by all, and of different
/// lightness; the shape says the same once more.
std::string_view style_of(const MicroTape& tape, const Graph& graph, NodeId id) {
  const Node& node = tape.node(id);
  switch (node.kind()) {
    case NodeKind::leaf:
      return R"(shape=box, style=filled, fillcolor="#cfe6f7", color="#0072b2", penwidth=2.4)";
    case NodeKind::parameter:
      return R"(shape=cylinder, margin="0.1,0.1", style=filled, fillcolor="#ffdf9e", color="#8f5f00")";
    case NodeKind::constant:
      return R"(shape=note, style=filled, fillcolor="#e4e4e4", color="#555555")";
    case NodeKind::op:
      break;
  }
  if (!graph.is_used[id])
    return R"(shape=box, style="filled,rounded", peripheries=2, fillcolor="#d3efe3", color="#00694e")";
  if (node.is_backward())
    return R"(shape=box, style="filled,rounded", fillcolor="#fdeee2", color="#a03c00")";
  return R"(shape=box, style="filled,rounded", fillcolor="#ffffff", color="#222222")";
}

constexpr std::string_view kBoxStyle =
    R"(shape=box3d, style=filled, fillcolor="#f0f0f0", color="#222222")";

class Printer {
 public:
  Printer(const MicroTape& tape, const Sweep* sweep, const GraphOptions& options)
      : tape_(tape), sweep_(sweep), options_(options), graph_(graph_of(tape, options)) {}

  std::string str() const {
    std::string out = dot::head(graph_.note);
    std::size_t depth = 1;
    for (const Graph::Stroke& stroke : graph_.strokes) {
      if (stroke.kind == Graph::Stroke::Kind::close) --depth;
      const std::string indent(std::min(2 * depth, kMostIndent), ' ');
      if (stroke.kind == Graph::Stroke::Kind::close)
        out += indent + "}\n";
      else if (stroke.kind == Graph::Stroke::Kind::item)
        out += item(graph_.items[stroke.index], indent);
      else
        out += frame(stroke.index, indent);
      if (stroke.kind == Graph::Stroke::Kind::open) ++depth;
    }
    for (const Graph::Arrow& arrow : graph_.arrows) out += this->arrow(arrow);
    return out + "}\n";
  }

 private:
  std::string item(const Graph::Item& item, std::string_view indent) const {
    const bool is_node = item.kind == Graph::Item::Kind::node;
    const std::string_view style = is_node ? style_of(tape_, graph_, item.index) : kBoxStyle;
    const std::string name = item_id(item), rows = is_node ? node(item.index) : box(item.index);
    return cat(indent, name, " [id=\"", dot::kPrefix, "_", name, "\", ", style, ",\n", indent,
        "  label=<", dot::table(rows), ">];\n");
  }

  /// Name and equation, op and shape, numbers, adjoint.
  std::string node(NodeId id) const {
    const NodeText text = node_text(tape_, id, sweep_, options_);
    std::string title = cat("<b>", dot::broken(text.name), "</b>");
    if (!text.equation.empty()) title += cat("&#160;= ", dot::broken(text.equation));
    std::string rows = dot::row(title) + dot::row(dot::small(dot::broken(text.detail)));
    if (!text.value.empty()) rows += dot::number_row("", text.value, "#222222");
    if (text.adjoint.empty()) return rows;
    return rows + (text.is_computed
                          ? dot::number_row(text.adjoint_name, text.adjoint, dot::kAdjointColor)
                          : dot::number_row(text.adjoint_name, text.adjoint, "#777777", "i"));
  }

  std::string box(std::uint32_t region) const {
    return dot::row(cat("<b>", dot::broken(region_name(tape_, graph_, region)), "</b>")) +
           dot::row(dot::small(
               dot::broken(region_detail(tape_, graph_, region, Graph::Item::Kind::box))));
  }

  /// The begin of a frame; what was recorded by a sweep has a dashed line.
  std::string frame(std::uint32_t region, std::string_view indent) const {
    const std::string detail = region_detail(tape_, graph_, region, Graph::Item::Kind::node);
    const std::string more = detail.empty() ? "" : " " + dot::small(dot::broken(detail, 60));
    const bool is_sweep = graph_.regions[region].scope == 0;
    return cat(indent, "subgraph cluster_", region, " {\n", indent, "  id=\"", dot::kPrefix, "_c",
        region, "\"; label=<<b>", dot::broken(region_name(tape_, graph_, region), 60), "</b>", more,
        ">; labeljust=l; style=\"rounded,filled", is_sweep ? ",dashed" : "", "\"; color=\"",
        is_sweep ? dot::kAdjointColor : "#999999", "\"; fillcolor=\"",
        is_sweep ? "#ffffff" : "#f6f6f6", "\";\n");
  }

  std::string arrow(const Graph::Arrow& arrow) const {
    static constexpr std::string_view kSpace = "&#160;";  // keeps the text off the line
    std::string text = dot::broken(arrow_name(arrow), kRuleWidth, kSpace);
    const std::string rule = arrow_rule(tape_, graph_, arrow, options_);
    if (!rule.empty()) text += "<br/>" + dot::small(dot::broken(rule, kRuleWidth, kSpace));
    const std::string_view style = !arrow.is_active    ? ", style=dashed"
                                   : has_flowed(arrow) ? R"(, dir=both, color="#444444:#a03c00")"
                                                       : "";
    return cat("  ", item_id(graph_.items[arrow.from]), " -> ", item_id(graph_.items[arrow.to]),
        " [id=\"", dot::kPrefix, "_e", arrow.node, "_", arrow.edge->position(), "\", label=<", text,
        ">", style, "];\n");
  }

  /// Whether the sweep carried an adjoint along it.
  bool has_flowed(const Graph::Arrow& arrow) const {
    if (!sweep_ || options_.adjoints == Show::no) return false;
    const bool is_past = sweep_->done() || arrow.node > sweep_->at();
    return is_past && sweep_->adjoint(arrow.node).defined();
  }

  const MicroTape& tape_;
  const Sweep* sweep_;
  const GraphOptions& options_;
  const Graph graph_;
};

}  // namespace

std::string to_dot(const MicroTape& tape, const Sweep* sweep, const GraphOptions& options) {
  return dot::with_prefix(Printer(tape, sweep, options).str(), options.id_prefix);
}

void write_dot(const std::string& path, const MicroTape& tape, const Sweep* sweep,
    const GraphOptions& options) {
  write_text("write_dot", path, to_dot(tape, sweep, options));
}

}  // namespace microtape
