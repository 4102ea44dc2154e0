#pragma once

#include <string>

#include <microtape/tape/view/explain_cause.hpp>

// How explain() says what it found. Internal to tape/view.

namespace microtape::words {

/// "relu #4 in mlp", "softmax P #9 in attn".
std::string called(const MicroTape& tape, NodeId id);
/// "P", or "#9" without a name; a long name is cut.
std::string short_name(const MicroTape& tape, NodeId id);
/// "at [0, 1]"; nothing of a scalar.
std::string at(const Shape& shape, Index entry);
/// Four digits, and no sign of 0.
std::string digits(double value);

/// "relu #4 in mlp stops it at [0, 1]: its input h is -0.3; relu passes only what is above 0."
std::string sentence(const Trace& trace, const Cause& cause);
/// "mul #4 turns an adjoint of 0 into nan at [1]: its factor z is inf."
/// @param number  spoiled_number()
std::string sentence(const Trace& trace, const Spoiler& spoiler, Place number);
/// The number that the rule of a spoiler took, and that was NaN or infinite itself; kNoNode if none
/// was.
Place spoiled_number(const Trace& trace, const Spoiler& spoiler);
/// "log #2 makes -inf of 0 at [1]."
std::string source_sentence(const MicroTape& tape, Place source);
/// "A change of x moves all entries of a row alike, and softmax #4 sees only their differences."
/// @param what  "x"
std::string sentence(const Trace& trace, const Shift& shift, std::string_view what);

}  // namespace microtape::words
