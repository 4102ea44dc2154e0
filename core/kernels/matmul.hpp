#pragma once

#include <microtape/core/tensor.hpp>

// Products of matrices in the last two axes. Operands may be strided. Leading axes are batches and
// must be equal; a right operand of rank 2 serves every row of the left one (matmul, matmul_nt):
// its leading axes are then further rows of one product. float32 or float64. Each throws ShapeError
// with both shapes, DTypeError if the dtypes differ, ValueError if BLAS cannot count the rows, the
// columns or the sum (2^31 or more).

namespace microtape::kernels {

/// alpha A B. a [.., m, k], b [.., k, n] or [k, n] -> [.., m, n]
Tensor matmul(const Tensor& a, const Tensor& b, double alpha = 1);
/// alpha A B^T. a [.., m, k], b [.., n, k] or [n, k] -> [.., m, n]
Tensor matmul_nt(const Tensor& a, const Tensor& b, double alpha = 1);
/// alpha A^T B. a [.., k, m], b [.., k, n] -> [.., m, n]
Tensor matmul_tn(const Tensor& a, const Tensor& b, double alpha = 1);

}  // namespace microtape::kernels
