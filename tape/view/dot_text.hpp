#pragma once

#include <string>
#include <string_view>
#include <vector>

// Internal: text in the DOT language, for graphs of tapes and for their differences.

namespace microtape::dot {

inline constexpr std::size_t kLabelWidth = 36;  ///< columns of an equation before it breaks
inline constexpr std::string_view kAdjointColor = "#a03c00";

/// Stands for the prefix of all ids until the graph is complete. No label has this character.
inline constexpr std::string_view kPrefix = "\x01";
/// The graph with the prefix in place; an empty one is made from the content, so that two graphs
/// that differ have no id in common.
std::string with_prefix(std::string_view graph, std::string_view prefix);

/// How a graph begins. @param note  stands above it; may be empty
std::string head(std::string_view note);

/// Text for an HTML-like label, in lines of at most `width` columns, with `margin` at both ends of
/// each; its own line ends stay.
std::string broken(
    std::string_view text, std::size_t width = kLabelWidth, std::string_view margin = "");
/// In small grey letters.
std::string small(const std::string& markup);

/// A row of a label.
std::string row(const std::string& markup);
/// Numbers one below the other, in a font whose digits are equally wide.
/// @param before  what they are, "dS"; may be empty
std::string number_row(std::string_view before, const std::vector<std::string>& lines,
    std::string_view color, std::string_view style = "");
/// Rows together.
std::string table(const std::string& rows);

/// A name for a text, its hash.
std::string id_of(std::string_view text);

}  // namespace microtape::dot
