#include <microtape/tape/view/mermaid.hpp>

#include <algorithm>
#include <utility>

#include <microtape/core/format.hpp>
#include <microtape/core/io/file.hpp>
#include <microtape/tape/view/graph_text.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

constexpr std::size_t kMostIndent = 20;

// The colours of to_dot().
constexpr std::string_view kClasses =
    R"(  classDef leaf fill:#cfe6f7,stroke:#0072b2,stroke-width:3px,color:#000
  classDef parameter fill:#ffdf9e,stroke:#8f5f00,color:#000
  classDef constant fill:#e4e4e4,stroke:#555555,color:#000
  classDef op fill:#ffffff,stroke:#222222,color:#000
  classDef backward fill:#fdeee2,stroke:#a03c00,color:#000
  classDef output fill:#d3efe3,stroke:#00694e,stroke-width:4px,color:#000
  classDef box fill:#f0f0f0,stroke:#222222,color:#000
)";

/// Text for a label in quotes: what has a meaning in Mermaid, Markdown or HTML becomes a code.
std::string escaped(std::string_view text) {
  static constexpr std::string_view kSpecial = "\"#&<>\\`*_~$%";
  std::string out;
  for (const char c : utf8::drawable(text)) {
    if (c == '\n')
      out += "<br/>";
    else if (kSpecial.find(c) != std::string_view::npos)
      out += cat("#", static_cast<int>(c), ";");
    else
      out += c;
  }
  return out;
}

/// What opens and closes the shape of a node, and its class.
struct Look {
  std::string_view open, close, style;
};

Look look_of(const MicroTape& tape, const Graph& graph, NodeId id) {
  const Node& node = tape.node(id);
  switch (node.kind()) {
    case NodeKind::leaf:
      return {"[", "]", "leaf"};
    case NodeKind::parameter:
      return {"[(", ")]", "parameter"};
    case NodeKind::constant:
      return {">", "]", "constant"};
    case NodeKind::op:
      break;
  }
  if (!graph.is_used[id]) return {"([", "])", "output"};
  return {"(", ")", node.is_backward() ? "backward" : "op"};
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : "\n") + line;
  return out;
}

class Printer {
 public:
  Printer(const MicroTape& tape, const Sweep* sweep, const GraphOptions& options)
      : tape_(tape), sweep_(sweep), options_(options), graph_(graph_of(tape, options)) {}

  std::string str() const {
    std::string out = "flowchart TB\n";
    if (!graph_.note.empty())
      out += cat("  ", options_.id_prefix, "note[\"", escaped(graph_.note), "\"]\n");
    std::size_t depth = 1;
    for (const Graph::Stroke& stroke : graph_.strokes) {
      if (stroke.kind == Graph::Stroke::Kind::close) --depth;
      const std::string indent(std::min(2 * depth, kMostIndent), ' ');
      if (stroke.kind == Graph::Stroke::Kind::close)
        out += indent + "end\n";
      else if (stroke.kind == Graph::Stroke::Kind::item)
        out += indent + item(graph_.items[stroke.index]) + "\n";
      else
        out += cat(indent, "subgraph ", options_.id_prefix, "c", stroke.index, "[\"",
            escaped(frame_title(stroke.index)), "\"]\n");
      if (stroke.kind == Graph::Stroke::Kind::open) ++depth;
    }
    for (const Graph::Arrow& arrow : graph_.arrows) out += this->arrow(arrow);
    return out + std::string(kClasses);
  }

 private:
  std::string id(const Graph::Item& item) const { return options_.id_prefix + item_id(item); }

  std::string item(const Graph::Item& item) const {
    if (item.kind == Graph::Item::Kind::box)
      return cat(id(item), "[[\"", escaped(region_name(tape_, graph_, item.index)), "<br/>",
          escaped(region_detail(tape_, graph_, item.index, Graph::Item::Kind::box)), "\"]]:::box");
    const Look look = look_of(tape_, graph_, item.index);
    return cat(id(item), look.open, "\"", node(item.index), "\"", look.close, ":::", look.style);
  }

  std::string node(NodeId id) const {
    const NodeText text = node_text(tape_, id, sweep_, options_);
    std::string out = cat("<b>", escaped(text.name), "</b>");
    if (!text.equation.empty()) out += cat(" = ", escaped(text.equation));
    out += cat("<br/>", escaped(text.detail));
    if (!text.value.empty()) out += cat("<br/>", escaped(joined(text.value)));
    if (text.adjoint.empty()) return out;
    const std::string adjoint = escaped(joined(text.adjoint));
    return cat(out, "<br/>", escaped(text.adjoint_name), " = ",
        text.is_computed ? adjoint : cat("<i>", adjoint, "</i>"));
  }

  std::string frame_title(std::uint32_t region) const {
    const std::string detail = region_detail(tape_, graph_, region, Graph::Item::Kind::node);
    return cat(region_name(tape_, graph_, region), detail.empty() ? "" : ": ", detail);
  }

  std::string arrow(const Graph::Arrow& arrow) const {
    const std::string rule = arrow_rule(tape_, graph_, arrow, options_);
    const std::string text = cat(arrow_name(arrow), rule.empty() ? "" : "\n", rule);
    return cat("  ", id(graph_.items[arrow.from]), arrow.is_active ? " -->" : " -.->", "|\"",
        escaped(text), "\"| ", id(graph_.items[arrow.to]), "\n");
  }

  const MicroTape& tape_;
  const Sweep* sweep_;
  const GraphOptions& options_;
  const Graph graph_;
};

}  // namespace

std::string to_mermaid(const MicroTape& tape, const Sweep* sweep, const GraphOptions& options) {
  return Printer(tape, sweep, options).str();
}

void write_mermaid(const std::string& path, const MicroTape& tape, const Sweep* sweep,
    const GraphOptions& options) {
  write_text("write_mermaid", path, to_mermaid(tape, sweep, options));
}

}  // namespace microtape
