#pragma once

// Softmax regression: its loss on a tape, and two ways to H V, the change of its gradient along a
// direction, that need no second derivative from a tape.

#include "heads.hpp"

namespace regression {

using closed_form::Matrix;
using microtape::float64;
using microtape::Index;
using microtape::MicroTape;
using microtape::Tensor;
using microtape::Var;

inline constexpr Index kRows = 6, kWidth = 4, kClasses = 3;

/// Softmax regression of six points.
struct Regression {
  Tensor X = Tensor::randn({kRows, kWidth}, 1, float64);
  Tensor W = Tensor::randn({kWidth, kClasses}, 2, float64);
  Tensor V = Tensor::randn({kWidth, kClasses}, 3, float64);  // a direction of W
  Tensor U = Tensor::randn({kWidth, kClasses}, 4, float64);  // another
  Tensor labels = Tensor::of({0, 2, 1, 1, 0, 2}, microtape::int64);

  Var loss(const Var& w) const {
    MicroTape& tape = *w.tape();
    const Var Z = matmul(tape.constant(X, "X"), w).named("Z");
    return cross_entropy(Z, tape.constant(labels, "labels")).named("loss");
  }
};

/// H V by plain loops: what flows through the softmax, between X and X^T.
//! [by hand]
inline Tensor by_hand(const Regression& r) {
  const Matrix X = heads::matrix(r.X, 0), V = heads::matrix(r.V, 0);
  const Matrix P = closed_form::softmax(closed_form::product(X, heads::matrix(r.W, 0)));
  const Matrix through = closed_form::through_softmax(P, closed_form::product(X, V));
  const Matrix HV = closed_form::product(closed_form::transposed(X), through, 1.0 / kRows);
  return Tensor::of(r.W.shape(), HV.numbers, float64);
}
//! [by hand]

/// dW(W + h V) - dW(W - h V) over 2 h.
inline Tensor by_difference(const Regression& r, double h) {
  const auto gradient_at = [&](double step) {
    MicroTape tape;
    const Var W = tape.leaf(add(r.W, scale(r.V, {step})).value());
    return backward(r.loss(W))[W].value();
  };
  return div(sub(gradient_at(h), gradient_at(-h)), 2 * h).value();
}

}  // namespace regression
