#pragma once

#include <string>
#include <vector>

#include <microtape/tape/view/player.hpp>

// Internal: what the page of to_html() reads beside to_json().

namespace microtape {

/// The drawings of a tape, [i] with i scopes inside one another unfolded.
struct PlayerGraphs {
  std::vector<std::string> svg;
  std::string note;  ///< why there are no more, or none
};

/// How many numbers of a Tensor stand in the page, so that it stays below some 10 MB.
Index most_numbers(const MicroTape& tape, const std::vector<Sweep::Step>& steps);

/// As JSON: where the sweep starts, every formula in MathML, the words of axes, what is said of
/// the graphs, and a sample of each Tensor that has more than `most` numbers. to_json() has all
/// else.
/// @throws ValueError, ShapeError for words that do not fit
std::string player_data(const MicroTape& tape, const Var& y, const std::vector<Sweep::Step>& steps,
    const HtmlOptions& options, const PlayerGraphs& graphs, Index most);

}  // namespace microtape
