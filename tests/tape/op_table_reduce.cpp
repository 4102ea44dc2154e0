#include "tape/op_table.hpp"

namespace microtape::testing {
namespace {

using Vars = std::span<const Var>;
using Reduce = Var (*)(const Var&, const Indices&, KeepAxes);

void add_rows(std::vector<OpRow>& rows, const std::string& op, Reduce f) {
  rows.push_back(
      {op + ": all axes", [f](Vars x) { return f(x[0], {}, KeepAxes::no); }, {apart({2, 3})}});
  rows.push_back({op + ": the last axis", [f](Vars x) { return f(x[0], -1, KeepAxes::no); },
      {apart({2, 3, 4})}});
  rows.push_back({op + ": the first axis of a view, kept",
      [f](Vars x) { return f(transpose(x[0]), 0, KeepAxes::yes); }, {apart({2, 3})}});
  rows.push_back({op + ": two axes, not in order",
      [f](Vars x) { return f(x[0], {2, 0}, KeepAxes::no); }, {apart({2, 3, 2})}});
  rows.push_back({op + ": two axes, kept", [f](Vars x) { return f(x[0], {0, -2}, KeepAxes::yes); },
      {apart({2, 3, 2})}});
  rows.push_back(
      {op + ": of a scalar", [f](Vars x) { return f(x[0], {}, KeepAxes::no); }, {apart({})}});
}

}  // namespace

std::vector<OpRow> reduce_rows() {
  std::vector<OpRow> rows;
  add_rows(rows, "sum", sum);
  add_rows(rows, "mean", mean);
  add_rows(rows, "max", max);
  add_rows(rows, "min", min);
  add_rows(rows, "norm", norm);
  add_rows(rows, "logsumexp", logsumexp);
  add_rows(rows, "var",
      [](const Var& x, const Indices& axes, KeepAxes keep) { return var(x, axes, keep); });
  rows.push_back({"var: of a population", [](Vars x) { return var(x[0], -1, KeepAxes::no, 1); },
      {mixed({2, 4}, 1)}});
  rows.push_back({"var: of a population, two axes kept",
      [](Vars x) { return var(x[0], {0, 2}, KeepAxes::yes, 1); }, {mixed({2, 3, 2}, 2)}});
  // No user writes max_share; max does, in its rule.
  rows.push_back(
      {"max_share: the rule of max", [](Vars x) { return max(x[0], 1); }, {apart({3, 4})}});
  rows.push_back({"max_share: the rule of max over all", [](Vars x) { return exp(max(x[0])); },
      {apart({3, 2})}});
  return rows;
}

}  // namespace microtape::testing
