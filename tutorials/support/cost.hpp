#pragma once

// What a tape keeps, op by op: nodes, and the bytes of their values. profile() has the time too.

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <microtape/microtape.hpp>

namespace cost {

struct Cost {
  std::string op;
  std::size_t nodes = 0, bytes = 0;

  void add(std::size_t bytes_of_node) {
    ++nodes;
    bytes += bytes_of_node;
  }
};

/// Of the node's value; 0 if it is a view of another's.
inline std::size_t bytes_of(const microtape::MicroTape& tape, const microtape::Node& node) {
  for (const microtape::Edge& edge : node.edges())
    if (node.value().shares_memory_with(tape.node(edge.input()).value())) return 0;
  return static_cast<std::size_t>(node.value().size()) * microtape::size_of(node.dtype());
}

/// Of all nodes together.
inline Cost total(const microtape::MicroTape& tape) {
  Cost out{"all"};
  for (const microtape::Node& node : tape.nodes()) out.add(bytes_of(tape, node));
  return out;
}

/// Of the nodes of each op, the one with the most bytes first.
inline std::vector<Cost> by_op(const microtape::MicroTape& tape) {
  std::map<std::string, Cost> ops;
  for (const microtape::Node& node : tape.nodes())
    ops.try_emplace(std::string(node.op()), Cost{std::string(node.op())})
        .first->second.add(bytes_of(tape, node));
  std::vector<Cost> out;
  for (const auto& [op, cost] : ops) out.push_back(cost);
  std::sort(out.begin(), out.end(), [](const Cost& a, const Cost& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.op < b.op;
  });
  return out;
}

/// A line for each op, then one for all.
inline void print(const microtape::MicroTape& tape) {
  std::vector<Cost> rows = by_op(tape);
  rows.push_back(total(tape));
  std::printf("  op             nodes   bytes\n");
  for (const Cost& row : rows)
    std::printf("  %-14s %5zu %7zu\n", row.op.c_str(), row.nodes, row.bytes);
}

}  // namespace cost
