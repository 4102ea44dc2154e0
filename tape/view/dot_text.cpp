#include <microtape/tape/view/dot_text.hpp>

#include <charconv>

#include <microtape/core/format.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape::dot {
namespace {

constexpr std::size_t kMostColumns = 300;  ///< of a text: dot reads no label above 16 KB

/// Graphviz would read \N in an HTML-like label as the name of the node, even if the backslash is
/// written &#92;, and reads \\ as a backslash.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : utf8::escaped(utf8::printable(text))) {
    if (c == '"')
      out += "&quot;";
    else if (c == '\\')
      out += R"(\\)";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string with_prefix(std::string_view graph, std::string_view prefix) {
  const std::string made = prefix.empty() ? id_of(graph) : std::string(prefix);
  std::string out;
  for (std::size_t at = 0; (at = graph.find(kPrefix)) != std::string_view::npos;) {
    out.append(graph.substr(0, at)).append(made);
    graph.remove_prefix(at + kPrefix.size());
  }
  return out.append(graph);
}

std::string head(std::string_view note) {
  const std::string title =
      note.empty() ? "" : cat(", labelloc=t, label=<<i>", broken(note, kMostColumns), "</i>>");
  // Graphviz lays text out by the first font that it finds, browsers by theirs.
  return cat("digraph tape {\n  graph [id=\"", kPrefix, R"(", rankdir=TB, nodesep=0.3, ranksep=0.4,
    fontname="Helvetica,Arial,sans-serif", fontsize=12)",
      title, R"(];
  node [fontname="Helvetica,Arial,sans-serif", fontsize=13, margin="0.1,0.05", penwidth=1.2];
  edge [fontname="Helvetica,Arial,sans-serif", fontsize=11, color="#444444", arrowsize=0.7];
)");
}

std::string broken(std::string_view text, std::size_t width, std::string_view margin) {
  std::string out;
  const std::string whole = utf8::shortened(text, kMostColumns);
  for (std::size_t begin = 0; begin <= whole.size();) {
    const std::size_t end = std::min(whole.find('\n', begin), whole.size());
    for (const std::string& line : utf8::wrapped(whole.substr(begin, end - begin), width))
      out += cat(out.empty() ? "" : "<br/>", margin, escaped(line), margin);
    begin = end + 1;
  }
  return out;
}

std::string small(const std::string& markup) {
  return cat("<font point-size=\"10\" color=\"#444444\">", markup, "</font>");
}

std::string row(const std::string& markup) { return cat("\n    <tr><td>", markup, "</td></tr>"); }

std::string number_row(std::string_view before, const std::vector<std::string>& lines,
    std::string_view color, std::string_view style) {
  std::string text;
  for (const std::string& line : lines) {
    std::string spaced;
    for (const char c : line) spaced += c == ' ' ? "&#160;" : std::string(1, c);
    text += spaced + "<br align=\"left\"/>";
  }
  if (!style.empty()) text = cat("<", style, ">", text, "</", style, ">");
  const std::string lead =
      before.empty() ? "" : cat("<td><font point-size=\"11\">", broken(before), " =</font></td>");
  return row(cat("<table border=\"0\" cellborder=\"0\" cellspacing=\"0\"><tr>", lead,
      "<td><font face=\"DejaVu Sans Mono,Courier,monospace\" point-size=\"10\" color=\"", color,
      "\">", text, "</font></td></tr></table>"));
}

std::string table(const std::string& rows) {
  return cat("<table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"1\">", rows,
      "</table>");
}

/// Source: Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash Algorithm", FNV-1a of 64 bits.
std::string id_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211u;
  }
  char digits[16];
  return cat("g", std::string_view(digits, std::to_chars(digits, digits + 16, hash, 16).ptr));
}

}  // namespace microtape::dot
