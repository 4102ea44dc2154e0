#pragma once

#include <string>
#include <vector>

#include <microtape/layers/layer.hpp>

namespace microtape {

/// An output that depends on a token of its future.
struct Leak {
  Index changed;  ///< position of the token that was changed
  Index seen;     ///< position of an output before it that changed too
  double by;      ///< the largest change there

  /// "the output at position 1 changes with the token at position 3 (by 0.02)"
  std::string str() const;
};

/// The mask-leak test: a changed token must change no output at an earlier position, to the bit.
///
///     CHECK(leaks(MultiHeadAttention(8, 2, 0, true), x).empty());
///
/// f runs once for each token but the first, with other numbers in its place (in every sequence of
/// the batch), and is compared with f(x): NaN is NaN, and 0 is -0. What rounding hides, such as a
/// mask of -50, is no leak; nor is what the other number happens not to change (a maximum).
/// @param f  the result has T outputs in axis 1, [B, T, ..], and is the same in every call
/// @param x  [B, T, ..]; int64 tokens are exchanged for others of x
/// @return   each pair of a token and an output that leaks, in order; nothing if T is 1
/// @throws ShapeError if x has no axis 1, or a result not the same batch and positions;
///         ValueError if all tokens of an int64 x are equal
std::vector<Leak> leaks(FunctionRef<Var(const Var& x)> f, const Tensor& x);

/// The same of a layer, in eval mode: dropout would draw anew in each call. Every layer inside has
/// the mode that it had when this returns or throws, and the last call is that of x itself.
std::vector<Leak> leaks(Layer& layer, const Tensor& x);
inline std::vector<Leak> leaks(Layer&& layer, const Tensor& x) { return leaks(layer, x); }

}  // namespace microtape
