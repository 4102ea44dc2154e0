#pragma once

#include <span>
#include <string>

#include <microtape/tape/backward.hpp>
#include <microtape/tape/view/graph_options.hpp>

namespace microtape {

/// Options of to_json.
struct JsonOptions {
  GraphOptions graph = {};  ///< what is drawn, and under which ids
  /// Of a Tensor with more numbers, so many are written, evenly spaced.
  std::size_t max_numbers = 256;
  /// What Sweep::step() returned, in order, to be played back.
  std::span<const Sweep::Step> steps = {};
};

/// All that is known of a tape as JSON, for programs that show it: docs/tape.schema.json describes
/// each field. Every node is there, also one that the graph hides or folds; `item` is the id of
/// what to_dot() and to_svg() draw for it, without their prefix. Numbers are exact: they read back
/// as the same bits; NaN and the infinities are the strings "NaN", "Infinity" and "-Infinity",
/// which Number() of JavaScript and float() of Python read. A byte that is not UTF-8 is U+FFFD. The
/// same tape always gives the same bytes.
/// @param sweep  over this tape, done or on its way; null: no adjoints
/// @throws ValueError if a step is not of a sweep over this tape, or as to_dot()
std::string to_json(
    const MicroTape& tape, const Sweep* sweep = nullptr, const JsonOptions& options = {});

/// to_json() as a file, which replaces one that was there.
/// @throws FileError if it cannot be written; ValueError as above
void write_json(const std::string& path, const MicroTape& tape, const Sweep* sweep = nullptr,
    const JsonOptions& options = {});

}  // namespace microtape
