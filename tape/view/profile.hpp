#pragma once

#include <string>

#include <microtape/tape/micro_tape.hpp>

namespace microtape {

/// Where time and memory went: a table with a line for each op, slowest first. It has the number of
/// nodes, the milliseconds of their forward computations and of their rules (in all sweeps so far),
/// the share of all the time, and the bytes of the values that the tape saved; a view saves none.
/// @throws TapeError if the tape is Keep::needed, which takes no time
std::string profile(const MicroTape& tape);

}  // namespace microtape
