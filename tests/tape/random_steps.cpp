// The kinds of steps that a random graph is made of.

#include <iterator>

#include "tape/random_graph.hpp"

namespace microtape::testing {
namespace {

/// A step without arguments.
template <Var (*f)(const Var&)>
Apply unary(Dice&, Vars) {
  return [](Vars x) { return f(x[0]); };
}
/// The same at x^2 + 1, far from the pole or the end of the domain.
template <Var (*f)(const Var&)>
Apply positive(Dice&, Vars) {
  return [](Vars x) { return f(square(x[0]) + 1); };
}
/// The same times x, for what is constant between its jumps.
template <Var (*f)(const Var&)>
Apply times(Dice&, Vars) {
  return [](Vars x) { return f(x[0]) * x[0]; };
}
template <Var (*f)(const Var&, const Var&)>
Apply binary(Dice&, Vars) {
  return [](Vars x) { return f(x[0], x[1]); };
}
/// a op (b^2 + 1)
template <Var (*f)(const Var&, const Var&)>
Apply over(Dice&, Vars) {
  return [](Vars x) { return f(x[0], square(x[1]) + 1); };
}

/// An axis, counted from the front or from the back.
Index axis_of(Dice& dice, const Var& x) { return dice.below(2 * x.rank()) - x.rank(); }

/// Some of the axes; none of them means all.
Indices axes_of(Dice& dice, const Var& x) {
  Indices axes;
  for (Index axis = 0; axis < x.rank(); ++axis)
    if (dice.coin()) axes.push_back(axis);
  return axes;
}
KeepAxes keep_of(Dice& dice) { return dice.coin() ? KeepAxes::yes : KeepAxes::no; }

template <Var (*f)(const Var&, const Indices&, KeepAxes)>
Apply reduction(Dice& dice, Vars like) {
  return
      [axes = axes_of(dice, like[0]), keep = keep_of(dice)](Vars x) { return f(x[0], axes, keep); };
}
Apply variance(Dice& dice, Vars like) {
  return [axes = axes_of(dice, like[0]), keep = keep_of(dice)](
             Vars x) { return var(x[0], axes, keep); };
}
/// The norm is smooth away from 0: that of a slice with 1 added.
Apply norm_from_1(Dice& dice, Vars like) {
  return [axes = axes_of(dice, like[0]), keep = keep_of(dice)](
             Vars x) { return norm(square(x[0]) + 1, axes, keep); };
}

template <Var (*f)(const Var&, const Var&, const Scale&)>
Apply product(Dice& dice, Vars) {
  return [c = dice.real(-1, 1)](Vars x) { return f(x[0], x[1], {c}); };
}

/// Some extents 1, some leading axes gone.
Shape part_of(Dice& dice, const Shape& shape) {
  Indices extents;
  for (Index axis = dice.below(shape.rank() + 1); axis < shape.rank(); ++axis)
    extents.push_back(dice.coin() ? shape[axis] : 1);
  return Shape(extents);
}

std::vector<StepKind> function_kinds() {
  return {{1, unary<exp>}, {1, unary<expm1>}, {1, positive<log>}, {1, positive<log1p>},
      {1, positive<sqrt>}, {1, positive<rsqrt>}, {1, unary<square>}, {1, positive<reciprocal>},
      {1, unary<sin>}, {1, unary<cos>}, {1, unary<tanh>}, {1, unary<sigmoid>}, {1, unary<softplus>},
      {1, unary<erf>}, {1, unary<silu>}, {1, unary<neg>}, {1, unary<transpose>},
      {1, unary<abs>, true}, {1, unary<relu>, true}, {1, times<sign>, true}, {1, times<step>, true},
      {1, [](Dice& dice, Vars) -> Apply {
         return
             [form = dice.coin() ? Gelu::tanh : Gelu::exact](Vars x) { return gelu(x[0], form); };
       }}};
}

std::vector<StepKind> arithmetic_kinds() {
  return {{2, binary<add>}, {2, binary<sub>}, {2, binary<mul>}, {2, over<div>}, {2, over<ratio>},
      {2, binary<maximum>, true}, {2, binary<minimum>, true}, {2, binary<mse_loss>},
      {1,
          [](Dice& dice, Vars) -> Apply {
            return [c = dice.real(-2, 2)](Vars x) { return x[0] + c; };
          }},
      {1,
          [](Dice& dice, Vars) -> Apply {
            return [c = dice.real(-2, 2)](Vars x) { return c - x[0]; };
          }},
      {1,
          [](Dice& dice, Vars) -> Apply {
            return [c = dice.real(-2, 2)](Vars x) { return c * x[0]; };
          }},
      {1,
          [](Dice& dice, Vars) -> Apply {
            return [c = dice.real(1, 2)](Vars x) { return x[0] / c; };
          }},
      {1,
          [](Dice& dice, Vars) -> Apply {
            return [c = dice.real(1, 2)](Vars x) { return c / (square(x[0]) + 1); };
          }},
      {1,
          [](Dice& dice, Vars) -> Apply {
            return [n = static_cast<double>(2 + dice.below(2))](Vars x) { return pow(x[0], n); };
          }},
      {1,
          [](Dice& dice, Vars) -> Apply {
            return [n = dice.real(-2, 2)](Vars x) { return pow(square(x[0]) + 1, n); };
          }},
      {2, [](Dice&, Vars) -> Apply { return [](Vars x) { return pow(square(x[0]) + 1, x[1]); }; }},
      {1,
          [](Dice& dice, Vars) -> Apply {
            return [c = dice.real(0.5, 2)](Vars x) { return pow(c, x[0]); };
          }},
      {1, [](Dice&, Vars) -> Apply { return [](Vars x) { return clamp(x[0], -1, 1); }; }, true},
      {1,
          [](Dice& dice, Vars like) -> Apply {
            return [c = dice.tensor(part_of(dice, like[0].shape()))](Vars x) { return c * x[0]; };
          }},
      {1, [](Dice&, Vars) -> Apply { return [](Vars x) { return maximum(x[0], 0.0) - x[0]; }; },
          true}};
}

std::vector<StepKind> product_kinds() {
  return {{2, product<matmul>}, {2, product<matmul_nt>}, {2, product<matmul_tn>},
      {3, [](Dice& dice, Vars) -> Apply {
         return [causal = dice.coin()](Vars x) {
           return scaled_dot_product_attention(x[0], x[1], x[2], {.causal = causal});
         };
       }}};
}

std::vector<StepKind> row_kinds() {
  return {{1, reduction<sum>}, {1, reduction<mean>}, {1, reduction<max>, true},
      {1, reduction<min>, true}, {1, reduction<logsumexp>}, {1, variance}, {1, norm_from_1},
      {1,
          [](Dice& dice, Vars like) -> Apply {
            return
                [axis = axis_of(dice, like[0])](Vars x) { return softmax(x[0], {.axis = axis}); };
          }},
      {2,
          [](Dice& dice, Vars like) -> Apply {
            return [axis = axis_of(dice, like[0])](
                       Vars x) { return softmax(x[0], {.axis = axis, .mask = x[1]}); };
          }},
      {1,
          [](Dice& dice, Vars like) -> Apply {
            return [axis = axis_of(dice, like[0])](Vars x) { return log_softmax(x[0], axis); };
          }},
      {1, [](Dice&, Vars) -> Apply { return [](Vars x) { return standardize(x[0], 0.5); }; }},
      {3,
          [](Dice&, Vars) -> Apply {
            return [](Vars x) { return layer_norm(x[0], x[1], x[2], 0.5); };
          }},
      {1,
          [](Dice& dice, Vars like) -> Apply {
            return [labels = dice.indices(argmax(like[0]).shape(), like[0].shape()[-1])](
                       Vars x) { return cross_entropy(x[0], labels); };
          }},
      {1, [](Dice& dice, Vars) -> Apply {
         return [seed = static_cast<std::uint64_t>(dice.below(99))](
                    Vars x) { return dropout(x[0], 0.3, seed); };
       }}};
}

}  // namespace

std::vector<StepKind> shape_step_kinds();
std::vector<StepKind> choice_step_kinds();

std::vector<StepKind> step_kinds() {
  std::vector<StepKind> all;
  for (auto part : {function_kinds, arithmetic_kinds, product_kinds, row_kinds, shape_step_kinds,
           choice_step_kinds}) {
    std::vector<StepKind> kinds = part();
    std::move(kinds.begin(), kinds.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace microtape::testing
