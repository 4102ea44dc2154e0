#pragma once

#include <array>
#include <string>
#include <vector>

#include <microtape/tape/view/explain_trace.hpp>

// Why the rules of ops make 0, or NaN: a table of all ops for which there is more to say than that
// they do. Internal to tape/view.

namespace microtape {

/// Whether a law may be told of a number.
using Condition = bool (*)(double);

/// How an op tells why a rule of it stops an adjoint.
struct Law {
  std::string_view ops;    ///< names, with spaces between them
  std::string_view input;  ///< of which rule; empty: of any
  /// The numbers that decide it, `role name`: the name is that of an input or an attribute, or y.
  std::array<std::string_view, 3> numbers;
  std::string_view why;
  Condition holds = nullptr;  ///< for the first of the numbers, if it stops
};

/// The law of a rule, or null.
const Law* law_of(const Node& node, const Edge& edge);
/// Whether the numbers at these entries are as the law says. An op of somebody's own may bear the
/// name of another.
bool holds(const Law& law, const MicroTape& tape, NodeId id, const Shape& shape,
    const std::vector<Index>& entries);

/// The nodes whose values are numbers of a law.
std::vector<NodeId> nodes_of(const Law& law, const MicroTape& tape, NodeId id);
/// "its factor Z is 0, its bound is 3": the numbers of a law at some entries of a shape.
std::string numbers_text(const Law& law, const MicroTape& tape, NodeId id, const Shape& shape,
    const std::vector<Index>& entries);

}  // namespace microtape
