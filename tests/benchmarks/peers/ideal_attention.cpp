// Attention by hand: what benchmark_attention.cpp computes, without a tape.
//
// All buffers are there before. The projections to Q, K and V are one product, heads are read and
// written where they lie in [B, T, 3 E], and the scale rides on the products. MICROTAPE_NUM_THREADS
// share rows and heads; a product runs on one. Before a shape is measured its gradients are held
// against MicroTape's: the program ends with status 1 if they differ.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numeric>

#include <benchmark/benchmark.h>
#include <microtape/core/kernels/gemm.hpp>
#include <microtape/microtape.hpp>

#include "ideal_matrix.hpp"
#include "ideal_team.hpp"
#include "shapes.hpp"

using namespace microtape;
using namespace ideal;

namespace {

/// x, and the parameters as PyTorch packs them, those of Q, K and V one below the other.
struct Inputs {
  Tensor x;             // [B, T, E]
  Tensor w_in, b_in;    // [3 E, E], [3 E]
  Tensor w_out, b_out;  // [E, E], [E]
};

class Attention {
 public:
  Attention(const Inputs& inputs, Index heads, Index threads)
      : heads_(heads),
        length_(inputs.x.extent(1)),
        depth_(inputs.x.extent(2) / heads),
        scale_(1 / std::sqrt(static_cast<float>(depth_))),
        x_(hold(inputs.x)),
        w_in_(hold(inputs.w_in)),
        b_in_(hold(inputs.b_in)),
        w_out_(hold(inputs.w_out)),
        b_out_(hold(inputs.b_out)),
        loss_(make(threads, x_.columns)),
        scores_(make(threads * length_, length_)),
        team_(threads) {}

  /// Forward and backward. @return the loss, the sum of Y
  float step() {
    const Index n = x_.rows, all_heads = n / length_ * heads_;
    team_.run([&](Index i) {  // [Q, K, V] = X W_in^T + b_in
      const Range r = team_.part(n, i);
      project(x_.in_rows(r), w_in_, b_in_, qkv_.in_rows(r));
    });
    team_.run([&](Index i) {
      const Range r = team_.part(all_heads, i);
      for (Index head = r.first; head < r.last; ++head) attend(head);
    });
    team_.run([&](Index i) {  // Y = C W_out^T + b_out, dY = 1, dC = dY W_out
      const Range r = team_.part(n, i);
      project(c_.in_rows(r), w_out_, b_out_, y_.in_rows(r));
      sum_rows(y_.in_rows(r), loss_.row(i));
      std::fill_n(dy_.row(r.first), r.size() * dy_.ld, 1.f);
      multiply(1, dy_.in_rows(r), w_out_, 0, dc_.in_rows(r));
    });
    team_.run([&](Index i) {
      const Range r = team_.part(all_heads, i);
      for (Index head = r.first; head < r.last; ++head) pull(head, i);
    });
    team_.run([&](Index i) {  // dX = d[Q, K, V] W_in
      const Range r = team_.part(n, i);
      multiply(1, dqkv_.in_rows(r), w_in_, 0, dx_.in_rows(r));
      pull_parameters(team_.part(w_in_.rows, i), dqkv_, x_, dw_in_, db_in_);
      pull_parameters(team_.part(w_out_.rows, i), dy_, c_, dw_out_, db_out_);
    });
    return std::accumulate(loss_.data, loss_.data + loss_.rows * loss_.columns, 0.f);
  }

  /// The gradients of the last step, in the order of Inputs.
  std::vector<Matrix> gradients() const { return {dx_, dw_in_, db_in_, dw_out_, db_out_}; }

 private:
  /// Rows and columns of a head; part 0 of three is Q, 1 is K, 2 is V.
  Matrix at(const Matrix& x, Index head, Index part = 0) const {
    const Index row = head / heads_ * length_, column = (part * heads_ + head % heads_) * depth_;
    return x.in_rows({row, row + length_}).in_columns({column, column + depth_});
  }
  /// P of a head, or the scores of a thread.
  Matrix square(const Matrix& x, Index i) const {
    return x.in_rows({i * length_, (i + 1) * length_});
  }

  /// S = scale Q K^T, P = softmax(S), C = P V
  void attend(Index head) {
    const Matrix q = at(qkv_, head), k = at(qkv_, head, 1), v = at(qkv_, head, 2);
    const Matrix p = square(p_, head);
    multiply(scale_, q, k.transposed(), 0, p);
    for (Index i = 0; i < length_; ++i) softmax(p.row(i), length_);
    multiply(1, p, v, 0, at(c_, head));
  }

  /// dP = dC V^T, dS = P * (dP - rowsum(dP * P)), dQ = scale dS K, dK = scale dS^T Q, dV = P^T dC
  void pull(Index head, Index thread) {
    const Matrix q = at(qkv_, head), k = at(qkv_, head, 1), v = at(qkv_, head, 2);
    const Matrix dc = at(dc_, head), p = square(p_, head), ds = square(scores_, thread);
    multiply(1, p.transposed(), dc, 0, at(dqkv_, head, 2));
    multiply(1, dc, v.transposed(), 0, ds);
    for (Index i = 0; i < length_; ++i) softmax_pullback(ds.row(i), p.row(i), length_);
    multiply(scale_, ds, k, 0, at(dqkv_, head));
    multiply(scale_, ds.transposed(), q, 0, at(dqkv_, head, 1));
  }

  /// Some rows of dW = dY^T X, and of db, the sum of dY over its rows.
  static void pull_parameters(
      Range r, const Matrix& dy, const Matrix& x, const Matrix& dw, const Matrix& db) {
    multiply(1, dy.in_columns(r).transposed(), x, 0, dw.in_rows(r));
    sum_rows(dy.in_columns(r), db.data + r.first);
  }

  /// A copy of x as a matrix of its last axis.
  Matrix hold(Tensor x) {
    memory_.push_back(std::move(x));
    const Index columns = memory_.back().extent(-1);
    return {memory_.back().mutable_data<float>().data(), memory_.back().size() / columns, columns,
        columns};
  }
  Matrix make(Index rows, Index columns) { return hold(Tensor::zeros({rows, columns})); }
  Matrix make_like(const Matrix& x) { return make(x.rows, x.columns); }

  std::vector<Tensor> memory_;
  Index heads_, length_, depth_;
  float scale_;
  Matrix x_, w_in_, b_in_, w_out_, b_out_;
  Matrix qkv_ = make(x_.rows, 3 * x_.columns), dqkv_ = make_like(qkv_);
  Matrix p_ = make(x_.rows * heads_, length_);
  Matrix c_ = make_like(x_), dc_ = make_like(x_), y_ = make_like(x_), dy_ = make_like(x_);
  Matrix dx_ = make_like(x_), dw_in_ = make_like(w_in_), db_in_ = make_like(b_in_);
  Matrix dw_out_ = make_like(w_out_), db_out_ = make_like(b_out_);
  Matrix loss_, scores_;  // of each thread
  Team team_;
};

// --- the check, and the measurement --------------------------------------------------------------

/// What Attention::gradients() should be.
std::vector<Tensor> gradients_on_a_tape(const Inputs& inputs, Index heads) {
  MultiHeadAttention layer(inputs.x.extent(2), heads);
  layer.load_state_dict({{"in_proj_weight", inputs.w_in}, {"in_proj_bias", inputs.b_in},
      {"out_proj.weight", inputs.w_out}, {"out_proj.bias", inputs.b_out}});
  MicroTape tape(Keep::needed);
  const Var x = tape.leaf(inputs.x);
  const Gradients g = backward(sum(layer(x)));
  const std::vector<Parameter> p = layer.parameters();  // weight and bias of Q, K, V, out
  return {g[x].value(), concat({g[p[0]], g[p[2]], g[p[4]]}, 0).value(),
      concat({g[p[1]], g[p[3]], g[p[5]]}, 0).value(), g[p[6]].value(), g[p[7]].value()};
}

/// |a - b| / |b|
double relative_error(const float* a, const Tensor& b) {
  double difference = 0, norm = 0;
  for (const float value : b.contiguous().data<float>()) {
    difference += std::pow(*a++ - value, 2);
    norm += std::pow(value, 2);
  }
  return std::sqrt(difference / norm);
}

/// Ends the program if the gradients are not MicroTape's.
void check(const Attention& attention, const Inputs& inputs, Index heads) {
  const std::vector<Tensor> expected = gradients_on_a_tape(inputs, heads);
  const std::vector<Matrix> actual = attention.gradients();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = relative_error(actual[i].data, expected[i]);
    if (error <= 1e-4) continue;
    std::cerr << "ideal_attention: gradient " << i << " of x, W_in, b_in, W_out, b_out is off by "
              << error << '\n';
    std::exit(1);
  }
}

void attention(benchmark::State& state) {
  const kernels::SerialGemm serial;  // one BLAS thread a call
  const Index b = state.range(0), t = state.range(1), e = state.range(2), h = state.range(3);
  const double r = 1.5 / std::sqrt(static_cast<double>(e));
  const Inputs inputs{Tensor::randn({b, t, e}, 1), Tensor::uniform({3 * e, e}, -r, r, 2),
      Tensor::uniform({3 * e}, -r, r, 3), Tensor::uniform({e, e}, -r, r, 4),
      Tensor::uniform({e}, -r, r, 5)};
  Attention attention(inputs, h, num_threads());
  attention.step();
  check(attention, inputs, h);
  for (auto _ : state) benchmark::DoNotOptimize(attention.step());
}
BENCHMARK(attention)->Apply(attention_shapes);

}  // namespace
