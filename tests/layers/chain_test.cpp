#include <cmath>

#include "plain_layer.hpp"

// The chain of one head, as the textbook has it, against the adjoints on the tape:
// dV = P^T dC, dP = dC V^T, dS = P * (dP - rowsum(dP * P)), dQ = dS K / sqrt(d),
// dK = dS^T Q / sqrt(d).

using namespace microtape;
using namespace microtape::testing;

namespace {

/// One call of a layer with random numbers, on a tape that keeps everything.
struct Taped {
  explicit Taped(bool causal, bool has_mask, double dropout = 0)
      : layer(12, 3, dropout, causal, {.dtype = float64, .seed = 3}) {
    randomize(layer, 90);
    const Index keys = causal ? 4 : 5;
    query = tape.leaf(random({2, 4, 12}, 1));
    key = tape.leaf(random({2, keys, 12}, 2));
    value = tape.leaf(random({2, keys, 12}, 3));
    mask = has_mask ? random({4, keys}, 4) : Tensor::zeros({4, keys}, float64);
    if (has_mask) mask.mutable_data<double>()[1] = -1e9;
    const Var y = layer(query, key, value, has_mask ? Var(mask) : Var());
    gradients.push_back(backward(y, random(y.shape(), 5)));
    if (causal) mask = add(mask, future(4)).value();
  }

  Tensor value_of(const std::string& name) { return node_named(tape, name).value(); }
  Tensor adjoint_of(const std::string& name) {
    return gradients[0][node_named(tape, name)].value();
  }

  MicroTape tape;
  MultiHeadAttention layer;
  Var query, key, value;
  Tensor mask;
  std::vector<Gradients> gradients;  // one
};

/// Sums over the last axis, or over the one before it, with the axis kept.
Tensor rowsum(const Tensor& x) { return sum(x, -1, KeepAxes::yes).value(); }
Tensor colsum(const Tensor& x) { return sum(x, -2, KeepAxes::yes).value(); }
Tensor times(const Tensor& a, const Tensor& b) { return mul(a, b).value(); }

/// Whether x is rounding only, beside numbers of the size of `scale`.
bool is_zero_beside(const Tensor& x, const Tensor& scale) {
  return max(abs(x)).item() <= 1e-14 * max(abs(scale)).item();
}

}  // namespace

TEST_CASE("the tape's adjoints of S, P, C, Q, K, V are the closed-form chain, head by head") {
  const bool causal = GENERATE(false, true), has_mask = GENERATE(false, true);
  INFO("causal " << causal << ", mask " << has_mask);
  Taped t(causal, has_mask);
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 3; ++h) {
      const auto one = [&](const Tensor& x) { return part(x, {b, h}); };
      const plain::Head chain = plain::head(matrix_of(one(t.value_of("Q"))),
          matrix_of(one(t.value_of("K"))), matrix_of(one(t.value_of("V"))), matrix_of(t.mask),
          matrix_of(one(t.adjoint_of("C"))));
      const auto check = [&](const char* name, const Tensor& found, const plain::Matrix& expected) {
        CHECK(close(one(found), tensor_of(expected, one(found).shape()), 1e-12, name));
      };
      check("S", t.value_of("S"), chain.s);
      check("P", t.value_of("P"), chain.p);
      check("C", t.value_of("C"), chain.c);
      check("dP", t.adjoint_of("P"), chain.dp);
      check("dS", t.adjoint_of("S"), chain.ds);
      check("dQ", t.adjoint_of("Q"), chain.dq);
      check("dK", t.adjoint_of("K"), chain.dk);
      check("dV", t.adjoint_of("V"), chain.dv);
    }
}

TEST_CASE("the invariants of the chain hold with any mask, and with dropout on") {
  const bool causal = GENERATE(false, true), has_mask = GENERATE(false, true);
  const double dropout = GENERATE(0.0, 0.4);
  INFO("causal " << causal << ", mask " << has_mask << ", dropout " << dropout);
  Taped t(causal, has_mask, dropout);
  const Tensor p = t.value_of("P"), dp = t.adjoint_of("P"), ds = t.adjoint_of("S");
  const Tensor c = t.value_of("C"), dc = t.adjoint_of("C");
  const Tensor q = t.value_of("Q"), dq = t.adjoint_of("Q");
  const Tensor k = t.value_of("K"), dk = t.adjoint_of("K");

  CHECK(is_zero_beside(rowsum(ds), ds));
  CHECK(close(rowsum(times(dp, p)), rowsum(times(dc, c)), 1e-13));
  // <Q, dQ> = <K, dK> in every head.
  CHECK(close(colsum(rowsum(times(q, dq))), colsum(rowsum(times(k, dk))), 1e-13));
  // A constant added to every key moves whole rows of S, and softmax does not see that.
  CHECK(is_zero_beside(colsum(dk), dk));
  const TensorMap gradients = attention_gradients(t.layer, t.gradients[0]);
  CHECK(is_zero_beside(gradients.at("k_proj.bias"), gradients.at("q_proj.bias")));
  CHECK_FALSE(is_zero_beside(gradients.at("k_proj.weight"), gradients.at("q_proj.weight")));

  const bool sums_agree = static_cast<bool>(close(colsum(t.adjoint_of("V")), colsum(dc), 1e-13));
  CHECK(sums_agree == (dropout == 0));
}

TEST_CASE("the board example of attention gives 3/4, 1/4 and 3/8 ln 3") {
  const double ln3 = std::log(3.0);
  MicroTape tape;
  const Var q = tape.leaf(f64({{2, 0, 0, 0}, {0, 2, 0, 0}}));
  const Var k = tape.leaf(f64({{ln3, 0, 0, 0}, {0, ln3, 0, 0}}));
  const Var v = tape.leaf(f64({{4, 0}, {0, 8}}));
  const Var s = matmul_nt(q, k, Scale{1 / std::sqrt(4.0), R"(\frac{1}{\sqrt{d}})"});
  const Var p = softmax(s);
  const Var c = matmul(p, v);
  const Gradients d = backward(c, f64({{1, 1}, {1, 1}}));

  constexpr double kRounding = 1e-15;  // of ln 3, of e^x and of the quotient
  CHECK(close(p, f64({{0.75, 0.25}, {0.25, 0.75}}), kRounding));
  CHECK(close(c, f64({{3, 2}, {1, 6}}), kRounding));
  CHECK(is(d[p], {{4, 8}, {4, 8}}));
  CHECK(close(d[s], f64({{-0.75, 0.75}, {-0.75, 0.75}}), kRounding));
  CHECK(close(d[v], f64({{1, 1}, {1, 1}}), kRounding));
  const double g = 3.0 / 8 * ln3;
  CHECK(close(d[q], f64({{-g, g, 0, 0}, {-g, g, 0, 0}}), kRounding));
  CHECK(close(d[k], f64({{-0.75, -0.75, 0, 0}, {0.75, 0.75, 0, 0}}), kRounding));
}

TEST_CASE("one head without projections agrees with PyTorch, term by term") {
  const TensorMap file = reference("chain");
  MicroTape tape;
  const Var q = tape.leaf(file.at("Q")), k = tape.leaf(file.at("K")), v = tape.leaf(file.at("V"));
  const Var s = matmul_nt(q, k, Scale{1 / std::sqrt(6.0), R"(\frac{1}{\sqrt{d}})"});
  const Var p = softmax(s);
  const Var c = matmul(p, v);
  const Gradients d = backward(c, file.at("dC"));
  const std::pair<const char*, Var> all[] = {{"S", s}, {"P", p}, {"C", c}, {"dP", d[p]},
      {"dS", d[s]}, {"dQ", d[q]}, {"dK", d[k]}, {"dV", d[v]}};
  for (const auto& [name, found] : all) CHECK(close(found, file.at(name), 1e-14, name));
}
