// Rows for ops that choose: by comparing, by a mask, by an index; and for losses.

#include "tape/op_table.hpp"

namespace microtape::testing {
namespace {

using Vars = std::span<const Var>;

Tensor indices(const Shape& shape, const std::vector<double>& values) {
  return Tensor::of(shape, values, int64);
}

std::vector<OpRow> comparing_rows() {
  return {
      {"maximum: a row", [](Vars x) { return maximum(x[0], x[1] + 0.05); },
          {apart({2, 3}), apart({1, 3})}},
      {"maximum: a number", [](Vars x) { return maximum(x[0], 0.05) * x[0]; }, {apart({4})}},
      {"minimum: a column", [](Vars x) { return minimum(x[0], x[1] + 0.05); },
          {apart({2, 3}), apart({2, 1})}},
      {"minimum: a number", [](Vars x) { return minimum(0.05, x[0]) * x[0]; }, {apart({2, 2})}},
      {"clamp: both bounds", [](Vars x) { return clamp(x[0], -0.4, 0.4) * x[0]; }, {apart({2, 3})}},
      {"clamp: all inside", [](Vars x) { return clamp(x[0], -9, 9); }, {apart({5})}},
      {"greater: times x", [](Vars x) { return x[0] * where(greater(x[0], x[1] + 0.05), x[0], 0); },
          {apart({2, 3}), apart({3})}},
      {"greater: of itself", [](Vars x) { return where(greater(x[0], neg(x[0])), x[0], 0); },
          {apart({4})}},
      {"equal: never here", [](Vars x) { return where(equal(x[0], neg(x[0])), 0, x[0]); },
          {apart({2, 3})}},
      {"equal: of itself", [](Vars x) { return where(equal(x[0], x[0]), square(x[0]), 0); },
          {apart({3})}},
      {"pow: two Vars", [](Vars x) { return pow(x[0], x[1]); },
          {positive({2, 3}, 1), mixed({3}, 2)}},
      {"pow: a number to a Var", [](Vars x) { return pow(1.5, x[0]); }, {mixed({2, 2}, 3)}},
      {"ratio: a row", [](Vars x) { return ratio(x[0], x[1]); },
          {mixed({2, 3}, 4), positive({3}, 5)}},
      {"ratio: a column", [](Vars x) { return ratio(x[0], x[1]); },
          {mixed({2, 2}, 6), positive({2, 1}, 7)}},
      {"argmax: as indices", [](Vars x) { return gather(x[0], 1, unsqueeze(argmax(x[0]), -1)); },
          {apart({3, 4})}},
      {"argmax: another axis",
          [](Vars x) { return gather(x[0], 0, unsqueeze(argmax(x[0], 0), 0)); }, {apart({3, 2})}},
  };
}

std::vector<OpRow> index_rows() {
  const Tensor columns = indices({2, 4}, {0, 2, 2, 1, 1, 1, 0, 2});
  const Tensor rows = indices({2, 2}, {3, 0, 3, 1});
  return {
      {"gather: repeated", [=](Vars x) { return gather(x[0], 1, columns); }, {mixed({2, 3}, 1)}},
      {"gather: along rows", [=](Vars x) { return gather(x[0], 0, columns); }, {mixed({3, 4}, 2)}},
      {"scatter_add: repeated", [=](Vars x) { return scatter_add(x[0], 1, columns, x[1]); },
          {mixed({2, 3}, 3), mixed({2, 4}, 4)}},
      {"scatter_add: squared", [=](Vars x) { return square(scatter_add(x[0], -1, columns, x[1])); },
          {mixed({2, 3}, 5), mixed({2, 4}, 6)}},
      {"embedding: repeated rows", [=](Vars x) { return embedding(x[0], rows); },
          {mixed({4, 3}, 7)}},
      {"embedding: squared", [=](Vars x) { return square(embedding(x[0], rows)); },
          {mixed({4, 2}, 8)}},
      {"add_rows: by the adjoint of embedding", [=](Vars x) { return exp(embedding(x[0], rows)); },
          {mixed({4, 2}, 9)}},
      {"add_rows: of a vector of rows",
          [](Vars x) { return square(embedding(x[0], indices({3}, {1, 1, 0}))); },
          {mixed({2, 3}, 10)}},
      {"one_hot: of an argmax, times x",
          [](Vars x) { return x[0] * one_hot(argmax(x[0]), 3, x[0].dtype()); }, {apart({2, 3})}},
      {"one_hot: of an argmax",
          [](Vars x) { return x[0] * one_hot(argmax(x[0]), 4, x[0].dtype()); }, {apart({2, 4})}},
  };
}

std::vector<OpRow> normalizing_rows() {
  const Tensor labels = indices({3}, {1, -100, 3});
  return {
      {"standardize: rows", [](Vars x) { return standardize(x[0]); }, {mixed({2, 4}, 1)}},
      {"standardize: rank 3, a large eps", [](Vars x) { return standardize(x[0], 0.5); },
          {mixed({2, 2, 3}, 2)}},
      {"cross_entropy: a row is ignored", [=](Vars x) { return cross_entropy(x[0], labels); },
          {mixed({3, 4}, 3)}},
      {"cross_entropy: rank 3",
          [](Vars x) { return cross_entropy(x[0], indices({2, 2}, {0, 2, 1, 1})); },
          {mixed({2, 2, 3}, 4)}},
  };
}

}  // namespace

std::vector<OpRow> choice_rows() {
  std::vector<OpRow> rows = comparing_rows();
  for (const auto& more : {index_rows(), normalizing_rows()})
    rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace microtape::testing
