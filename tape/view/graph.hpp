#pragma once

#include <string>
#include <vector>

#include <microtape/tape/view/graph_options.hpp>
#include <microtape/tape/view/regions.hpp>

// Internal: what is to be seen of a tape, after all options. to_dot(), to_mermaid() and to_json()
// print it.

namespace microtape {

struct Graph {
  /// A node, or a region that is drawn as one box.
  struct Item {
    enum class Kind : std::uint8_t { node, box } kind;
    std::uint32_t index;  ///< the number of the node, or of the region
  };
  /// One step of drawing items and frames from first to last.
  struct Stroke {
    enum class Kind : std::uint8_t { item, open, close } kind;
    std::uint32_t index;  ///< an item, or the region whose frame is opened or closed
  };
  /// An edge between two items. Of several that lead from or to a box, one stands for all.
  struct Arrow {
    std::uint32_t from, to;  ///< items
    NodeId node;             ///< whose input it is; of several, the first that carries an adjoint
    const Edge* edge;
    std::size_t count;
    bool is_active;
  };
  static constexpr std::uint32_t kHidden = ~std::uint32_t{0};

  std::vector<Region> regions;
  std::vector<Item> items;
  std::vector<Stroke> strokes;
  std::vector<Arrow> arrows;
  std::vector<std::uint32_t> item_of;  ///< [node]: what stands for it, or kHidden
  std::vector<bool> is_used;           ///< [node]: by another, seen or not; of repeats, by one each
  std::vector<bool> is_chain;          ///< [region]: its repeats pass on their results
  std::string note;                    ///< what was folded on its own; may be empty
};

/// @throws ValueError if the id_prefix is none
Graph graph_of(const MicroTape& tape, const GraphOptions& options);

bool hides(const GraphOptions& options, Hide what);

}  // namespace microtape
