// The main() of the test program. Catch2 3 brings its own (link Catch2::Catch2WithMain); Catch2 2
// makes one here.

#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
