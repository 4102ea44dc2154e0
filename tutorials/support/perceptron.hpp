#pragma once

// A perceptron with one hidden layer: the network on a tape, and its gradients as one derives them
// by hand, by plain loops. The two share no code.

#include <cmath>
#include <string>
#include <vector>

#include <microtape/microtape.hpp>

#include "closed_form.hpp"
#include "show.hpp"

namespace perceptron {

using closed_form::Matrix;
using closed_form::product;
using closed_form::transposed;
using microtape::Comparison;
using microtape::Gradients;
using microtape::Index;
using microtape::Parameter;
using microtape::Tensor;
using microtape::Var;

/// L = relu(X W_1^T + b_1) W_2^T + b_2.
class Network {
 public:
  /// What it computes on the way.
  struct Values {
    Var Z, H, L;  // [n, hidden], [n, hidden], [n, classes]
  };

  Network(Index in, Index hidden, Index classes, std::uint64_t seed)
      : first(in, hidden,
            {.dtype = microtape::float64, .seed = microtape::split_seed(seed, 1), .symbol = "1"}),
        second(hidden, classes,
            {.dtype = microtape::float64, .seed = microtape::split_seed(seed, 2), .symbol = "2"}) {}

  //! [network]
  Values operator()(const Var& X) {
    const Var Z = first(X).named("Z");
    const Var H = microtape::relu(Z).named("H");
    const Var L = second(H).named("L");
    return {Z, H, L};
  }
  //! [network]

  std::vector<Parameter> parameters() const {
    return {first.weight(), first.bias(), second.weight(), second.bias()};
  }

  microtape::Linear first, second;
};

/// What the closed form says. Biases and their gradients are matrices of one row.
struct ClosedForm {
  double loss = 0;
  Matrix Z, H, L, P, dL, dW2, db2, dH, dZ, dW1, db1, dX;
};

/// A matrix, or a vector as a matrix of one row.
inline Matrix matrix(const Tensor& x) {
  const Tensor numbers = x.contiguous();
  Matrix m(x.rank() == 1 ? 1 : static_cast<std::size_t>(x.extent(0)),
      static_cast<std::size_t>(x.extent(-1)));
  const auto from = numbers.data<double>();
  std::copy(from.begin(), from.end(), m.numbers.begin());
  return m;
}

/// A W^T + b: the row b is added to each row.
inline Matrix affine(const Matrix& a, const Matrix& w, const Matrix& b) {
  Matrix y = product(a, transposed(w));
  for (std::size_t i = 0; i < y.rows; ++i)
    for (std::size_t j = 0; j < y.columns; ++j) y(i, j) += b(0, j);
  return y;
}

/// One row: the sum of each column.
inline Matrix column_sums(const Matrix& a) {
  Matrix sums(1, a.columns);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.columns; ++j) sums(0, j) += a(i, j);
  return sums;
}

/// A where Z > 0, else 0. With A = Z that is relu(Z), with A = dH what flows back through it.
inline Matrix where_positive(const Matrix& z, Matrix a) {
  for (std::size_t i = 0; i < a.numbers.size(); ++i)
    if (!(z.numbers[i] > 0)) a.numbers[i] = 0;
  return a;
}

/// @param X            [n, in]
/// @param labels       n of them, each 0 .. classes - 1
/// @param forget_relu  plant a classic mistake, dZ = dH
inline ClosedForm closed_form_of(const Network& network, const Tensor& X,
    const std::vector<std::size_t>& labels, bool forget_relu) {
  const Matrix x = matrix(X);
  const Matrix W1 = matrix(network.first.weight().value());
  const Matrix W2 = matrix(network.second.weight().value());
  //! [closed form]
  const Matrix Z = affine(x, W1, matrix(network.first.bias().value()));
  const Matrix H = where_positive(Z, Z);
  const Matrix L = affine(H, W2, matrix(network.second.bias().value()));
  const Matrix P = closed_form::softmax(L);

  double loss = 0;
  Matrix dL = P;
  const double n = static_cast<double>(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    loss -= std::log(P(i, labels[i])) / n;
    dL(i, labels[i]) -= 1;
  }
  for (double& number : dL.numbers) number /= n;
  const Matrix dH = product(dL, W2);
  const Matrix dZ = forget_relu ? dH : where_positive(Z, dH);
  return {loss, Z, H, L, P, dL, product(transposed(dL), H), column_sums(dL), dH, dZ,
      product(transposed(dZ), x), column_sums(dZ), product(dZ, W1)};
  //! [closed form]
}

/// The Vars of one pass through the network, with what a sweep found.
struct Recorded {
  const Network& network;
  Var X;
  Network::Values y;
  Var loss;
  const Gradients& d;
};

/// Each term of the chain: the tape's value and gradients against the closed form.
inline std::vector<Comparison> compare_chain(
    const ClosedForm& by_hand, const Recorded& tape, double tolerance) {
  std::vector<Comparison> rows;
  const auto row = [&](const char* name, const Var& x, const Matrix& expected) {
    rows.push_back(microtape::compare(
        name, x.value(), Tensor::of(x.shape(), expected.numbers, microtape::float64), tolerance));
  };
  const microtape::Linear &first = tape.network.first, &second = tape.network.second;
  row("Z    = X W_1^T + b_1", tape.y.Z, by_hand.Z);
  row("H    = max(Z, 0)", tape.y.H, by_hand.H);
  row("L    = H W_2^T + b_2", tape.y.L, by_hand.L);
  row("P    = softmax(L)", microtape::softmax(tape.y.L.value()), by_hand.P);
  rows.push_back(microtape::compare("loss = mean(-ln P)", tape.loss.value(),
      Tensor::of(by_hand.loss, microtape::float64), tolerance));
  row("dL   = (P - onehot)/n", tape.d[tape.y.L], by_hand.dL);
  row("dW_2 = dL^T H", tape.d[second.weight()], by_hand.dW2);
  row("db_2 = colsum(dL)", tape.d[second.bias()], by_hand.db2);
  row("dH   = dL W_2", tape.d[tape.y.H], by_hand.dH);
  row("dZ   = dH where Z > 0", tape.d[tape.y.Z], by_hand.dZ);
  row("dW_1 = dZ^T X", tape.d[first.weight()], by_hand.dW1);
  row("db_1 = colsum(dZ)", tape.d[first.bias()], by_hand.db1);
  row("dX   = dZ W_1", tape.d[tape.X], by_hand.dX);
  return rows;
}

/// What holds in any network of this kind: no closed form is needed to see that it does.
inline void check_invariants(const Recorded& r, show::Verdict& verdict) {
  const auto dot = [&](const Var& x, const Var& dx) { return microtape::sum(x * dx).item(); };
  const auto parameter = [&](const Parameter& p) { return dot(p.value(), r.d[p]); };
  const auto plain = [&](const Var& x) { return dot(x.value(), r.d[x].value()); };
  const double H = plain(r.y.H), Z = plain(r.y.Z);
  const double W2 = parameter(r.network.second.weight());
  const double first = parameter(r.network.first.weight()) + parameter(r.network.first.bias());
  const double row = microtape::max(microtape::abs(microtape::sum(r.d[r.y.L], {-1}))).item();
  verdict.zero("rowsum(dL) = 0: P sums to 1", row, 1e-12);
  verdict.zero("<W_2, dW_2> = <H, dH>", std::abs(W2 - H) / std::abs(H), 1e-11);
  verdict.zero("<H, dH> = <Z, dZ>: relu(c z) = c relu(z)", std::abs(H - Z) / std::abs(H), 1e-11);
  verdict.zero("<W_1, dW_1> + <b_1, db_1> = <Z, dZ>", std::abs(first - Z) / std::abs(H), 1e-11);
}

}  // namespace perceptron
