// Tutorial 13: derivatives of derivatives, and tapes that forget.
//
// A backward pass is made of ops, too. Written on the tape, it can be walked back again. Of the
// loss of softmax regression,
//
//     loss = mean of -ln P[label]     P = softmax(X W)     dW = X^T (P - onehot) / n
//
// this gives H V, the change of dW when W moves along V, without the matrix H of all second
// derivatives:
//
//     H V = X^T (P * (X V - rowsum(P * X V))) / n = (dW(W + h V) - dW(W - h V)) / (2 h) + O(h^2)
//
// And a tape need not keep what can be computed again: checkpoint() keeps one value for a block,
// and finds the same gradients to the bit.
//
// Try this: in slope_along(), write Record::no. dW is as right as before, but nothing says where it
// came from: the second backward() ends the program with a TapeError.
//
// Source: Pearlmutter, "Fast Exact Multiplication by the Hessian", Neural Computation 6, 1994.

#include <microtape/layers/transformer.hpp>

#include "support/cost.hpp"
#include "support/regression.hpp"
#include "support/tutorial.hpp"

using namespace microtape;
using regression::Regression;

namespace {

// --- a tape of a backward pass -----------------------------------------------------------------

/// A sweep from y to its end.
Sweep swept(const Var& y) {
  Sweep sweep(y, Tensor::of(1, float64));
  while (!sweep.done()) sweep.advance();
  return sweep;
}

void cube(const std::string& out, show::Verdict& verdict) {
  show::heading("1. A backward pass on the tape");
  MicroTape tape;
  //! [cube]
  const Var x = tape.leaf(Tensor::of(4, float64), "x");
  const Var y = pow(x, 3).named("y");
  const NodeId forward = tape.size();
  const Var slope = backward(y, Record::yes)[x].named("slope");
  //! [cube]
  const NodeId once = tape.size();
  const Sweep sweep = swept(slope);  // for the pictures, before more is recorded
  views::write(out, "cube_twice", tape, sweep, slope, {.title = "A slope, walked back again"});

  //! [again]
  const Var curvature = backward(slope, Record::yes)[x].named("curvature");
  const double third = backward(curvature)[x].item();
  //! [again]
  std::printf("%s\n", to_text(tape).c_str());
  std::printf(
      "y = x^3 takes %u lines; its backward pass wrote %u more, and the backward pass of\n"
      "that another %u. At x = 4 the derivatives are %g, %g and %g.\n\n",
      forward, once - forward, tape.size() - once, slope.item(), curvature.item(), third);
  verdict.zero("the slope is 3 x^2", std::abs(slope.item() - 48), 0);
  verdict.zero("the slope of the slope is 6 x", std::abs(curvature.item() - 24), 0);
  verdict.zero("that of it is 6", std::abs(third - 6), 0);
}

// --- Hessian-vector products -------------------------------------------------------------------

/// <dW, V>, the slope of the loss along V, whose derivative by W is H V.
//! [hessian]
Var slope_along(const Tensor& V, const Regression& r, const Var& W) {
  const Var dW = backward(r.loss(W), Record::yes)[W];
  return sum(dW * W.tape()->constant(V, "V")).named("slope");
}
Tensor hessian_times(const Tensor& V, const Regression& r) {
  MicroTape tape;
  const Var W = tape.leaf(r.W, "W");
  return backward(slope_along(V, r, W))[W].value();
}
//! [hessian]

void hessian_vector_products(const std::string& out, show::Verdict& verdict) {
  show::heading("2. Hessian times vector");
  const Regression r;
  const Tensor HV = hessian_times(r.V, r);
  const auto error = [&](double h) { return compare("", by_difference(r, h), HV, 0).max_abs; };
  std::printf("How far the difference of two gradients is off:\n\n  step h     error\n");
  for (const double h : {1e-1, 1e-2, 1e-3}) std::printf("  %-8.0e   %.3g\n", h, error(h));
  std::printf("\n");
  verdict.add({compare("H V by plain loops", HV, by_hand(r), 1e-12),
      compare("by differences", HV, by_difference(r, 1e-4), 1e-7)});
  std::printf("\n");
  verdict.zero("a tenth of the step, a hundredth of the error",
      std::abs(error(1e-2) / error(1e-3) / 100 - 1), 0.01);
  verdict.zero("<U, H V> = <V, H U>: H is symmetric",
      std::abs(sum(mul(r.U, HV) - mul(r.V, hessian_times(r.U, r))).item()), 1e-14);
  const Tensor direct = hessian_vector_product(
      [&](std::span<const Var> in) { return r.loss(in[0]); }, {{r.W}}, {{r.V}})[0];
  verdict.zero("hessian_vector_product() says the same", compare("", direct, HV, 0).max_abs, 1e-15);
  std::printf("\nTwo sweeps find it, for 12 parameters or a million. H has 144 numbers here.\n");

  MicroTape tape;
  const Var slope = slope_along(r.V, r, tape.leaf(r.W, "W"));
  views::write(
      out, "hessian", tape, swept(slope), slope, {.title = "The slope along V, walked back"});
}

// --- checkpoints -------------------------------------------------------------------------------

enum class Keeps { everything, checkpoints };

/// Six Transformer blocks on a tape: what it keeps, and the gradients by x and all parameters.
struct Tower {
  explicit Tower(Keeps keeps) {
    for (std::uint64_t i = 0; i < 6; ++i)
      blocks.emplace_back(8, 2, 0, true, LayerOptions{.dtype = float64, .seed = i});
    const Var x = tape.leaf(Tensor::randn({2, 5, 8}, 9, float64), "x");
    Var h = x;
    //! [checkpoint]
    for (TransformerBlock& block : blocks) {
      const auto f = [&block](std::span<const Var> in) { return block(in[0]); };
      h = keeps == Keeps::everything ? block(h) : checkpoint(f, {h});
    }
    //! [checkpoint]
    loss = sum(square(h)).named("loss");
    const Gradients d = backward(loss);
    gradients.push_back(d[x].value());
    for (TransformerBlock& block : blocks)
      for (const Parameter& p : block.parameters()) gradients.push_back(d[p].value());
    for (const Node& node : tape.nodes())
      if (node.kind() == NodeKind::op) kept.add(cost::bytes_of(tape, node));
  }
  std::vector<TransformerBlock> blocks;  // a checkpoint calls them again
  MicroTape tape;
  Var loss;
  std::vector<Tensor> gradients;
  cost::Cost kept{"ops"};
};

void checkpoints(const std::string& out, show::Verdict& verdict) {
  show::heading("3. A tape that forgets");
  const Tower all(Keeps::everything), some(Keeps::checkpoints);
  std::printf(
      "Six Transformer blocks; what ops have left on the tape before it is walked back:\n\n");
  std::printf("                nodes    bytes\n  everything    %5zu  %7zu\n", all.kept.nodes,
      all.kept.bytes);
  std::printf("  checkpoints   %5zu  %7zu\n\n", some.kept.nodes, some.kept.bytes);
  std::printf(
      "On the way back each block is computed once more, and forgotten before the next:\n"
      "a sixth of the first number, for that time.\n\n");

  const std::size_t count = all.gradients.size();
  bool is_same = some.gradients.size() == count;
  for (std::size_t i = 0; is_same && i < count; ++i)
    is_same = compare("", some.gradients[i], all.gradients[i], 0).agrees;
  verdict.add("all " + std::to_string(count) + " gradients have the same bits", is_same);
  verdict.add("one node for each block, and two for the loss", some.kept.nodes == 6 + 2);
  views::write_graph(out, "checkpoints", to_dot(some.tape, nullptr, {.hide = {Hide::parameters}}));

  std::string refusal;
  try {
    backward(some.loss, Record::yes);
  } catch (const TapeError& error) {
    refusal = error.what();
  }
  verdict.add("but no second derivatives: there is nothing to record",
      refusal.find("cannot be recorded") != std::string::npos);
}

}  // namespace

int main(int argc, char** argv) {
  return tutorial::run(argc, argv, "13_second_order",
      "Derivatives of derivatives, and tapes that forget.",
      [](const std::string& out, show::Verdict& verdict) {
        cube(out, verdict);
        hessian_vector_products(out, verdict);
        checkpoints(out, verdict);
      });
}
