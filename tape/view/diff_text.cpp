#include <microtape/core/format.hpp>
#include <microtape/tape/view/diff.hpp>
#include <microtape/tape/view/dot_text.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

constexpr std::size_t kMostNodes = 300;

std::string_view word_of(Fate fate) {
  static constexpr std::string_view kWords[] = {"the same", "missing", "extra", "changed"};
  return kWords[static_cast<std::size_t>(fate)];
}

/// Colours by Okabe and Ito; the line tells the same once more.
std::string_view style_of(Fate fate) {
  switch (fate) {
    case Fate::missing:
      return R"(style="filled,dashed", fillcolor="#fdeee2", color="#a03c00", penwidth=2)";
    case Fate::extra:
      return R"(style=filled, fillcolor="#cfe6f7", color="#0072b2", penwidth=3.5)";
    case Fate::changed:
      return R"(style=filled, fillcolor="#ffdf9e", color="#222222", peripheries=2)";
    case Fate::same:
      break;
  }
  return R"(style=filled, fillcolor="#ffffff", color="#999999")";
}

std::string_view edge_style_of(Fate fate) {
  if (fate == Fate::missing) return R"(, style=dashed, color="#a03c00")";
  if (fate == Fate::extra) return R"(, penwidth=3, color="#0072b2")";
  return "";
}

std::string_view shape_of(NodeKind kind) {
  static constexpr std::string_view kShapes[] = {"box", "cylinder", "note", "box"};
  return kShapes[static_cast<std::size_t>(kind)];
}

/// Everything, or if that is too much what differs and its neighbours.
std::vector<bool> visible_items(const GraphDiff& diff) {
  std::vector<bool> is_visible(diff.items.size(), diff.items.size() <= kMostNodes);
  for (std::size_t i = 0; i < diff.items.size(); ++i) {
    const bool differs = diff.items[i].fate != Fate::same;
    if (differs) is_visible[i] = true;
    for (const GraphDiff::Input& input : diff.items[i].inputs) {
      if (differs) is_visible[input.from] = true;
      if (diff.items[input.from].fate != Fate::same) is_visible[i] = true;
    }
  }
  return is_visible;
}

std::string node_of(const GraphDiff::Item& item, std::size_t index) {
  std::string rows =
      dot::row(dot::broken(item.text)) + dot::row(dot::small(dot::broken(item.detail)));
  if (item.fate != Fate::same) rows += dot::row(cat("<b>", word_of(item.fate), "</b>"));
  for (const std::string& change : item.changes) rows += dot::row(dot::broken(change));
  return cat("  n", index, " [id=\"", dot::kPrefix, "_n", index, "\", shape=", shape_of(item.kind),
      ", ", style_of(item.fate), ",\n    label=<", dot::table(rows), ">];\n");
}

std::string graph_of(const GraphDiff& diff) {
  const std::vector<bool> is_visible = visible_items(diff);
  const std::string note =
      diff.items.size() > kMostNodes
          ? cat("of ", diff.items.size(), " nodes, those that differ, and their neighbours")
          : "";
  std::string out = dot::head(note);
  for (std::size_t i = 0; i < diff.items.size(); ++i)
    if (is_visible[i]) out += node_of(diff.items[i], i);
  for (std::size_t i = 0; i < diff.items.size(); ++i)
    for (std::size_t k = 0; k < diff.items[i].inputs.size(); ++k) {
      const GraphDiff::Input& input = diff.items[i].inputs[k];
      if (!is_visible[i] || !is_visible[input.from]) continue;
      out += cat("  n", input.from, " -> n", i, " [id=\"", dot::kPrefix, "_e", i, "_", k,
          "\", label=<", dot::broken(input.name, dot::kLabelWidth, "&#160;"), ">",
          edge_style_of(input.fate), "];\n");
    }
  return out + "}\n";
}

}  // namespace

std::string to_text(const GraphDiff& diff) {
  if (diff.is_same()) return cat("the graphs are the same: ", diff.items.size(), " nodes\n");
  std::string out;
  for (const Fate fate : {Fate::same, Fate::missing, Fate::extra, Fate::changed})
    out += cat(out.empty() ? "" : ", ", diff.count(fate), " ", word_of(fate));
  out += "\n";
  for (const Fate fate : {Fate::missing, Fate::extra, Fate::changed})
    for (const GraphDiff::Item& item : diff.items) {
      if (item.fate != fate) continue;
      out += cat(utf8::padded(word_of(fate), 9), item.text, "  (", item.detail, ")");
      for (std::size_t i = 0; i < item.changes.size(); ++i)
        out += cat(i == 0 ? ": " : "; ", item.changes[i]);
      out += "\n";
    }
  return out;
}

std::string to_dot(const GraphDiff& diff) { return dot::with_prefix(graph_of(diff), ""); }

}  // namespace microtape
