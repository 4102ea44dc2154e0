#pragma once

#include <microtape/tape/record.hpp>

// What training makes small: numbers that say how wrong a prediction is. All means are over the
// elements (rows) that count.

namespace microtape {

/// Mean of (a - b)^2 over all elements. a and b of one shape -> []
/// @throws ShapeError if the shapes differ; DTypeError
Var mse_loss(const Var& a, const Var& b);

/// Options of cross_entropy: rows with the label ignore_index do not count.
struct CrossEntropyOptions {
  Index ignore_index = -100;  ///< a label that is not a class
};

/// Mean over the rows that count of -ln softmax(logits)[label]. No finite logits overflow.
/// @param logits  [.., C]
/// @param labels  [..] int64, each in 0 .. C - 1 or ignore_index
/// @return        []; NaN if no row counts
/// @throws IndexError that names the label and its row if it is out of range; ShapeError;
/// DTypeError
Var cross_entropy(const Var& logits, const Var& labels, const CrossEntropyOptions& options = {});

}  // namespace microtape
