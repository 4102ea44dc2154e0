#include "tape/op_table.hpp"

namespace microtape::testing {
namespace {

using Vars = std::span<const Var>;

std::vector<OpRow> pair_rows() {
  return {
      {"add: two matrices", [](Vars x) { return x[0] + x[1]; },
          {mixed({2, 3}, 1), mixed({2, 3}, 2)}},
      {"add: a row", [](Vars x) { return x[0] + x[1]; }, {mixed({2, 3}, 3), mixed({3}, 4)}},
      {"add: a column first", [](Vars x) { return x[0] + x[1]; },
          {mixed({2, 1}, 5), mixed({2, 3}, 6)}},
      {"add: both repeat", [](Vars x) { return x[0] + x[1]; },
          {mixed({2, 1, 3, 1}, 7), mixed({5, 1, 4}, 8)}},
      {"add: a scalar", [](Vars x) { return x[0] + x[1]; }, {mixed({}, 9), mixed({2, 3}, 10)}},
      {"add: one Var as both", [](Vars x) { return x[0] + x[0]; }, {mixed({2, 3}, 11)}},
      {"sub: two matrices", [](Vars x) { return x[0] - x[1]; },
          {mixed({2, 3}, 12), mixed({2, 3}, 13)}},
      {"sub: both repeat", [](Vars x) { return x[0] - x[1]; },
          {mixed({4, 1}, 14), mixed({1, 3}, 15)}},
      {"sub: a scalar", [](Vars x) { return x[0] - x[1]; }, {mixed({2, 3}, 16), mixed({}, 17)}},
      {"mul: two matrices", [](Vars x) { return x[0] * x[1]; },
          {mixed({2, 3}, 18), mixed({2, 3}, 19)}},
      {"mul: both repeat", [](Vars x) { return x[0] * x[1]; },
          {mixed({2, 1, 3, 1}, 20), mixed({5, 1, 4}, 21)}},
      {"mul: a column", [](Vars x) { return x[0] * x[1]; }, {mixed({2, 3}, 22), mixed({2, 1}, 23)}},
      {"mul: one Var as both", [](Vars x) { return x[0] * x[0]; }, {mixed({2, 3}, 24)}},
      {"mul: with a constant", [](Vars x) { return Tensor::of({2, -3, 5}, x[0].dtype()) * x[0]; },
          {mixed({2, 3}, 25)}},
      {"div: two matrices", [](Vars x) { return x[0] / x[1]; },
          {mixed({2, 3}, 26), positive({2, 3}, 27)}},
      {"div: both repeat", [](Vars x) { return x[0] / x[1]; },
          {mixed({4, 1}, 28), positive({3}, 29)}},
      {"div: one Var as both", [](Vars x) { return x[0] / x[0]; }, {positive({2, 3}, 30)}},
  };
}

std::vector<OpRow> number_rows() {
  return {
      {"add: a number on the right", [](Vars x) { return x[0] + 2.5; }, {mixed({2, 3}, 31)}},
      {"add: a number on the left", [](Vars x) { return 2.5 + x[0]; }, {mixed({3}, 32)}},
      {"sub: a number on the left", [](Vars x) { return 2.5 - x[0]; }, {mixed({2, 3}, 33)}},
      {"add: minus a number", [](Vars x) { return x[0] - 2.5; }, {mixed({3, 2}, 34)}},
      {"div: by a number", [](Vars x) { return x[0] / 2.5; }, {mixed({2, 3}, 35)}},
      {"div: a number by it", [](Vars x) { return 2.5 / x[0]; }, {positive({2, 3}, 36)}},
      {"scale: a number on the left", [](Vars x) { return -1.5 * x[0]; }, {mixed({2, 3}, 37)}},
      {"scale: a number on the right", [](Vars x) { return x[0] * 0.25; }, {mixed({4}, 38)}},
      {"scale: with a symbol", [](Vars x) { return scale(x[0], {0.5, R"(\frac{1}{\sqrt{d}})"}); },
          {mixed({3, 2}, 39)}},
      {"neg: a matrix", [](Vars x) { return -x[0]; }, {mixed({2, 3}, 40)}},
      {"neg: a scalar", [](Vars x) { return -x[0]; }, {mixed({}, 41)}},
      {"pow: 3", [](Vars x) { return pow(x[0], 3); }, {mixed({2, 3}, 42)}},
      {"pow: 2", [](Vars x) { return pow(x[0], 2); }, {mixed({3, 2}, 43)}},
      {"pow: 1", [](Vars x) { return pow(x[0], 1); }, {mixed({3}, 44)}},
      {"pow: 0", [](Vars x) { return pow(x[0], 0); }, {mixed({2, 3}, 45)}},
      {"pow: a half", [](Vars x) { return pow(x[0], 0.5); }, {positive({2, 3}, 46)}},
      {"pow: minus 2", [](Vars x) { return pow(x[0], -2); }, {positive({2, 3}, 47)}},
  };
}

const Tensor& mask() {
  static const Tensor m = Tensor::of({{1, 0, 1}, {0, 0, 1}}, int64);
  return m;
}

std::vector<OpRow> where_rows() {
  return {
      {"where: two matrices", [](Vars x) { return where(mask(), x[0], x[1]); },
          {mixed({2, 3}, 48), mixed({2, 3}, 49)}},
      {"where: all repeat", [](Vars x) { return where(Tensor::of({1, 0, 1}, int64), x[0], x[1]); },
          {mixed({2, 1}, 50), mixed({}, 51)}},
      {"where: the mask is the largest", [](Vars x) { return where(mask(), x[0], x[1]); },
          {mixed({3}, 52), mixed({2, 1}, 53)}},
      {"where: else a number", [](Vars x) { return where(mask(), x[0], -7); }, {mixed({3}, 54)}},
      {"where: a number, else", [](Vars x) { return where(mask(), 3, x[0]); }, {mixed({2, 1}, 55)}},
      {"where: one Var as both", [](Vars x) { return where(mask(), x[0], x[0]); },
          {mixed({2, 3}, 56)}},
  };
}

}  // namespace

std::vector<OpRow> arithmetic_rows() {
  std::vector<OpRow> rows = pair_rows();
  for (auto part : {number_rows, where_rows})
    for (OpRow& row : part()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace microtape::testing
