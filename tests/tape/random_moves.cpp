// The kinds of steps of a random graph that move numbers or choose among them.

#include <algorithm>

#include "tape/random_graph.hpp"

namespace microtape::testing {

std::vector<StepKind> shape_step_kinds();
std::vector<StepKind> choice_step_kinds();

namespace {

Index axis_of(Dice& dice, const Var& x) { return dice.below(2 * x.rank()) - x.rank(); }

/// The axes in some order.
Indices order_of(Dice& dice, Index rank) {
  Indices order;
  for (Index axis = 0; axis < rank; ++axis) order.push_back(axis);
  for (Index i = rank - 1; i > 0; --i)
    std::swap(
        order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(dice.below(i + 1))]);
  return order;
}

Apply some_slice(Dice& dice, Vars like) {
  const Index axis = axis_of(dice, like[0]), start = dice.below(like[0].shape()[axis]);
  const Index stop = start + 1 + dice.below(like[0].shape()[axis] - start);
  return [=](Vars x) { return slice(x[0], axis, start, stop); };
}
Apply some_unslice(Dice& dice, Vars like) {
  const Index axis = axis_of(dice, like[0]), start = dice.below(2);
  const Index extent = start + like[0].shape()[axis] + dice.below(2);
  return [=](Vars x) { return unslice(x[0], axis, start, extent); };
}
Apply first_last(Dice& dice, Vars like) {
  const Index axis = axis_of(dice, like[0]), n = like[0].shape()[axis];
  return [=](Vars x) {
    const std::vector<Var> parts = split(x[0], n, axis);
    return parts.front() * parts.back();
  };
}
/// A leading axis more, and extents of 1 repeated.
Apply some_broadcast(Dice& dice, Vars like) {
  Indices extents{1 + dice.below(2)};
  for (const Index extent : like[0].shape())
    extents.push_back(extent == 1 ? 1 + dice.below(3) : extent);
  return [to = Shape(extents)](Vars x) { return broadcast_to(x[0], to); };
}
Apply some_sum_to(Dice& dice, Vars like) {
  Indices extents;
  for (const Index extent : like[0].shape()) extents.push_back(dice.coin() ? extent : 1);
  return [to = Shape(extents)](Vars x) { return sum_to(x[0], to); };
}
Apply some_gather(Dice& dice, Vars like) {
  const Index axis = axis_of(dice, like[0]), n = like[0].shape()[axis];
  const Tensor index = dice.indices(like[0].shape().with(axis, 1 + dice.below(3)), n);
  return [=](Vars x) { return gather(x[0], axis, index); };
}
Apply some_scatter(Dice& dice, Vars like) {
  const Index axis = axis_of(dice, like[0]), n = like[0].shape()[axis];
  const Tensor index = dice.indices(like[1].shape(), n);
  return [=](Vars x) { return scatter_add(x[0], axis, index, x[1]); };
}
Apply the_largest(Dice& dice, Vars like) {
  const Index axis = axis_of(dice, like[0]);
  return [=](Vars x) { return gather(x[0], axis, unsqueeze(argmax(x[0], axis), axis)); };
}
/// The last axis with 0 wherever the largest is not.
Apply only_the_largest(Dice&, Vars like) {
  const Index classes = like[0].shape()[-1];
  return [=](Vars x) { return x[0] * one_hot(argmax(x[0]), classes, float64); };
}

}  // namespace

std::vector<StepKind> shape_step_kinds() {
  return {{1, some_slice}, {1, some_unslice}, {1, first_last}, {1, some_broadcast},
      {1, some_sum_to},
      {1, [](Dice&, Vars) -> Apply { return [](Vars x) { return reshape(x[0], {-1}); }; }},
      {1, [](Dice&, Vars) -> Apply { return [](Vars x) { return reshape(x[0], {-1, 2}); }; }},
      {1,
          [](Dice& dice, Vars like) -> Apply {
            return
                [order = order_of(dice, like[0].rank())](Vars x) { return permute(x[0], order); };
          }},
      {1,
          [](Dice& dice, Vars like) -> Apply {
            return [axis = axis_of(dice, like[0])](Vars x) { return squeeze(x[0], axis); };
          }},
      {1,
          [](Dice& dice, Vars like) -> Apply {
            return
                [axis = dice.below(like[0].rank() + 1)](Vars x) { return unsqueeze(x[0], axis); };
          }},
      {2,
          [](Dice& dice, Vars like) -> Apply {
            return [axis = axis_of(dice, like[0])](Vars x) { return concat(x, axis); };
          }},
      {2, [](Dice& dice, Vars like) -> Apply {
         return [axis = dice.below(like[0].rank() + 1)](Vars x) { return stack(x, axis); };
       }}};
}

std::vector<StepKind> choice_step_kinds() {
  return {{1, some_gather}, {2, some_scatter}, {1, the_largest, true}, {1, only_the_largest, true},
      {1,
          [](Dice& dice, Vars like) -> Apply {
            const Index n = like[0].shape()[0];
            return [rows = dice.indices({2}, n)](Vars x) { return embedding(x[0], rows); };
          }},
      {2,
          [](Dice&, Vars) -> Apply {
            return [](Vars x) { return where(greater(x[0], x[1]), x[0], square(x[1])); };
          },
          true},
      {2,
          [](Dice&, Vars) -> Apply {
            return [](Vars x) { return where(equal(x[0], x[1]), x[0], x[1]); };
          },
          true},
      {2,
          [](Dice& dice, Vars like) -> Apply {
            return [mask = dice.indices(like[0].shape(), 2)](
                       Vars x) { return where(mask, x[0], x[1]); };
          }},
      {1,
          [](Dice& dice, Vars like) -> Apply {
            return [mask = dice.indices(like[0].shape(), 2)](
                       Vars x) { return masked_fill(x[0], mask, 0.5); };
          }},
      {1,
          [](Dice& dice, Vars) -> Apply {
            return [d = dice.below(3) - 1](Vars x) { return tril(x[0], d); };
          }},
      {1, [](Dice& dice, Vars) -> Apply {
         return [d = dice.below(3) - 1](Vars x) { return triu(x[0], d); };
       }}};
}

}  // namespace microtape::testing
