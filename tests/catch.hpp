#pragma once

// Catch2 under one name: Debian 12 has 2.13, newer systems have 3.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // 2 has it in the open
#else
#include <catch2/catch.hpp>
#endif

namespace microtape::testing {

/// CHECK_THROWS_MATCHES(f(), ShapeError, says("matmul: ...")): the whole text, to the letter.
inline auto says(const std::string& text) { return Catch::Matchers::Message(text); }

}  // namespace microtape::testing
