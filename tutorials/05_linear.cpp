// Tutorial 05: the rules of a matrix product, and what it has to keep for them.
//
//     Y = X W^T + b      dX = G W      dW = G^T X      db = 1^T G
//
// Where the rules come from: a change D of X moves the loss by <G, D W^T> = <G W, D>; what stands
// beside D is the adjoint of X; for W in the same way. A shape can stand in only one place, so the
// shapes alone tell which factor is transposed. The rule of X needs W, that of W needs X: both must
// be kept until the sweep comes back.
//
// Try this: take exp for tanh. The same 64 bytes are kept, for exp is its own slope. With sin none
// of the nodes keeps a value: the rule takes what sin took, and holds on to that itself.

#include "support/tutorial.hpp"

using namespace microtape;

namespace {

constexpr Index kRows = 4, kIn = 3, kOut = 2;

/// sum over the rows i of G_ik X_ij, and so on: the closed form by loops over plain numbers.
struct ClosedForm {
  Tensor Y, dX, dW, db;

  ClosedForm(const Tensor& X, const Tensor& W, const Tensor& b, const Tensor& G)
      : Y(zeros({kRows, kOut})),
        dX(zeros({kRows, kIn})),
        dW(zeros({kOut, kIn})),
        db(zeros({kOut})) {
    //! [by hand]
    for (Index i = 0; i < kRows; ++i)
      for (Index k = 0; k < kOut; ++k) {
        add(Y, {i, k}, b.at({k}));
        add(db, {k}, G.at({i, k}));
        for (Index j = 0; j < kIn; ++j) {
          add(Y, {i, k}, X.at({i, j}) * W.at({k, j}));
          add(dX, {i, j}, G.at({i, k}) * W.at({k, j}));
          add(dW, {k, j}, G.at({i, k}) * X.at({i, j}));
        }
      }
    //! [by hand]
  }

 private:
  static Tensor zeros(const Shape& shape) { return Tensor::zeros(shape, float64); }
  static void add(Tensor& to, const Indices& at, double number) {
    Index place = 0;
    for (Index axis = 0; axis < to.rank(); ++axis)
      place += at[static_cast<std::size_t>(axis)] * to.stride(axis);
    to.mutable_data<double>()[static_cast<std::size_t>(place)] += number;
  }
};

//! [kept]
/// Bytes of the values that a tape keeps, but those of leaves, which the caller has anyway.
Index kept_bytes(const MicroTape& tape) {
  Index bytes = 0;
  for (const Node& node : tape.nodes())
    if (node.kind() == NodeKind::op && node.has_value() && node.value().is_contiguous())
      bytes += node.value().size() * 8;
  return bytes;
}
//! [kept]

/// How many bytes a tape keeps for X W^T + b, and of tanh of it.
void saved_values(const Tensor& X, const Tensor& W, const Tensor& b, show::Verdict& verdict) {
  show::heading("2. What is kept");
  std::printf("%-22s %-18s %s\n", "", "Keep::everything", "Keep::needed");
  Index bytes[2][2];
  for (const bool with_tanh : {false, true}) {
    for (const Keep keep : {Keep::everything, Keep::needed}) {
      MicroTape tape(keep);
      const Var x = tape.leaf(X), w = tape.leaf(W), bias = tape.leaf(b);
      const Var y = matmul_nt(x, w) + bias;
      if (with_tanh) tanh(y);
      bytes[with_tanh][keep == Keep::needed] = kept_bytes(tape);
    }
    std::printf("%-22s %3td bytes          %3td bytes\n",
        with_tanh ? "tanh(X W^T + b)" : "X W^T + b", bytes[with_tanh][0], bytes[with_tanh][1]);
  }
  const Index one = kRows * kOut * 8;  // of one [rows, out]
  std::printf(
      "\nThe rules of the product and of the sum take nothing that they computed: a tape\n"
      "for training forgets it. The rule of tanh, G * (1 - Y^2), takes its result.\n\n");
  verdict.add("a tape to look at keeps the product and the sum", bytes[0][0] == 2 * one);
  verdict.add("a tape for training keeps neither", bytes[0][1] == 0);
  verdict.add("it keeps the result of tanh, whose rule takes it", bytes[1][1] == one);
}

void rules(const std::string& out, const Tensor& data, const Tensor& weight, const Tensor& bias,
    show::Verdict& verdict) {
  show::heading("1. The rules");
  const Tensor G = Tensor::uniform({kRows, kOut}, -1, 1, 4, float64);
  MicroTape tape;
  //! [linear]
  const Var X = tape.leaf(data, "X"), W = tape.leaf(weight, "W"), b = tape.leaf(bias, "b");
  const Var Z = matmul_nt(X, W).named("Z");
  const Var Y = (Z + b).named("Y");
  //! [linear]
  Sweep sweep(Y, G);
  while (!sweep.done()) sweep.advance();
  const Gradients d = sweep.gradients();
  std::printf(
      "What the tape recorded, and what flows back:\n\n%s\n", to_text(derivation(tape, Y)).c_str());
  std::printf(
      "X is [%td, %td], W [%td, %td], dY [%td, %td]: no other products of two of them\n"
      "have the shapes of X and of W.\n\n",
      kRows, kIn, kOut, kIn, kRows, kOut);

  const ClosedForm by_hand(data, weight, bias, G);
  verdict.add({compare("Y  = X W^T + b", Y.value(), by_hand.Y, 1e-14),
      compare("dX = G W", d[X].value(), by_hand.dX, 1e-14),
      compare("dW = G^T X", d[W].value(), by_hand.dW, 1e-14),
      compare("db = 1^T G", d[b].value(), by_hand.db, 1e-14)});
  views::write(out, "linear", tape, sweep, Y, {.seed = G});
}

}  // namespace

int main(int argc, char** argv) {
  return tutorial::run(argc, argv, "05_linear", "The rules of a matrix product, and what it keeps.",
      [](const std::string& out, show::Verdict& verdict) {
        const Tensor X = Tensor::uniform({kRows, kIn}, -1, 1, 1, float64);
        const Tensor W = Tensor::uniform({kOut, kIn}, -1, 1, 2, float64);
        const Tensor b = Tensor::uniform({kOut}, -1, 1, 3, float64);
        rules(out, X, W, b, verdict);
        saved_values(X, W, b, verdict);
      });
}
