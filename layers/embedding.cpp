#include <microtape/layers/embedding.hpp>

#include <cmath>

#include <microtape/core/format.hpp>
#include <microtape/core/kernels/elementwise.hpp>

namespace microtape {
namespace {

Tensor normal_table(std::string_view layer, Index count, Index width, double deviation,
    const LayerOptions& options) {
  if (count < 1 || width < 1 || !(deviation >= 0))
    throw ValueError(cat(layer, ": no such table: ", count, " rows of ", width, ", deviation ",
        deviation, "; needs 1 or more of each, and a deviation that is not negative"));
  return kernels::scale(Tensor::randn({count, width}, options.seed, options.dtype), deviation);
}

Tensor sinusoids(Index length, Index width, DType dtype) {
  Tensor rows = Tensor::zeros({length, width}, float64);
  double* at = rows.mutable_data<double>().data();
  for (Index t = 0; t < length; ++t)
    for (Index j = 0; j < width; ++j) {
      const double exponent = static_cast<double>(j / 2 * 2) / static_cast<double>(width);
      const double angle = static_cast<double>(t) / std::pow(10000.0, exponent);
      *at++ = j % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  return rows.to(dtype);
}

}  // namespace

Embedding::Embedding(Index count, Index width, const LayerOptions& options, double deviation)
    : Layer(options, "embedding"),
      weight_("weight", normal_table("Embedding", count, width, deviation, options), "W_E") {}

Var Embedding::operator()(const Var& tokens) {
  const auto scope = enter(tokens);
  const Var table = watch(tokens, weight_);
  return embedding(table, tokens);
}

PositionalEncoding::PositionalEncoding(
    Index length, Index width, Positions kind, const LayerOptions& options)
    : Layer(options, "positions"),
      kind_(kind),
      rows_("weight", normal_table("PositionalEncoding", length, width, 0.02, options), "W_P") {
  if (kind == Positions::sinusoidal)
    rows_ = Parameter("rows", sinusoids(length, width, options.dtype));
}

Var PositionalEncoding::operator()(const Var& x) {
  const auto scope = enter(x);
  in_scope_of(x, [&] {
    const Shape rows = rows_.value().shape();
    if (x.rank() < 2 || x.shape()[-1] != rows[1] || x.shape()[-2] > rows[0])
      throw ShapeError(cat("PositionalEncoding: x does not fit: x ", x.shape(), ", rows ", rows,
          "; x must be [.., T, ", rows[1], "] with T <= ", rows[0]));
  });
  const Index t = x.shape()[-2];
  if (kind_ == Positions::learned) return x + slice(watch(x, rows_), 0, 0, t);
  const Tensor first = rows_.value().slice(0, 0, t);
  return x + (x.tape() ? x.tape()->constant(first, "positions") : Var(first));
}

std::vector<Member> PositionalEncoding::members() {
  if (kind_ == Positions::learned) return {rows_};
  return {};
}

}  // namespace microtape
