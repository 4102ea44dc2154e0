#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <microtape/tape/backward.hpp>

namespace microtape {

/// Words for the last two axes of a value, such as those of a sentence. An axis without words has
/// none.
struct AxisWords {
  std::vector<std::string> rows;     ///< for the axis before the last
  std::vector<std::string> columns;  ///< for the last axis
};

/// How to_html() shows a tape.
struct HtmlOptions {
  /// Of the page; empty: the last equation.
  std::string title = {};
  /// The adjoint of y, of y's shape and dtype; no value: ones.
  Var seed = {};
  /// By the name of a node: the words of its value, and of its adjoint.
  std::map<std::string, AxisWords> words = {};
  /// Of a Tensor with more numbers a sample, evenly spaced along its axes, stands in the page. No
  /// value: 4096, or fewer on a long tape, so that the numbers stay below some 10 MB.
  std::optional<Index> most_numbers = {};
  /// More nodes than these are not drawn at once: scopes are boxes, or there is no graph.
  std::size_t max_nodes = 300;
};

/// A page to step through a tape: one HTML file that needs nothing else, no network, no server, no
/// library. It steps forward node by node and backward as a Sweep from y does, with the numbers of
/// every tensor, every contribution and every sum. Without Graphviz it has a list in place of the
/// graph. The same tape, with the same version of Graphviz, always gives the same bytes.
/// @param tape  Keep::everything
/// @param y     where the backward half starts; nodes after it have no step
/// @throws TapeError if the tape is Keep::needed, or y is plain, a constant, or on another tape;
///         ShapeError, DTypeError if the seed does not fit; ValueError for words of a name that no
///         node has, ShapeError if there are not as many as the axis is long; ValueError if
///         most_numbers is below 1
std::string to_html(const MicroTape& tape, const Var& y, const HtmlOptions& options = {});

/// to_html() as a file, which replaces one that was there.
/// @throws as to_html(); FileError if the file cannot be written
void write_html(
    const std::string& path, const MicroTape& tape, const Var& y, const HtmlOptions& options = {});

}  // namespace microtape
