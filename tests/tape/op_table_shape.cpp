#include "tape/op_table.hpp"

namespace microtape::testing {

std::vector<OpRow> shape_rows() {
  using Vars = std::span<const Var>;
  return {
      {"broadcast_to: new axes and old", [](Vars x) { return broadcast_to(x[0], {4, 2, 3}); },
          {mixed({2, 1}, 1)}},
      {"broadcast_to: a scalar", [](Vars x) { return broadcast_to(x[0], {2, 3}); }, {mixed({}, 2)}},
      {"sum_to: drops and keeps", [](Vars x) { return sum_to(x[0], {2, 1}); },
          {mixed({4, 2, 3}, 3)}},
      {"sum_to: a scalar", [](Vars x) { return sum_to(x[0], {}); }, {mixed({2, 3}, 4)}},
      {"reshape: one extent inferred", [](Vars x) { return reshape(x[0], {4, -1}); },
          {mixed({2, 3, 4}, 5)}},
      {"reshape: of a view that must be copied",
          [](Vars x) { return reshape(permute(x[0], {1, 0, 2}), {3, 8}); }, {mixed({2, 3, 4}, 6)}},
      {"permute: rolled", [](Vars x) { return permute(x[0], {2, 0, 1}); }, {mixed({2, 3, 4}, 7)}},
      {"permute: axes from the end", [](Vars x) { return permute(x[0], {-2, 0, -1, 1}); },
          {mixed({2, 3, 2, 4}, 8)}},
      {"transpose: a matrix", [](Vars x) { return transpose(x[0]); }, {mixed({2, 3}, 9)}},
      {"transpose: a batch", [](Vars x) { return transpose(x[0]); }, {mixed({2, 3, 4}, 10)}},
      {"slice: the middle axis", [](Vars x) { return slice(x[0], 1, 1, 3); },
          {mixed({2, 4, 3}, 11)}},
      {"slice: the last axis to its end", [](Vars x) { return slice(x[0], -1, 2, 3); },
          {mixed({2, 3}, 12)}},
      {"unslice: the middle axis", [](Vars x) { return unslice(x[0], 1, 2, 5); },
          {mixed({2, 2, 3}, 13)}},
      {"unslice: the last axis from its start", [](Vars x) { return unslice(x[0], -1, 0, 4); },
          {mixed({2, 3}, 14)}},
      {"concat: three parts of rows", [](Vars x) { return concat(x, 1); },
          {mixed({2, 3}, 15), mixed({2, 1}, 16), mixed({2, 2}, 17)}},
      {"concat: axis from the end", [](Vars x) { return concat(x, -3); },
          {mixed({2, 3, 2}, 18), mixed({1, 3, 2}, 19)}},
      {"concat: one Var twice", [](Vars x) { return concat({x[0], x[1], x[0]}, 0); },
          {mixed({2, 3}, 20), mixed({1, 3}, 21)}},
      {"stack: three, in front", [](Vars x) { return stack(x, 0); },
          {mixed({2, 3}, 22), mixed({2, 3}, 23), mixed({2, 3}, 24)}},
      {"stack: two, at the end", [](Vars x) { return stack(x, -1); },
          {mixed({2, 3}, 25), mixed({2, 3}, 26)}},
      {"stack: one Var twice, in the middle", [](Vars x) { return stack({x[0], x[0]}, 1); },
          {mixed({2, 3}, 27)}},
  };
}

}  // namespace microtape::testing
