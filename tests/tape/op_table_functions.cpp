#include "tape/op_table.hpp"

namespace microtape::testing {
namespace {

using Vars = std::span<const Var>;

/// A matrix, and a view of rank 3 whose numbers do not lie in row-major order.
void add_rows(std::vector<OpRow>& rows, const std::string& op, Var (*f)(const Var&),
    const Tensor& matrix, const Tensor& cube) {
  rows.push_back({op + ": a matrix", [f](Vars x) { return f(x[0]); }, {matrix}});
  rows.push_back(
      {op + ": a permuted view", [f](Vars x) { return f(permute(x[0], {1, 2, 0})); }, {cube}});
}

}  // namespace

std::vector<OpRow> function_rows() {
  std::vector<OpRow> rows;
  const auto smooth = [&](const std::string& op, Var (*f)(const Var&)) {
    add_rows(rows, op, f, mixed({2, 3}, rows.size()), mixed({2, 3, 2}, rows.size() + 100));
  };
  smooth("exp", exp);
  smooth("sin", sin);
  smooth("cos", cos);
  smooth("tanh", tanh);
  smooth("sigmoid", sigmoid);
  smooth("erf", erf);
  smooth("silu", silu);
  smooth("gelu", [](const Var& x) { return gelu(x); });
  smooth("gelu_tanh", [](const Var& x) { return gelu(x, Gelu::tanh); });
  smooth("expm1", expm1);
  smooth("softplus", softplus);
  smooth("square", square);
  add_rows(rows, "log1p", log1p, positive({2, 3}, 206), positive({2, 3, 2}, 207));
  add_rows(rows, "rsqrt", rsqrt, positive({2, 3}, 208), positive({2, 3, 2}, 209));
  add_rows(rows, "reciprocal", reciprocal, positive({2, 3}, 210), positive({2, 3, 2}, 211));
  add_rows(rows, "log", log, positive({2, 3}, 201), positive({2, 3, 2}, 202));
  add_rows(rows, "sqrt", sqrt, positive({2, 3}, 203), positive({2, 3, 2}, 204));
  add_rows(rows, "abs", abs, apart({2, 3}), apart({2, 3, 2}));
  add_rows(rows, "relu", relu, apart({2, 3}), apart({2, 3, 2}));
  // These carry no adjoint; times x, they are the slope.
  add_rows(rows, "sign", sign, apart({2, 3}), apart({2, 3, 2}));
  add_rows(rows, "step", step, apart({2, 3}), apart({2, 3, 2}));
  rows.push_back({"sign: times x", [](Vars x) { return x[0] * sign(x[0]); }, {apart({3, 2})}});
  rows.push_back(
      {"step: times x squared", [](Vars x) { return x[0] * x[0] * step(x[0]); }, {apart({3, 2})}});
  // Differences see through detach, so it stands on what does not change.
  rows.push_back(
      {"detach: of a sign", [](Vars x) { return x[0] * detach(sign(x[0])); }, {apart({2, 3})}});
  rows.push_back({"detach: of a step", [](Vars x) { return exp(x[0]) + detach(step(x[1])); },
      {mixed({2, 3}, 205), apart({3})}});
  return rows;
}

}  // namespace microtape::testing
