#include <cmath>

#include "tape/op_table.hpp"

namespace microtape::testing {
namespace {

using Vars = std::span<const Var>;

/// c A B, or with one of the two transposed, under one description.
using Product = Var (*)(const Var&, const Var&, const Scale&);

void add_row(std::vector<OpRow>& rows, const std::string& name, Product product, const Shape& a,
    const Shape& b, const Scale& c = {}) {
  rows.push_back({name, [product, c](Vars x) { return product(x[0], x[1], c); },
      {mixed(a, rows.size()), mixed(b, rows.size() + 50)}});
}

}  // namespace

std::vector<OpRow> linalg_rows() {
  const Scale c{1 / std::sqrt(6.0), R"(\frac{1}{\sqrt{d}})"};
  std::vector<OpRow> rows;
  add_row(rows, "matmul: two matrices", matmul, {2, 3}, {3, 4});
  add_row(rows, "matmul: two batches", matmul, {2, 2, 3}, {2, 3, 4});
  add_row(rows, "matmul: one matrix for all", matmul, {2, 3, 4}, {4, 5});
  add_row(rows, "matmul: one matrix for two axes of batches", matmul, {2, 1, 3, 2}, {2, 2});
  add_row(rows, "matmul: batches repeat", matmul, {2, 1, 3, 4}, {5, 4, 2});
  add_row(rows, "matmul: the left one repeats", matmul, {3, 4}, {2, 4, 5});
  add_row(rows, "matmul: scaled", matmul, {2, 3}, {3, 4}, c);
  add_row(rows, "matmul: scaled and shared", matmul, {3, 2, 4}, {4, 3}, c);
  add_row(rows, "matmul_nt: two matrices", matmul_nt, {2, 3}, {4, 3});
  add_row(rows, "matmul_nt: two batches", matmul_nt, {2, 2, 3}, {2, 4, 3}, c);
  add_row(rows, "matmul_nt: one matrix for all", matmul_nt, {2, 3, 4}, {5, 4}, c);
  add_row(rows, "matmul_nt: batches repeat", matmul_nt, {2, 1, 3, 4}, {5, 2, 4});
  add_row(rows, "matmul_tn: two matrices", matmul_tn, {3, 2}, {3, 4});
  add_row(rows, "matmul_tn: two batches", matmul_tn, {2, 3, 2}, {2, 3, 4}, c);
  add_row(rows, "matmul_tn: the right one repeats", matmul_tn, {2, 4, 3}, {4, 5});
  add_row(rows, "matmul_tn: batches repeat", matmul_tn, {2, 1, 4, 3}, {5, 4, 2}, c);
  rows.push_back(
      {"matmul: one Var as both", [](Vars x) { return matmul(x[0], x[0]); }, {mixed({3, 3}, 70)}});
  rows.push_back({"matmul_nt: one Var as both", [](Vars x) { return matmul_nt(x[0], x[0]); },
      {mixed({2, 2, 3}, 71)}});
  rows.push_back({"matmul: of a permuted view",
      [](Vars x) { return matmul(permute(x[0], {1, 0, 2}), transpose(x[1])); },
      {mixed({2, 3, 4}, 72), mixed({5, 4}, 73)}});

  rows.push_back({"softmax: rows", [](Vars x) { return softmax(x[0]); }, {mixed({2, 3}, 74)}});
  rows.push_back({"softmax: the middle axis", [](Vars x) { return softmax(x[0], {.axis = 1}); },
      {mixed({2, 3, 4}, 75)}});
  rows.push_back({"softmax: the first axis of a view",
      [](Vars x) { return softmax(transpose(x[0]), {.axis = 0}); }, {mixed({2, 3}, 76)}});
  rows.push_back({"softmax: with a mask",
      [](Vars x) { return softmax(x[0], {.mask = Tensor::of({{0, -1, 0.5}}, x[0].dtype())}); },
      {mixed({2, 4, 3}, 77)}});
  rows.push_back(
      {"softmax: with a mask that is learned", [](Vars x) { return softmax(x[0], {.mask = x[1]}); },
          {mixed({2, 4, 3}, 78), mixed({4, 3}, 79)}});
  rows.push_back({"softmax: with a learned mask along the first axis",
      [](Vars x) { return softmax(x[0], {.axis = 0, .mask = x[1]}); },
      {mixed({4, 3}, 80), mixed({4, 3}, 81)}});
  rows.push_back(
      {"log_softmax: rows", [](Vars x) { return log_softmax(x[0]); }, {mixed({2, 3}, 82)}});
  rows.push_back({"log_softmax: the middle axis", [](Vars x) { return log_softmax(x[0], 1); },
      {mixed({2, 3, 4}, 83)}});
  return rows;
}

}  // namespace microtape::testing
