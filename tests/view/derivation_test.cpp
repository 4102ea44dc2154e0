// What a derivation says, to the letter; every line is evaluated too.

#include <microtape/tape/view/derivation.hpp>

#include <cmath>

#include <microtape/layers/attention.hpp>
#include <microtape/layers/linear.hpp>
#include <microtape/tape/ops.hpp>

#include "view/derivation_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

constexpr DerivationOptions kLiteral{.form = DerivationForm::literal};
constexpr DerivationOptions kUnfolded{.scopes = ScopeLines::unfolded};

/// 1 / sqrt(d) for d = 6.
const Scale kByWidth{1 / std::sqrt(6.0), R"(\frac{1}{\sqrt{d}})"};

/// Queries, keys and values of a head: 4 queries and 5 keys of width 6.
struct Head {
  Var q, k, v;
  explicit Head(MicroTape& tape, const Indices& batch = {})
      : q(tape.leaf(normal(with(batch, 4, 6), 1), "Q")),
        k(tape.leaf(normal(with(batch, 5, 6), 2), "K")),
        v(tape.leaf(normal(with(batch, 5, 3), 3), "V")) {}
  static Shape with(Indices batch, Index rows, Index columns) {
    batch.push_back(rows);
    batch.push_back(columns);
    return Shape(batch);
  }
};

/// C = softmax(S) V.
Var attend(const Var& s, const Var& v) {
  return matmul(softmax(s.named("S")).named("P"), v).named("C");
}

const std::string kOneHead = R"(S = Q K^T / sqrt(d)
P = softmax(S)
C = P V
given dC:
dP = dC V^T
dV = P^T dC
dS = P * (dP - rowsum(dP * P))
dQ = dS K / sqrt(d)
dK = dS^T Q / sqrt(d)
)";

}  // namespace

TEST_CASE("the derivation of one head is the textbook's") {
  MicroTape tape;
  const Head head(tape);
  CHECK(derived(tape, attend(matmul_nt(head.q, head.k, kByWidth), head.v)) == kOneHead);
}

TEST_CASE("a batch of heads has the same derivation as one") {
  MicroTape tape;
  const Head head(tape, {2, 3});
  CHECK(derived(tape, attend(matmul_nt(head.q, head.k, kByWidth), head.v)) == kOneHead);
}

TEST_CASE("the derivation is the textbook's wherever the transpose and the scale stand") {
  const auto matmul_form = [](const Head& h) { return matmul(h.q, transpose(h.k), kByWidth); };
  const auto scaled_after = [](const Head& h) {
    return scale(matmul(h.q, transpose(h.k)), kByWidth);
  };
  const auto scaled_q = [](const Head& h) { return matmul_nt(scale(h.q, kByWidth), h.k); };
  const auto scaled_k = [](const Head& h) { return matmul(h.q, scale(transpose(h.k), kByWidth)); };
  const auto negated = [](const Head& h) { return -matmul_nt(-h.q, h.k, kByWidth); };
  const auto check = [](auto scores) {
    MicroTape tape;
    const Head head(tape);
    CHECK(derived(tape, attend(scores(head), head.v)) == kOneHead);
  };
  check(matmul_form);
  check(scaled_after);
  check(scaled_q);
  check(scaled_k);
  check(negated);
}

TEST_CASE("the literal form says what the ops recorded") {
  MicroTape tape;
  const Head head(tape);
  const Var c = attend(scale(matmul(head.q, transpose(head.k)), kByWidth), head.v);
  CHECK(derived(tape, c, kLiteral) == R"(S = Q K^T / sqrt(d)
P = softmax(S)
C = P V
given dC:
dP = dC V^T
dV = P^T dC
dS = P * (dP - rowsum(dP * P))
dQ = dS (K^T)^T / sqrt(d)
dK = (Q^T (dS / sqrt(d)))^T
)");
}

TEST_CASE("adjoints that one equation completes come in the order of its inputs") {
  MicroTape tape;
  const Head head(tape);
  const std::string swapped =
      derived(tape, attend(transpose(matmul_nt(head.k, head.q, kByWidth)), head.v));
  CHECK(swapped.starts_with("S = Q K^T / sqrt(d)\n"));
  CHECK(swapped.ends_with("dK = dS^T Q / sqrt(d)\ndQ = dS K / sqrt(d)\n"));
}

TEST_CASE("a mask is a term of the softmax, and its adjoint a sum over the batch") {
  MicroTape tape;
  const Head head(tape, {2});
  const Var m = tape.leaf(normal({4, 5}, 4), "M");
  const Var s = matmul_nt(head.q, head.k, kByWidth).named("S");
  const Var c = matmul(softmax(s + m).named("P"), head.v).named("C");
  CHECK(derived(tape, c) == R"(S = Q K^T / sqrt(d)
P = softmax(S + M)
C = P V
given dC:
dP = dC V^T
dV = P^T dC
dS = P * (dP - rowsum(dP * P))
dM = sum[axis 0](P * (dP - rowsum(dP * P)))
dQ = dS K / sqrt(d)
dK = dS^T Q / sqrt(d)
)");
}

TEST_CASE("a constant mask is named and has no adjoint, also inside of softmax") {
  MicroTape tape;
  const Head head(tape, {2});
  const Var m = tape.constant(normal({4, 5}, 4), "M");
  const Var s = matmul_nt(head.q, head.k, kByWidth).named("S");
  const Var c = matmul(softmax(s, {.mask = m}).named("P"), head.v).named("C");
  std::string expected = kOneHead;
  expected.replace(expected.find("softmax(S)"), 10, "softmax(S + M)");
  CHECK(derived(tape, c) == expected);
}

TEST_CASE("dropout is a factor that goes with P both ways") {
  MicroTape tape;
  const Head head(tape);
  const Var s = matmul_nt(head.q, head.k, kByWidth).named("S");
  const Var c = matmul(dropout(softmax(s).named("P"), 0.3, 5), head.v).named("C");
  CHECK(derived(tape, c) == R"(S = Q K^T / sqrt(d)
P = softmax(S)
C = (Z * P) V
given dC:
dP = (dC V^T) * Z
dV = (Z * P)^T dC
dS = P * (dP - rowsum(dP * P))
dQ = dS K / sqrt(d)
dK = dS^T Q / sqrt(d)
)");
}

TEST_CASE("the adjoint of a shared input is the sum of its three contributions") {
  MicroTape tape;
  const Var x = tape.leaf(normal({4, 6}, 1), "X");
  CHECK(derived(tape, attend(matmul_nt(x, x, kByWidth), x)) == R"(S = X X^T / sqrt(d)
P = softmax(S)
C = P X
given dC:
dP = dC X^T
dS = P * (dP - rowsum(dP * P))
dX = P^T dC + dS X / sqrt(d) + dS^T X / sqrt(d)
)");
}

TEST_CASE("whole self-attention fits on a slide") {
  MicroTape tape;
  MultiHeadAttention attention(8, 2, 0, false, {.dtype = float64, .seed = 1});
  const Var y = attention(tape.leaf(normal({2, 3, 8}, 1), "X"));
  CHECK(derived(tape, y) == R"(Q = heads(X W_Q^T + b_Q)
K = heads(X W_K^T + b_K)
V = heads(X W_V^T + b_V)
S = Q K^T / sqrt(d)
P = softmax(S)
C = P V
Y = merge(C) W_O^T + b_O
given dY:
dC = heads(dY W_O)
dW_O = dY^T merge(C)
db_O = sum[axes 0, 1](dY)
dP = dC V^T
dV = P^T dC
dS = P * (dP - rowsum(dP * P))
dQ = dS K / sqrt(d)
dK = dS^T Q / sqrt(d)
dW_V = merge(dV)^T X
db_V = sum[axes 0, 1](merge(dV))
dW_K = merge(dK)^T X
db_K = sum[axes 0, 1](merge(dK))
dX = merge(dV) W_V + merge(dK) W_K + merge(dQ) W_Q
dW_Q = merge(dQ)^T X
db_Q = sum[axes 0, 1](merge(dQ))
)");
}

TEST_CASE("whole cross-attention, causal and with dropout") {
  MicroTape tape;
  MultiHeadAttention attention(8, 2, 0.2, true, {.dtype = float64, .seed = 1});
  const Var q = tape.leaf(normal({2, 3, 8}, 1), "X_q");
  const Var k = tape.leaf(normal({2, 3, 8}, 2), "X_k"), v = tape.leaf(normal({2, 3, 8}, 3), "X_v");
  CHECK(derived(tape, attention(q, k, v)) == R"(Q = heads(X_q W_Q^T + b_Q)
K = heads(X_k W_K^T + b_K)
V = heads(X_v W_V^T + b_V)
S = Q K^T / sqrt(d)
P = softmax(S + M)
P_drop = Z * P
C = P_drop V
Y = merge(C) W_O^T + b_O
given dY:
dC = heads(dY W_O)
dW_O = dY^T merge(C)
db_O = sum[axes 0, 1](dY)
dP_drop = dC V^T
dV = P_drop^T dC
dP = dP_drop * Z
dS = P * (dP - rowsum(dP * P))
dQ = dS K / sqrt(d)
dK = dS^T Q / sqrt(d)
dX_v = merge(dV) W_V
dW_V = merge(dV)^T X_v
db_V = sum[axes 0, 1](merge(dV))
dX_k = merge(dK) W_K
dW_K = merge(dK)^T X_k
db_K = sum[axes 0, 1](merge(dK))
dX_q = merge(dQ) W_Q
dW_Q = merge(dQ)^T X_q
db_Q = sum[axes 0, 1](merge(dQ))
)");
}

TEST_CASE("an unfolded scope shows the ops inside, forward and backward") {
  MicroTape tape;
  MultiHeadAttention attention(8, 2, 0, false, {.dtype = float64, .seed = 1});
  const Var y = attention(tape.leaf(normal({2, 3, 8}, 1), "X"));
  const std::string unfolded = derived(tape, y, kUnfolded);
  CHECK(unfolded.find("heads") == std::string::npos);
  CHECK(unfolded.starts_with("Q = permute[0, 2, 1, 3](reshape(X W_Q^T + b_Q))\n"));
  CHECK(unfolded.find("\ndC = permute[0, 2, 1, 3](reshape(dY W_O))\n") != std::string::npos);
}

TEST_CASE("a linear layer sums over all rows for its weight and its bias") {
  MicroTape tape;
  Linear linear(5, 3, {.dtype = float64, .seed = 1});
  const Var x = tape.leaf(normal({2, 4, 5}, 1), "X");
  CHECK(derived(tape, linear(x).named("Y")) == R"(Y = X W^T + b
given dY:
dX = dY W
dW = dY^T X
db = sum[axes 0, 1](dY)
)");
}

TEST_CASE("cross entropy ends in the famous difference") {
  MicroTape tape;
  const Var x = tape.leaf(normal({4, 5}, 1), "X");
  const Var labels = tape.constant(i64({0, 2, 1, 4}), "t");
  CHECK(derived(tape, cross_entropy(x, labels).named("L")) ==
        R"(L = -sum(onehot[5](t) * logsoftmax(X)) / 4
given dL = 1:
dX = dL * (softmax(X) - onehot[5](t)) / 4
)");
}

TEST_CASE("rows that cross entropy ignores have no share in its derivation") {
  MicroTape tape;
  const Var x = tape.leaf(normal({3, 5}, 1), "X");
  const Var labels = tape.constant(i64({0, -100, 1}), "t");
  CHECK(derived(tape, cross_entropy(x, labels).named("L")) ==
        R"(L = -sum(onehot[5](t) * logsoftmax(X)) / 2
given dL = 1:
dX = dL * (rowsum(onehot[5](t)) * softmax(X) - onehot[5](t)) / 2
)");
}

TEST_CASE("scalars and signs stand outside of a long chain") {
  MicroTape tape;
  const Var x = tape.constant(normal({4, 5}, 1), "X"), t = tape.constant(normal({4, 3}, 2), "T");
  const Var w = tape.leaf(normal({3, 5}, 3), "W"), b = tape.leaf(normal({3}, 4), "b");
  const Var loss = mean(square(matmul_nt(x, w) + b - t)).named("L");
  CHECK(derived(tape, loss) == R"(L = mean((X W^T + b - T)^2)
given dL = 1:
dW = 2 dL * ((X W^T + b - T)^T X) / 12
db = 2 dL * sum[axis 0](X W^T + b - T) / 12
)");
  CHECK(derived(tape, loss, kLiteral) == R"(L = mean((X W^T + b - T)^2)
given dL = 1:
dW = (2 (dL / 12) * (X W^T + b - T))^T X
db = sum[axis 0](2 (dL / 12) * (X W^T + b - T))
)");
}
