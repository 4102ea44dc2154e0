#pragma once

#include <microtape/tape/ops/arithmetic.hpp>

// Products of matrices in the last two axes.

namespace microtape {

/// C = c A B, over batches.
///
/// The leading axes broadcast (recorded as nodes), except when b is a plain matrix: then the
/// leading axes of a are further rows of one product. `c` is free: it is the product's own factor.
///
/// @param a  [.., m, k]
/// @param b  [.., k, n] or [k, n]
/// @return   [.., m, n]
/// @throws ShapeError if a rank is below 2, or the inner extents or the batches do not fit;
///         DTypeError if the dtypes differ
///
/// Adjoints: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
/// differentiation", 2008, section 2.2.
Var matmul(const Var& a, const Var& b, const Scale& c = {});
/// C = c A B^T. a [.., m, k], b [.., n, k] or [n, k] -> [.., m, n]. Otherwise as matmul.
Var matmul_nt(const Var& a, const Var& b, const Scale& c = {});
/// C = c A^T B. a [.., k, m], b [.., k, n] -> [.., m, n]. Otherwise as matmul.
Var matmul_tn(const Var& a, const Var& b, const Scale& c = {});

}  // namespace microtape
