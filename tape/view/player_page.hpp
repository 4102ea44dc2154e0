#pragma once

#include <span>
#include <string_view>

// Internal: the page of tape/view/player/, which cmake/embed_player.cmake makes part of the
// library.

namespace microtape {

/// The parts of the page, in order. In place of the title, the graphs, the tape and what else the
/// page reads stand @TITLE@, @GRAPHS@, @TAPE@ and @PAGE@.
std::span<const std::string_view> player_page();

}  // namespace microtape
