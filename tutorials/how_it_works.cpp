// How the engine works: the life of one product of matrices, from the call to the loop and back.
//
//     C = A B      Y = C * A      L = sum(Y)
//
//     dY = 1      dC = dY * A      dA = dY * C + dC B^T      dB = A^T dC
//
// A is used twice, so two contributions to its adjoint meet. The closed form is four loops over
// plain numbers.
//
// Try this: let Y be C * B. Now B is what is used twice, and the closed form, which still
// says A, disagrees with both gradients.

#include <iostream>

#include <microtape/microtape.hpp>

#include "support/tutorial.hpp"

using namespace microtape;

namespace {

/// The gradients by hand: numbers in arrays, no Tensor, no kernel.
struct ByHand {
  double dA[2][2] = {}, dB[2][2] = {};

  ByHand(const double (&A)[2][2], const double (&B)[2][2]) {
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        for (int k = 0; k < 2; ++k) {
          dA[i][j] += A[i][k] * B[k][j];  // dY * C, with dY = 1
          dA[i][k] += A[i][j] * B[k][j];  // dC B^T, with dC = A
          dB[k][j] += A[i][k] * A[i][j];  // A^T dC
        }
  }
};

bool equals(const Tensor& x, const double (&expected)[2][2]) {
  bool all = true;
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 2; ++j) all = all && x.at({i, j}) == expected[i][j];
  return all;
}

/// What a tape tells of itself: its nodes, and the edges of each.
//! [nodes]
void list_nodes(const MicroTape& tape, NodeId first) {
  for (NodeId id = first; id < tape.size(); ++id) {
    const Node& node = tape.node(id);
    std::cout << "node " << id << ": " << node.name() << (node.name().empty() ? "" : ", ")
              << node.op() << (node.formula().empty() ? "" : ", ") << node.formula()
              << (node.has_value() ? "\n" : " (value not kept)\n");
    for (const Edge& edge : node.edges())
      std::cout << "  @" << edge.name() << " is node " << edge.input() << ", and gets "
                << edge.formula() << "\n";
  }
}
//! [nodes]

/// The sweep, one node at a time.
void walk_back(const MicroTape& tape, Sweep& sweep) {
  //! [sweep]
  while (!sweep.done()) {
    const Sweep::Step step = sweep.step();
    std::cout << "node " << step.node << ", " << tape.node(step.node).op()
              << ": its adjoint is complete, its rules run\n";
    for (const Sweep::Contribution& part : step.contributions) {
      const std::string input = "d" + node_name(tape, part.edge->input());
      show::matrix("  " + input + (part.before.defined() ? " += " : " = ") +
                       rule_text(tape, step.node, *part.edge),
          part.value.value());
      if (part.before.defined()) show::matrix("    the sum: " + input, part.after.value());
    }
  }
  //! [sweep]
}

/// Runs f, which is to be refused, and prints why.
template <class F>
bool refuses(F f) {
  try {
    f();
  } catch (const TapeError& error) {
    std::printf("  %s\n", error.what());
    return true;
  }
  return false;
}

void look_at_everything(const std::string& out, const Tensor& a, const Tensor& b,
    const ByHand& by_hand, show::Verdict& verdict) {
  show::heading("1. Forward");
  //! [call]
  MicroTape tape;
  const Var A = tape.leaf(a, "A"), B = tape.leaf(b, "B");
  const Var C = matmul(A, B).named("C");
  const Var Y = (C * A).named("Y");
  const Var L = sum(Y).named("L");
  //! [call]
  show::matrix("A", A.value());
  show::matrix("B", B.value());
  show::matrix("C = A B", C.value());
  show::matrix("Y = C * A", Y.value());
  std::cout << "  L = sum(Y) = " << L.item() << "\n\nWhat the tape keeps:\n\n";
  list_nodes(tape, 0);

  show::heading("2. Backward");
  Sweep sweep(L, Tensor::full({}, 1, float64));
  walk_back(tape, sweep);
  const Gradients gradients = sweep.gradients();
  std::printf("\n");
  verdict.add("dA = dY * C + dC B^T", equals(gradients[A].value(), by_hand.dA));
  verdict.add("dB = A^T dC", equals(gradients[B].value(), by_hand.dB));
  views::write(out, "how_it_works", tape, sweep, L);

  show::heading("3. A recorded sweep");
  //! [record]
  const NodeId before = tape.size();
  const Gradients recorded = backward(L, Record::yes);
  //! [record]
  list_nodes(tape, before);
  std::printf("\n");
  verdict.add("what it found stands on the tape", recorded[A].tape() == &tape);
  verdict.add("what the first sweep found does not", gradients[A].tape() == nullptr);

  show::heading("4. Cleared");
  tape.clear();
  std::printf("The tape has %u nodes. C is refused:\n\n", tape.size());
  verdict.add("a Var of a cleared tape is refused", refuses([&] { return C + C; }));
  verdict.add("the gradients live on", equals(gradients[B].value(), by_hand.dB));
}

void look_at_what_is_needed(
    const Tensor& a, const Tensor& b, const ByHand& by_hand, show::Verdict& verdict) {
  show::heading("5. A tape for training");
  //! [needed]
  MicroTape tape(Keep::needed);
  const Var A = tape.leaf(a, "A"), B = tape.leaf(b, "B");
  const Var C = matmul(A, B).named("C");
  const Gradients gradients = backward(sum(C * A));
  //! [needed]
  list_nodes(tape, 0);
  std::printf("\nIts sweep kept the adjoints of leaves only. That of C is refused:\n\n");
  verdict.add("no adjoint is made up", refuses([&] { return gradients[C]; }));
  verdict.add("the others are the same",
      equals(gradients[A].value(), by_hand.dA) && equals(gradients[B].value(), by_hand.dB));
}

}  // namespace

int main(int argc, char** argv) {
  return tutorial::run(argc, argv, "how_it_works", "The life of one product of matrices.",
      [](const std::string& out, show::Verdict& verdict) {
        const double A[2][2] = {{1, 2}, {3, 4}}, B[2][2] = {{0, 1}, {2, 3}};
        const Tensor a = Tensor::of({{A[0][0], A[0][1]}, {A[1][0], A[1][1]}}, float64);
        const Tensor b = Tensor::of({{B[0][0], B[0][1]}, {B[1][0], B[1][1]}}, float64);
        const ByHand by_hand(A, B);
        look_at_everything(out, a, b, by_hand, verdict);
        look_at_what_is_needed(a, b, by_hand, verdict);
      });
}
