#pragma once

#include <vector>

#include <microtape/tape/micro_tape.hpp>

// Internal: where a graph has frames.

namespace microtape {

/// Nodes one behind the other on the tape, all of one scope and those inside it: what a frame goes
/// around. The nodes that a sweep recorded stand in a region of their own, which mirrors the scopes
/// of the forward nodes. Since regions are cut from the order of computation, no edge leads from a
/// region through another back into it.
struct Region {
  std::uint32_t scope = 0;   ///< 0: the whole tape, or what a sweep recorded
  std::uint32_t parent = 0;  ///< the region around it; that of region 0 is 0
  std::uint32_t depth = 0;   ///< how many scopes it lies in, itself included
  NodeId first = 0, end = 0;
  std::uint32_t next = 0;  ///< the first region after those inside it

  /// Among equal regions that follow one another: the first of them.
  std::uint32_t copy_of = 0;
  /// How many they are, for the first; 1 for the others.
  std::uint32_t repeats = 1;
};

/// All regions: 0 is the whole tape, and each stands before those inside it.
std::vector<Region> regions_of(const MicroTape& tape);

/// Finds equal regions that follow one another: fills copy_of and repeats.
void find_repeats(const MicroTape& tape, std::vector<Region>& regions);

/// A name without the number at its end: "block" for "block_12".
std::string_view without_number(std::string_view name);

}  // namespace microtape
