#include <microtape/tape/view/graph.hpp>

#include <algorithm>
#include <map>
#include <tuple>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape {
namespace {

void check_prefix(std::string_view prefix) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_inner = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  if (prefix.empty()) return;
  if (!is_letter(prefix[0]) || !std::all_of(prefix.begin(), prefix.end(), is_inner))
    throw ValueError(cat("graph: id_prefix cannot begin an id: \"", prefix,
        "\"; it is a letter, then letters, digits, - and _"));
}

class Builder {
 public:
  Builder(const MicroTape& tape, const GraphOptions& options) : tape_(tape), options_(options) {
    graph_.regions = regions_of(tape);
    if (options.fold_repeats == Fold::yes) find_repeats(tape, graph_.regions);
    // Add up the nodes that are not hidden, so that a region knows its own.
    shown_before_.push_back(0);
    for (const Node& node : tape.nodes())
      shown_before_.push_back(shown_before_.back() + (is_hidden(node) ? 0 : 1));
  }

  Graph run() {
    choose_depth();
    draw();
    connect();
    mark_results();
    return std::move(graph_);
  }

 private:
  using Count = std::int64_t;

  bool is_hidden(const Node& node) const {
    return (!node.is_active() && hides(options_, Hide::constants)) ||
           (node.kind() == NodeKind::parameter && hides(options_, Hide::parameters));
  }
  Count shown_in(const Region& r) const { return shown_before_[r.end] - shown_before_[r.first]; }
  bool is_copy(std::uint32_t region) const { return graph_.regions[region].copy_of != region; }

  /// How many items there are if so many scopes are unfolded: [0], [1], ..
  std::vector<Count> count_items() const {
    const std::vector<Region>& regions = graph_.regions;
    std::uint32_t deepest = 0;
    for (const Region& r : regions) deepest = std::max(deepest, r.depth);
    std::vector<Count> nodes(deepest + 2), boxes(deepest + 2);
    for (std::uint32_t i = 0; i < regions.size(); i = is_copy(i) ? regions[i].next : i + 1) {
      const Count shown = shown_in(regions[i]);
      if (i > 0) nodes[regions[regions[i].parent].depth] -= shown;
      if (is_copy(i)) continue;
      nodes[regions[i].depth] += shown;
      if (regions[i].scope != 0 && shown > 0) ++boxes[regions[i].depth];
    }
    std::vector<Count> items(deepest + 1);
    Count sum = 0;
    for (std::uint32_t depth = 0; depth <= deepest; ++depth) {
      sum += nodes[depth];
      items[depth] = sum + boxes[depth + 1];
    }
    return items;
  }

  /// Folds until no more items are left than the options allow.
  void choose_depth() {
    const std::vector<Count> items = count_items();
    const auto is_too_many = [&](std::size_t depth) {
      return static_cast<std::size_t>(items[depth]) > options_.max_nodes;
    };
    unfold_ = std::min(options_.unfold, items.size() - 1);
    const std::size_t wanted = unfold_;
    while (unfold_ > 0 && is_too_many(unfold_)) --unfold_;
    if (!is_too_many(wanted)) return;
    graph_.note = cat(items[wanted], " nodes are more than max_nodes = ", options_.max_nodes);
    graph_.note += unfold_ == wanted
                       ? cat("; there are no scopes to fold")
                       : cat("; drawn with unfold = ", unfold_, ": ", items[unfold_], " nodes");
  }

  /// Goes along the tape, and through the frames that begin and end there.
  void draw() {
    graph_.item_of.assign(tape_.size(), Graph::kHidden);
    copy_of_.assign(tape_.size(), 0);
    std::vector<std::uint32_t> open{0};
    std::uint32_t next = 1;
    for (NodeId id = 0; id < tape_.size();) {
      while (graph_.regions[open.back()].end == id) {
        graph_.strokes.push_back({Graph::Stroke::Kind::close, open.back()});
        open.pop_back();
      }
      if (next == graph_.regions.size() || graph_.regions[next].first != id) {
        if (!is_hidden(tape_.node(id))) graph_.item_of[id] = add_item(Graph::Item::Kind::node, id);
        ++id;
      } else if (is_skipped(next)) {
        id = graph_.regions[next].end;
        next = graph_.regions[next].next;
      } else {
        graph_.strokes.push_back({Graph::Stroke::Kind::open, next});
        open.push_back(next++);
      }
    }
    for (; open.size() > 1; open.pop_back())
      graph_.strokes.push_back({Graph::Stroke::Kind::close, open.back()});
  }

  std::uint32_t add_item(Graph::Item::Kind kind, std::uint32_t index) {
    const auto item = static_cast<std::uint32_t>(graph_.items.size());
    graph_.items.push_back({kind, index});
    graph_.strokes.push_back({Graph::Stroke::Kind::item, item});
    return item;
  }

  /// Whether a region has no frame: it repeats another, is folded, or all in it is hidden.
  bool is_skipped(std::uint32_t index) {
    const Region& r = graph_.regions[index];
    if (is_copy(index)) {
      const NodeId first = graph_.regions[r.copy_of].first;
      for (NodeId id = r.first; id < r.end; ++id) {
        graph_.item_of[id] = graph_.item_of[first + (id - r.first)];
        copy_of_[id] = index;
      }
      return true;
    }
    if (shown_in(r) == 0) return true;
    if (r.scope == 0 || r.depth <= unfold_) return false;
    const std::uint32_t box = add_item(Graph::Item::Kind::box, index);
    for (NodeId id = r.first; id < r.end; ++id)
      if (!is_hidden(tape_.node(id))) graph_.item_of[id] = box;
    return true;
  }

  void connect() {
    graph_.is_used.resize(tape_.size());
    graph_.is_chain.resize(graph_.regions.size());
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::size_t>, std::size_t> known;
    for (NodeId id = 0; id < tape_.size(); ++id)
      for (const Edge& edge : tape_.node(id).edges()) {
        graph_.is_used[edge.input()] = true;
        const std::uint32_t from = graph_.item_of[edge.input()], to = graph_.item_of[id];
        if (from == Graph::kHidden || to == Graph::kHidden) continue;
        if (is_among_repeats(id, edge.input()) || from == to) continue;
        // Several from or to a box are one.
        const bool has_box = graph_.items[from].kind == Graph::Item::Kind::box ||
                             graph_.items[to].kind == Graph::Item::Kind::box;
        const auto [place, is_new] = known.emplace(
            std::tuple(from, to, has_box ? 0 : edge.position()), graph_.arrows.size());
        if (is_new) graph_.arrows.push_back({from, to, id, &edge, 0, false});
        Graph::Arrow& arrow = graph_.arrows[place->second];
        if (is_new || (has_box && copy_of_[id] == 0)) ++arrow.count;
        if (edge.is_active() && !arrow.is_active) {
          arrow.node = id;
          arrow.edge = &edge;
          arrow.is_active = true;
        }
      }
  }

  /// The first of repeats stands for the last, too, whose result may be that of all.
  void mark_results() {
    for (NodeId id = 0; id < tape_.size(); ++id) {
      const Region& copy = graph_.regions[copy_of_[id]];
      if (copy_of_[id] == 0 || graph_.is_used[id]) continue;
      graph_.is_used[graph_.regions[copy.copy_of].first + (id - copy.first)] = false;
    }
  }

  /// Whether an edge to a repeated node comes from the same repeat, or from the one before: the
  /// first of the repeats shows the one, and the word for all the other.
  bool is_among_repeats(NodeId id, NodeId input) {
    const Region& copy = graph_.regions[copy_of_[id]];
    const std::uint32_t first = copy.copy_of;
    if (first == 0 || input < graph_.regions[first].first) return false;
    if (input < copy.first) graph_.is_chain[first] = true;
    return true;
  }

  const MicroTape& tape_;
  const GraphOptions& options_;
  Graph graph_;
  std::vector<Count> shown_before_;     // [node]
  std::vector<std::uint32_t> copy_of_;  // [node]: the region that repeats another, or 0
  std::size_t unfold_ = 0;
};

}  // namespace

Graph graph_of(const MicroTape& tape, const GraphOptions& options) {
  check_prefix(options.id_prefix);
  return Builder(tape, options).run();
}

bool hides(const GraphOptions& options, Hide what) {
  return std::find(options.hide.begin(), options.hide.end(), what) != options.hide.end();
}

}  // namespace microtape
