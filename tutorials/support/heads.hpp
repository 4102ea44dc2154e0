#pragma once

// The closed form of attention for every head of a tape, and the comparisons with it.

#include <string>
#include <vector>

#include "closed_form.hpp"
#include "show.hpp"

namespace heads {

using closed_form::Matrix;
using microtape::Comparison;
using microtape::Gradients;
using microtape::Index;
using microtape::MicroTape;
using microtape::Tensor;
using microtape::Var;

/// Values of one attention, [.., T, D] each: leading axes are batches and heads.
struct Attention {
  Tensor Q, K, V, mask, dC;  // mask [Tq, Tk], or no value
};

/// What the closed form says, each of the shape of its namesake on the tape.
struct Chain {
  Tensor S, P, C, dV, dP, dS, dQ, dK;
};

/// Matrix number `i` of those in the last two axes.
inline Matrix matrix(const Tensor& x, Index i) {
  const Tensor all = x.to(microtape::float64).contiguous();
  Matrix m(static_cast<std::size_t>(x.extent(-2)), static_cast<std::size_t>(x.extent(-1)));
  const double* first = all.data<double>().data() + i * static_cast<Index>(m.numbers.size());
  std::copy(first, first + m.numbers.size(), m.numbers.begin());
  return m;
}

/// Whether dS = P * (dP - rowsum(dP * P)), or the classic mistake dS = P * dP.
enum class RowSum { taken_off, forgotten };

inline Chain closed_form_chain(const Attention& a, RowSum row_sum) {
  const Index tq = a.Q.extent(-2), tk = a.K.extent(-2);
  const Index count = a.Q.size() / (tq * a.Q.extent(-1));
  std::vector<double> S, P, C, dV, dP, dS, dQ, dK;
  const auto append = [](std::vector<double>& to, const Matrix& m) {
    to.insert(to.end(), m.numbers.begin(), m.numbers.end());
  };
  for (Index i = 0; i < count; ++i) {
    const Matrix mask = a.mask.defined()
                            ? matrix(a.mask, 0)
                            : Matrix(static_cast<std::size_t>(tq), static_cast<std::size_t>(tk));
    closed_form::Head h =
        closed_form::head(matrix(a.Q, i), matrix(a.K, i), matrix(a.V, i), mask, matrix(a.dC, i));
    if (row_sum == RowSum::forgotten) {
      for (std::size_t j = 0; j < h.dS.numbers.size(); ++j)
        h.dS.numbers[j] = h.P.numbers[j] * h.dP.numbers[j];
      // What is made of dS inherits the mistake.
      const double scale = 1 / std::sqrt(static_cast<double>(a.Q.extent(-1)));
      h.dQ = closed_form::product(h.dS, matrix(a.K, i), scale);
      h.dK = closed_form::product(closed_form::transposed(h.dS), matrix(a.Q, i), scale);
    }
    append(S, h.S), append(P, h.P), append(C, h.C), append(dV, h.dV);
    append(dP, h.dP), append(dS, h.dS), append(dQ, h.dQ), append(dK, h.dK);
  }
  const microtape::Shape of_S = a.Q.shape().with(-1, tk);
  const auto tensor = [](const microtape::Shape& shape, const std::vector<double>& numbers) {
    return Tensor::of(shape, numbers, microtape::float64);
  };
  return {tensor(of_S, S), tensor(of_S, P), tensor(a.dC.shape(), C), tensor(a.V.shape(), dV),
      tensor(of_S, dP), tensor(of_S, dS), tensor(a.Q.shape(), dQ), tensor(a.K.shape(), dK)};
}

/// The Vars of one attention on a tape, with what a sweep found.
struct Recorded {
  Var Q, K, V, S, P, C;
  const Gradients& d;
};

/// Each term of the chain: the tape's value and gradients against the closed form.
inline std::vector<Comparison> compare_chain(
    const Chain& chain, const Recorded& tape, double tolerance) {
  std::vector<Comparison> rows;
  const auto row = [&](const char* name, const Var& x, const Tensor& expected) {
    rows.push_back(microtape::compare(name, x.value(), expected, tolerance));
  };
  row("S  = Q K^T / sqrt(d)", tape.S, chain.S);
  row("P  = softmax(S)", tape.P, chain.P);
  row("C  = P V", tape.C, chain.C);
  row("dV = P^T dC", tape.d[tape.V], chain.dV);
  row("dP = dC V^T", tape.d[tape.P], chain.dP);
  row("dS = P*(dP - rowsum)", tape.d[tape.S], chain.dS);
  row("dQ = dS K / sqrt(d)", tape.d[tape.Q], chain.dQ);
  row("dK = dS^T Q / sqrt(d)", tape.d[tape.K], chain.dK);
  return rows;
}

/// The largest entry of the sums over one axis, as a part of the largest entry of x.
inline double largest_sum(const Tensor& x, Index axis) {
  const auto largest = [](const Tensor& t) {
    double most = 0;
    const Tensor numbers = t.to(microtape::float64).contiguous();  // outlives the loop over it
    for (const double v : numbers.data<double>()) most = std::max(most, std::abs(v));
    return most;
  };
  const double scale = largest(x);
  return scale == 0 ? 0 : largest(microtape::sum(x, axis).value()) / scale;
}

/// What holds for any attention, with any mask: no closed form is needed to see that it does.
inline void check_invariants(const Recorded& t, double tolerance, show::Verdict& verdict) {
  using microtape::mul;
  using microtape::sub;
  const Tensor dC = t.d[t.C].value(), dP = t.d[t.P].value(), dS = t.d[t.S].value();
  const double allowed = 10 * tolerance;
  verdict.zero("rowsum(dS) = 0", largest_sum(dS, -1), allowed);
  const Tensor row_P = microtape::sum(mul(dP, t.P.value()), -1).value();
  const Tensor row_C = microtape::sum(mul(dC, t.C.value()), -1).value();
  verdict.zero("rowsum(dP * P) = rowsum(dC * C)",
      microtape::compare("", row_P, row_C, allowed).max_rel, allowed);
  const double q = microtape::sum(mul(t.Q.value(), t.d[t.Q].value())).item();
  const double k = microtape::sum(mul(t.K.value(), t.d[t.K].value())).item();
  const double size = std::sqrt(microtape::sum(mul(t.Q.value(), t.Q.value())).item() *
                                microtape::sum(mul(t.d[t.Q].value(), t.d[t.Q].value())).item());
  verdict.zero("<Q, dQ> = <K, dK>", size == 0 ? 0 : std::abs(q - k) / size, allowed);
  verdict.zero(
      "colsum(dK) = 0: a key bias learns nothing", largest_sum(t.d[t.K].value(), -2), allowed);
  const Tensor column_V = microtape::sum(t.d[t.V].value(), -2).value();
  const Tensor column_C = microtape::sum(dC, -2).value();
  verdict.zero("colsum(dV) = colsum(dC)",
      microtape::compare("", column_V, column_C, allowed).max_rel, allowed);
}

/// The node that was given this name. @throws microtape::ValueError if there is none
inline Var find(MicroTape& tape, const std::string& name) {
  for (microtape::NodeId id = 0; id < tape.size(); ++id)
    if (tape.node(id).name() == name) return tape.var(id);
  throw microtape::ValueError("find: the tape has no node named " + name);
}

/// The mask that was added to the scores; no value if there is none.
inline Tensor mask_of(const MicroTape& tape) {
  for (const microtape::Node& node : tape.nodes())
    if (node.name() == "M") return node.value();
  return {};
}

/// "q0", "q1", ..
inline std::vector<std::string> tokens(const std::string& letter, Index count) {
  std::vector<std::string> out;
  for (Index i = 0; i < count; ++i) out.push_back(letter + std::to_string(i));
  return out;
}

}  // namespace heads
