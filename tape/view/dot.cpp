#include <microtape/tape/view/dot.hpp>

#include <vector>

#include <microtape/core/format.hpp>
#include <microtape/tape/view/equation.hpp>
#include <microtape/tape/view/numbers.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

constexpr std::size_t kLabelWidth = 36;  ///< columns of an equation before it breaks
constexpr std::size_t kRuleWidth = 24;
constexpr std::size_t kVectorWidth = 24;
constexpr std::size_t kMostColumns = 300;  ///< of a text: dot reads no label above 16 KB

// Graphviz lays text out by the first font that it finds, browsers by theirs.
constexpr std::string_view kHead = R"(digraph tape {
  graph [rankdir=TB, nodesep=0.3, ranksep=0.4, fontname="Helvetica,Arial,sans-serif", fontsize=12];
  node [fontname="Helvetica,Arial,sans-serif", fontsize=13, margin="0.1,0.05", penwidth=1.2];
  edge [fontname="Helvetica,Arial,sans-serif", fontsize=11, color="#444444", arrowsize=0.7];
)";

/// Colours by Okabe and Ito, made lighter for the ground: told apart by all, and of different
/// lightness; the shape says the same once more.
std::string style_of(const Node& node, bool is_output) {
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
  if (is_output)
    return R"(shape=box, style="filled,rounded", peripheries=2, fillcolor="#d3efe3", color="#00694e")";
  return R"(shape=box, style="filled,rounded", fillcolor="#ffffff", color="#222222")";
}

/// Text for an HTML-like label. Graphviz would read \N there as the name of the node, even if the
/// backslash is written &#92;, and reads \\ as a backslash.
std::string escaped(std::string_view text) {
  std::string out;
  for (const std::string& character : utf8::characters(utf8::shortened(text, kMostColumns))) {
    const char c = character[0];
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\\')
      out += R"(\\)";
    else
      out += character;
  }
  return out;
}

/// In lines of at most `width` columns, with `margin` at both ends of each.
std::string broken(std::string_view text, std::size_t width, std::string_view margin = "") {
  std::string out;
  for (const std::string& line : utf8::wrapped(utf8::shortened(text, kMostColumns), width))
    out += cat(out.empty() ? "" : "<br/>", margin, escaped(line), margin);
  return out;
}

std::string small(const std::string& markup) {
  return cat("<font point-size=\"10\" color=\"#444444\">", markup, "</font>");
}

/// Numbers one below the other, in a font whose digits are equally wide.
std::string number_row(const std::string& before, const Tensor& tensor, std::string_view colour) {
  std::string text;
  for (const std::string& line :
      number_lines(tensor, tensor.rank() < 2 ? kVectorWidth : kLabelWidth)) {
    std::string spaced;
    for (const char c : line) spaced += c == ' ' ? "&#160;" : std::string(1, c);
    text += spaced + "<br align=\"left\"/>";
  }
  const std::string lead =
      before.empty() ? "" : cat("<td><font point-size=\"11\">", escaped(before), " =</font></td>");
  return cat("\n    <tr><td><table border=\"0\" cellborder=\"0\" cellspacing=\"0\"><tr>", lead,
      "<td><font face=\"DejaVu Sans Mono,Courier,monospace\" point-size=\"10\" color=\"", colour,
      "\">", text, "</font></td></tr></table></td></tr>");
}

class Graph {
 public:
  Graph(const MicroTape& tape, const Sweep* sweep)
      : tape_(tape), sweep_(sweep), is_used_(tape.size()) {
    for (const Node& node : tape.nodes())
      for (const Edge& edge : node.edges()) is_used_[edge.input()] = true;
    members_.resize(tape.scopes().size());
    for (NodeId id = 0; id < tape.size(); ++id) members_[tape.node(id).scope()].push_back(id);
    children_.resize(tape.scopes().size());
    for (std::uint32_t scope = 1; scope < tape.scopes().size(); ++scope)
      children_[tape.scopes()[scope].parent].push_back(scope);
  }

  std::string str() const {
    std::string out(kHead);
    out += scope(0, "  ");
    for (NodeId id = 0; id < tape_.size(); ++id)
      for (const Edge& edge : tape_.node(id).edges()) out += arrow(id, edge);
    return out + "}\n";
  }

 private:
  /// The nodes of a scope, and its inner scopes, each in a frame.
  std::string scope(std::uint32_t at, const std::string& indent) const {
    std::string out;
    for (const NodeId id : members_[at])
      out += cat(indent, "n", id, " [", style_of(tape_.node(id), !is_used_[id]), ",\n", indent,
          "  label=<", label(id), ">];\n");
    for (const std::uint32_t child : children_[at]) {
      out += cat(indent, "subgraph cluster_", child, " {\n", indent, "  label=<<b>",
          escaped(tape_.scopes()[child].name), "</b>>; labeljust=l; style=\"rounded,filled\"; ",
          "color=\"#999999\"; fillcolor=\"#f6f6f6\";\n");
      out += scope(child, indent + "  ") + indent + "}\n";
    }
    return out;
  }

  /// Name and equation, op and shape, numbers, adjoint.
  std::string label(NodeId id) const {
    const Node& node = tape_.node(id);
    const std::string name = node_name(tape_, id);
    std::string title = cat("<b>", broken(name, kLabelWidth), "</b>");
    if (node.kind() == NodeKind::op)
      title += cat(" = ", broken(forward_text(tape_, id), kLabelWidth));
    std::string rows = cat("\n    <tr><td>", title, "</td></tr>");
    rows += cat(
        "\n    <tr><td>", small(cat(escaped(node.op()), " ", node.shape().str())), "</td></tr>");
    if (node.has_value() && node.shape().size() <= kMostNumbers)
      rows += number_row("", node.value(), "#222222");
    const Var adjoint = sweep_ ? sweep_->adjoint(id) : Var();
    if (adjoint.defined() && adjoint.size() <= kMostNumbers)
      rows += number_row("d" + name, adjoint.value(), "#a03c00");
    return cat("<table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"1\">", rows,
        "</table>");
  }

  std::string arrow(NodeId id, const Edge& edge) const {
    static constexpr std::string_view kSpace = "&#160;";  // keeps the text off the line
    std::string text = cat(kSpace, escaped(edge.name()));
    const std::string rule = edge.is_active() ? rule_text(tape_, id, edge) : "";
    if (!rule.empty())
      text += "<br/>" + small(broken(cat("d", node_name(tape_, edge.input()), " += ", rule),
                            kRuleWidth, kSpace));
    return cat("  n", edge.input(), " -> n", id, " [label=<", text, ">",
        edge.is_active() ? "" : ", style=dashed", "];\n");
  }

  const MicroTape& tape_;
  const Sweep* sweep_;
  std::vector<bool> is_used_;                         // [node]
  std::vector<std::vector<NodeId>> members_;          // [scope]
  std::vector<std::vector<std::uint32_t>> children_;  // [scope]
};

}  // namespace

std::string to_dot(const MicroTape& tape, const Sweep* sweep) { return Graph(tape, sweep).str(); }

}  // namespace microtape
