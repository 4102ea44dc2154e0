#pragma once

#include <functional>

#include <microtape/core/format.hpp>
#include <microtape/tape/ops.hpp>
#include <microtape/tape/view/graph.hpp>
#include <microtape/tape/view/graph_text.hpp>

#include "testing.hpp"

// Graphs as short texts, and a tape to fold.

namespace microtape::testing {

/// The items in order, frames in brackets: "n0 model[n1 b2]".
inline std::string items(const MicroTape& tape, const Graph& graph) {
  std::string out;
  for (const Graph::Stroke& stroke : graph.strokes) {
    const bool is_after_item = !out.empty() && out.back() != '[';
    if (stroke.kind == Graph::Stroke::Kind::close)
      out += "]";
    else if (stroke.kind == Graph::Stroke::Kind::open)
      out += cat(is_after_item ? " " : "", region_name(tape, graph, stroke.index), "[");
    else
      out += cat(is_after_item ? " " : "", item_id(graph.items[stroke.index]));
  }
  return out;
}

inline std::string items(const MicroTape& tape, const GraphOptions& options = {}) {
  return items(tape, graph_of(tape, options));
}

/// "n0>n1 n0>b2 x 3".
inline std::string arrows(const MicroTape& tape, const GraphOptions& options = {}) {
  const Graph graph = graph_of(tape, options);
  std::string out;
  for (const Graph::Arrow& arrow : graph.arrows) {
    out += cat(out.empty() ? "" : " ", item_id(graph.items[arrow.from]), ">",
        item_id(graph.items[arrow.to]));
    if (arrow.count > 1) out += cat(" x ", arrow.count);
  }
  return out;
}

/// x -> block0 -> block1 -> .., each tanh(a h + h); node 0 is x, block i has nodes 1 + 3 i and on.
inline Var chain(
    MicroTape& tape, int blocks, const std::function<void(int, Var&)>& after = nullptr) {
  Var h = tape.leaf(f64({1, 2}), "x");
  for (int i = 0; i < blocks; ++i) {
    const Scope scope = tape.scope(cat("block", i));
    h = tanh(h * 0.5 + h);
    if (after) after(i, h);
  }
  return h;
}

}  // namespace microtape::testing
