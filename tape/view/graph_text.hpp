#pragma once

#include <string>
#include <vector>

#include <microtape/tape/backward.hpp>
#include <microtape/tape/view/graph.hpp>

// Internal: the words of a graph, the same in every format.

namespace microtape {

/// What is known of the adjoint of a node.
enum class AdjointState : std::uint8_t {
  none,          ///< there is no sweep, or no adjoint flows to the node
  not_computed,  ///< the sweep did not reach it, or has not yet
  not_kept,      ///< a Keep::needed tape drops those of ops
  computed,
};
AdjointState adjoint_state(const MicroTape& tape, NodeId id, const Sweep* sweep);

/// What stands in a node; rows that are not shown are empty.
struct NodeText {
  std::string name;      ///< "S", or "#12"; may have line ends
  std::string equation;  ///< what follows `S = `; empty if no op made it
  std::string detail;    ///< "matmul_nt [2, 2], c = 0.5"
  std::vector<std::string> value;
  std::string adjoint_name;  ///< "dS"
  std::vector<std::string> adjoint;
  bool is_computed = true;  ///< the adjoint is numbers; else words for why there are none
};
NodeText node_text(
    const MicroTape& tape, NodeId id, const Sweep* sweep, const GraphOptions& options);

/// "c = 0.5"; "axes = [0, 2, 1]"
std::string attribute_text(const Attribute& attribute);

/// The id of an item in every format: "n12", and "b3" for a box.
std::string item_id(const Graph::Item& item);

/// "attention", "block x 6", "backward"
std::string region_name(const MicroTape& tape, const Graph& graph, std::uint32_t region);
/// What a region is besides: which scopes it stands for, and, of a box, its nodes and its result.
std::string region_detail(
    const MicroTape& tape, const Graph& graph, std::uint32_t region, Graph::Item::Kind drawn_as);

/// "a", or "3 edges" for several.
std::string arrow_name(const Graph::Arrow& arrow);
/// "dx += dy * w"; empty if the edge carries none, stands for several, or leads into a box, whose
/// ops are not seen.
std::string arrow_rule(const MicroTape& tape, const Graph& graph, const Graph::Arrow& arrow,
    const GraphOptions& options);

}  // namespace microtape
