#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace microtape {

/// Are numbers to be shown?
enum class Show : std::uint8_t { no, yes };
/// Is one of several equal things to stand for all?
enum class Fold : std::uint8_t { no, yes };

/// What a graph can do without.
enum class Hide : std::uint8_t {
  constants,   ///< what no leaf or parameter reaches: constants, and ops of constants alone
  parameters,  ///< with the edges from them
  rules,       ///< what an edge adds to the adjoint of its input
  attributes,  ///< the fixed arguments of ops
};

/// More scopes inside one another than any tape has.
inline constexpr std::size_t kAllScopes = 1'000'000;

/// How to_dot(), to_svg(), to_mermaid() and to_json() draw a tape.
struct GraphOptions {
  Show values = Show::yes;      ///< of nodes
  Show adjoints = Show::yes;    ///< if there is a sweep
  std::vector<Hide> hide = {};  ///< what to leave out
  /// So many scopes inside one another are drawn as frames; one inside of these as a single box.
  std::size_t unfold = kAllScopes;
  /// Draws the first of scopes that are equal and follow one another, for all of them: `block x 6`.
  /// Equal are the ops, shapes and edges; names and scopes may differ in a number at their end.
  Fold fold_repeats = Fold::no;
  /// If more would be visible, fewer scopes are unfolded, and a note says so.
  std::size_t max_nodes = 300;
  /// Begins the id of every node, edge and frame, so that graphs can stand on one page. A letter,
  /// then letters, digits, - and _. If it is empty it is made from the content: two graphs that
  /// differ have no id in common.
  std::string id_prefix = {};
};

}  // namespace microtape
