#pragma once

#include <string>

#include <microtape/tape/micro_tape.hpp>

namespace microtape {

/// Why the gradient of y by x is zero, missing or not finite, or that it is fine, in words: a few
/// lines of at most 80 columns. Of several causes the first that a sweep meets on its way from y to
/// x is told, and where other ways end.
///
/// It sweeps the tape, and asks the rules on the way to x again with other adjoints, to see what
/// they would pass. The tape does not change.
///
/// A gradient counts as missing if no way leads from x to y, or each goes through an input without
/// an adjoint (detach, argmax, a mask); as 0 where it is exactly 0, and "to rounding" where x moves
/// all entries of a row alike before a softmax or another op that sees only differences. If y is no
/// scalar, the gradient is that of its sum.
///
/// @param x  whose gradient it is; of a parameter: tape.watch(parameter). If x is plain or a
///           constant, the text says that it has none
/// @param y  what to differentiate
/// @throws TapeError if the tape is Keep::needed, which kept no values to look at, or x or y stands
///         on another tape
std::string explain(MicroTape& tape, const Var& x, const Var& y);
/// The same, y being the op that was computed last. @throws TapeError also if there is none
std::string explain(MicroTape& tape, const Var& x);

}  // namespace microtape
