#pragma once

// Not MicroTape's: a header of the consumer's own, under a name that MicroTape has too.

namespace consumer {

inline const char* whose_tensor() { return "the consumer's"; }

}  // namespace consumer
