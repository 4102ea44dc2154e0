#pragma once

// Small tapes to look at, each a few nodes that one can follow by hand.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <microtape/microtape.hpp>

namespace example_tapes {

using microtape::MicroTape;
using microtape::Tensor;
using microtape::Var;

/// A tape, where its backward pass starts, and from which adjoint.
struct Example {
  std::unique_ptr<MicroTape> tape = std::make_unique<MicroTape>();
  Var y;
  Tensor seed;
};

inline Tensor numbers(const microtape::Nested& values) {
  return Tensor::of(values, microtape::float64);
}

/// One head of attention on two tokens, with the numbers of the board: P is 3/4 and 1/4.
inline Example attention() {
  Example e;
  const double ln3 = std::log(3.0);
  const Var Q = e.tape->leaf(numbers({{2, 0, 0, 0}, {0, 2, 0, 0}}), "Q");
  const Var K = e.tape->leaf(numbers({{ln3, 0, 0, 0}, {0, ln3, 0, 0}}), "K");
  const Var V = e.tape->leaf(numbers({{4, 0}, {0, 8}}), "V");
  const microtape::Scale by_width{1 / std::sqrt(4.0), R"(\frac{1}{\sqrt{d}})"};
  const Var S = matmul_nt(Q, K, by_width).named("S");
  const Var P = softmax(S).named("P");
  e.y = matmul(P, V).named("C");
  e.seed = numbers({{1, 1}, {1, 1}});
  return e;
}

/// y = x W^T + b and its mean squared error: where the sums in dW and db come from.
inline Example linear() {
  Example e;
  const Var x = e.tape->leaf(numbers({{1, 2}, {3, 4}, {5, 6}}), "x");
  const Var W = e.tape->leaf(numbers({{1, -1}, {0.5, 2}}), "W");
  const Var b = e.tape->leaf(numbers({0.5, -1}), "b");
  const Var target = e.tape->constant(numbers({{0, 4}, {-1, 8}, {0, 14}}), "t");
  const Var y = (matmul_nt(x, W) + b).named("y");
  e.y = mean(square(y - target)).named("L");
  e.seed = numbers(1);
  return e;
}

/// L = a b with a = x^2 and b = tanh x: x is used twice, so two contributions meet in dx.
inline Example diamond() {
  Example e;
  const Var x = e.tape->leaf(numbers(2), "x");
  const Var a = square(x).named("a");
  const Var b = tanh(x).named("b");
  e.y = (a * b).named("L");
  e.seed = numbers(1);
  return e;
}

/// softmax and cross-entropy by hand: dz is p minus the one-hot labels, over the number of rows.
inline Example softmax() {
  Example e;
  const Var z = e.tape->leaf(numbers({{2, 1, 0}, {0, 3, 0}}), "z");
  const Var t = e.tape->constant(numbers({{1, 0, 0}, {0, 0, 1}}), "t");
  const Var p = microtape::softmax(z).named("p");
  const Var picked = sum(t * log(p), 1).named("log p_t");
  e.y = (-mean(picked)).named("L");
  e.seed = numbers(1);
  return e;
}

}  // namespace example_tapes
