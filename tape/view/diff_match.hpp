#pragma once

#include <string>
#include <vector>

#include <microtape/tape/micro_tape.hpp>

// Internal to diff(): which node of a graph corresponds to which of another.

namespace microtape {

struct Matching {
  std::vector<NodeId> actual_of;    ///< [node of the expected graph]; kNoNode: it is missing
  std::vector<NodeId> expected_of;  ///< [node of the actual graph]; kNoNode: it is extra
};

Matching match(const MicroTape& expected, const MicroTape& actual);

/// The fixed arguments, "axis = -1" and so on, numbers with four digits.
std::vector<std::string> attribute_texts(const Node& node);
/// The same with all digits.
std::string exact_attributes(const Node& node);

}  // namespace microtape
