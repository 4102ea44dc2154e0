#pragma once

#include <string>
#include <string_view>
#include <vector>

// Text in columns of a terminal, and in markup. Internal to tape/view.

namespace microtape::utf8 {

/// The characters of a UTF-8 text, each with the marks that combine with it. A control character,
/// which would break a line, becomes a space; a byte that is not UTF-8, and what XML has no
/// character for (U+FFFE, U+FFFF), U+FFFD.
std::vector<std::string> characters(std::string_view text);
/// The same, put together again.
std::string printable(std::string_view text);

/// A UTF-8 text as XML may have it: line ends and tabs stay, any other control character, what is
/// no character and a byte that is not UTF-8 become U+FFFD.
std::string drawable(std::string_view text);

/// The text with & < > as XML and HTML write them.
std::string escaped(std::string_view text);

/// How many columns a terminal gives a text: 2 for emoji and East Asian characters, 1 for any
/// other, Turkish letters among them.
std::size_t display_width(std::string_view text);

/// The text with spaces behind it, up to a width.
std::string padded(std::string_view text, std::size_t width);
/// At most `width` columns of the text; what is cut ends in "…".
std::string shortened(std::string_view text, std::size_t width);
/// The text in lines of at most `width` columns, broken at spaces where possible.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace microtape::utf8
