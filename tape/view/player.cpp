#include <microtape/tape/view/player.hpp>

#include <algorithm>
#include <array>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/io/file.hpp>
#include <microtape/tape/view/equation.hpp>
#include <microtape/tape/view/graph.hpp>
#include <microtape/tape/view/json.hpp>
#include <microtape/tape/view/player_data.hpp>
#include <microtape/tape/view/player_page.hpp>
#include <microtape/tape/view/svg.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

/// Text for HTML.
std::string escaped(std::string_view text) { return utf8::escaped(utf8::drawable(text)); }

/// JSON for a <script> element: nothing in it looks like the end of one.
std::string embeddable(const std::string& json) {
  std::string out;
  for (const char c : json)
    if (c == '<')
      out += R"(\u003c)";
    else
      out += c;
  return out;
}

/// A drawing of dot's for the inside of a page, without its prologue, comments, and the names of
/// languages, which HTML knows.
std::string inline_svg(std::string svg) {
  svg.erase(0, svg.find("<svg"));
  const auto erase_all = [&](std::string_view from, std::string_view to) {
    for (std::size_t at = svg.find(from); at != svg.npos; at = svg.find(from, at))
      svg.erase(at, svg.find(to, at + from.size()) + to.size() - at);
  };
  erase_all("<!--", "-->");
  erase_all(" xmlns=\"", "\"");
  erase_all(" xmlns:xlink=\"", "\"");
  return svg;
}

/// The graph with 0, 1, .. scopes inside one another unfolded, as far as that can be drawn.
PlayerGraphs graphs_of(const MicroTape& tape, const HtmlOptions& options) {
  std::uint32_t deepest = 0;
  for (const Region& region : regions_of(tape)) deepest = std::max(deepest, region.depth);
  PlayerGraphs out;
  for (std::size_t unfold = 0; unfold <= deepest; ++unfold) {
    const GraphOptions graph{.values = Show::no,
        .hide = {Hide::rules, Hide::attributes},
        .unfold = unfold,
        .max_nodes = options.max_nodes,
        .id_prefix = cat("g", unfold)};
    out.note = graph_of(tape, graph).note;
    if (!out.note.empty()) break;
    try {
      out.svg.push_back(inline_svg(to_svg(tape, nullptr, graph)));
    } catch (const FileError& error) {
      out.note = error.what();
      break;
    }
  }
  return out;
}

std::vector<Sweep::Step> steps_of(const Var& y, const Var& seed) {
  std::vector<Sweep::Step> out;
  for (Sweep sweep(y, seed); !sweep.done();) out.push_back(sweep.step());
  return out;
}

struct Slot {
  std::string_view name;
  std::string text;
};

/// The page with its slots filled. What is filled in is not searched for slots.
std::string filled(std::string_view page, const std::array<Slot, 4>& slots) {
  std::string out;
  for (;;) {
    const std::size_t at = std::min(page.find('@'), page.size());
    out += page.substr(0, at);
    page.remove_prefix(at);
    if (page.empty()) return out;
    const auto slot = std::find_if(
        slots.begin(), slots.end(), [&](const Slot& s) { return page.starts_with(s.name); });
    const bool is_slot = slot != slots.end();
    out += is_slot ? slot->text : "@";
    page.remove_prefix(is_slot ? slot->name.size() : 1);
  }
}

}  // namespace

std::string to_html(const MicroTape& tape, const Var& y, const HtmlOptions& options) {
  if (tape.keep() == Keep::needed)
    throw TapeError(
        "to_html: the tape is Keep::needed: it does not have all numbers; step over a "
        "Keep::everything tape");
  if (y.tape() != &tape) throw TapeError("to_html: y is not on this tape");
  if (options.most_numbers && *options.most_numbers < 1)
    throw ValueError(cat("to_html: most_numbers is ", *options.most_numbers, "; it is 1 or more"));
  const Var seed = options.seed.defined() ? options.seed : Tensor::full(y.shape(), 1, y.dtype());
  const std::vector<Sweep::Step> steps = steps_of(y, seed);
  const Index most = options.most_numbers.value_or(most_numbers(tape, steps));

  // The graphs of all depths: the page shows the one that fits what is folded.
  const PlayerGraphs graphs = graphs_of(tape, options);
  std::string templates;
  for (std::size_t i = 0; i < graphs.svg.size(); ++i)
    templates += cat("<template id=\"graph-", i, "\">", graphs.svg[i], "</template>\n");

  const JsonOptions json{.graph = {.max_nodes = tape.size()},
      .max_numbers = static_cast<std::size_t>(most),
      .steps = steps};
  const std::string title =
      options.title.empty() ? cat(node_name(tape, y.node()), " = ", forward_text(tape, y.node()))
                            : options.title;
  std::string page;
  for (const std::string_view part : player_page()) page += part;
  return filled(
      page, {{{"@TITLE@", escaped(title)}, {"@GRAPHS@", templates},
                {"@TAPE@", embeddable(to_json(tape, nullptr, json))},
                {"@PAGE@", embeddable(player_data(tape, y, steps, options, graphs, most))}}});
}

void write_html(
    const std::string& path, const MicroTape& tape, const Var& y, const HtmlOptions& options) {
  write_text("write_html", path, to_html(tape, y, options));
}

}  // namespace microtape
