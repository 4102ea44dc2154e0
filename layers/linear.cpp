#include <microtape/layers/linear.hpp>

#include <cmath>

#include <microtape/core/format.hpp>
#include <microtape/core/random.hpp>

namespace microtape {
namespace {

std::string with_subscript(const char* letter, const std::string& symbol) {
  return symbol.empty() ? letter : cat(letter, "_", symbol);
}

Tensor xavier_uniform(Index in, Index out, const LayerOptions& options) {
  if (in < 1 || out < 1)
    throw ValueError(
        cat("Linear: no such map: in ", in, ", out ", out, "; both must be 1 or more"));
  const double bound = std::sqrt(6.0 / static_cast<double>(in + out));
  return Tensor::uniform({out, in}, -bound, bound, split_seed(options.seed, 0), options.dtype);
}

}  // namespace

Linear::Linear(Index in, Index out, const LayerOptions& options)
    : Layer(options, "linear"),
      weight_("weight", xavier_uniform(in, out, options), with_subscript("W", options.symbol)),
      bias_("bias", Tensor::zeros({out}, options.dtype), with_subscript("b", options.symbol)) {}

Var Linear::operator()(const Var& x) {
  const auto scope = enter(x);
  in_scope_of(x, [&] {
    const Shape w = weight_.value().shape();
    if (x.rank() == 0 || x.shape()[-1] != w[1])
      throw ShapeError(cat(
          "Linear: x does not fit: x ", x.shape(), ", weight ", w, "; x must be [.., ", w[1], "]"));
    if (x.dtype() != weight_.value().dtype())
      throw DTypeError(cat("Linear: dtypes differ: x ", x.dtype(), ", weight ",
          weight_.value().dtype(), "; convert x with to(", weight_.value().dtype(), ")"));
  });
  // One after the other: the order in which a compiler evaluates operands is its own, and the tape
  // shall not depend on it.
  const Var w = watch(x, weight_);
  const Var b = watch(x, bias_);
  // A single row is a matrix of one row.
  if (x.rank() == 1) return reshape(matmul_nt(reshape(x, {1, -1}), w) + b, {-1});
  return matmul_nt(x, w) + b;  // [.., in] [out, in]^T -> [.., out]
}

}  // namespace microtape
