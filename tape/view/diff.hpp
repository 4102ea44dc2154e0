#pragma once

#include <string>
#include <vector>

#include <microtape/tape/micro_tape.hpp>

namespace microtape {

/// What the comparison of two graphs says of a node or an edge.
enum class Fate : std::uint8_t { same, missing, extra, changed };

/// Two graphs laid over one another. It holds texts alone, and outlives the tapes.
struct GraphDiff {
  /// An edge of one of the graphs, or one that both have.
  struct Input {
    std::string name;  ///< what the op calls it
    std::size_t from;  ///< an index into items
    Fate fate;         ///< never changed: an edge is there or not
  };
  /// A node of one of the graphs, or one that both have.
  struct Item {
    Fate fate = Fate::same;        ///< which graph has it, and whether it differs
    NodeKind kind = NodeKind::op;  ///< who made it
    NodeId expected = kNoNode;     ///< in the expected graph, if it is there
    NodeId actual = kNoNode;       ///< in the actual graph, if it is there
    std::string text;              ///< "P = softmax(S)"; as in the actual graph, if both have it
    std::string detail;            ///< "softmax [2, 2], axis = -1"
    std::vector<std::string> changes;  ///< "c = 1, not c = 0.5"
    std::vector<Input> inputs;         ///< edges of either graph
  };
  std::vector<Item> items;  ///< those of the expected graph in order, then what is extra

  /// Number of nodes with this fate.
  std::size_t count(Fate fate) const;
  /// Whether the two do not differ.
  bool is_same() const { return count(Fate::same) == items.size(); }
};

/// Matches two graphs, a student's against the reference, or fused ops against composed: what of
/// the first is missing in the second, what is extra there, and what differs between nodes that
/// correspond. Nodes correspond if they are computed alike from nodes that correspond, have the
/// same name, or stand in the same place of an op that corresponds; how the tapes are ordered plays
/// no part. Ops, attributes, shapes, dtypes, edges, and names where both have one are compared;
/// values and scopes are not.
GraphDiff diff(const MicroTape& expected, const MicroTape& actual);

/// A line of counts, and one for each node that differs.
std::string to_text(const GraphDiff& diff);

/// Both graphs as one, for Graphviz: what is missing is dashed (orange), what is extra has a thick
/// line (blue), what has changed a double border (yellow), each with the word. Of more than 300
/// nodes only those that differ are drawn, with their neighbours, and a note.
std::string to_dot(const GraphDiff& diff);

}  // namespace microtape
