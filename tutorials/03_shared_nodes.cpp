// Tutorial 03: a value that is used twice. Why contributions to an adjoint add up, and why nobody
// walks back by recursion.
//
//     y = 3 x,  c = 2 y + 5 y          dc/dy = 2 + 5,  dc/dx = 7 * 3 = 21
//
// y reaches c along two paths, and the slope is the sum over the paths. A function that calls
// itself for each use walks every path on its own: along n doublings y = y + y these are 2^n. A
// sweep waits at each node until all its users have spoken, so it visits each once.
//
// Try this: let b be 5 * x. Now x is what is used twice: dc/dy is 2, and dc/dx is 2 * 3 + 5.

#include "support/tutorial.hpp"

using namespace microtape;

namespace {

// --- the diamond --------------------------------------------------------------------------------

void diamond(const std::string& out, show::Verdict& verdict) {
  show::heading("1. Two paths");
  MicroTape tape;
  //! [diamond]
  const Var x = tape.leaf(Tensor::of(1, float64), "x");
  const Var y = (3 * x).named("y");
  const Var a = (2 * y).named("a");
  const Var b = (5 * y).named("b");
  const Var c = (a + b).named("c");
  //! [diamond]
  Sweep sweep(c, Tensor::of(1, float64));
  show::sweep_aloud(tape, sweep);
  const Gradients gradients = sweep.gradients();
  std::printf(
      "\nWhere it says +=, the second path arrives. With = instead, dy would be 2, what\n"
      "came last, and dx 6.\n\n");
  verdict.zero("dc/dy = 2 + 5", std::abs(gradients[y].item() - 7), 0);
  verdict.zero("dc/dx = 21", std::abs(gradients[x].item() - 21), 0);
  views::write(out, "diamond", tape, sweep, c);
}

// --- recursion ----------------------------------------------------------------------------------

//! [recursion]
/// A sum of two earlier values, or a leaf: an expression as a tree would have it.
struct Sum {
  const Sum* left = nullptr;
  const Sum* right = nullptr;
};

/// The derivative of y by the leaf, by recursion. @param visits  counts its calls
double slope_by_recursion(const Sum& y, long& visits) {
  ++visits;
  if (!y.left) return 1;
  return slope_by_recursion(*y.left, visits) + slope_by_recursion(*y.right, visits);
}
//! [recursion]

/// What a tape does for y = y + y, n times.
struct Doubling {
  double slope;
  long visits, contributions;
};

Doubling sweep_doublings(int n) {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of(1, float64), "x");
  Var y = x;
  for (int i = 0; i < n; ++i) y = y + y;
  //! [sweep]
  Sweep sweep(y, Tensor::of(1, float64));
  Doubling out{};
  while (!sweep.done()) {
    out.contributions += static_cast<long>(sweep.step().contributions.size());
    ++out.visits;
  }
  out.slope = sweep.gradients()[x].item();
  //! [sweep]
  return out;
}

void recursion(show::Verdict& verdict) {
  show::heading("2. Recursion");
  std::printf("y = y + y, n times; the slope is 2^n:\n\n");
  std::printf("   n     slope   calls by recursion   nodes that the sweep visits\n");
  bool agrees = true, is_linear = true, is_exponential = true;
  std::vector<Sum> tree(21);
  for (std::size_t n = 1; n <= 20; ++n) {
    tree[n] = {&tree[n - 1], &tree[n - 1]};
    long calls = 0;
    const double by_recursion = slope_by_recursion(tree[n], calls);
    const Doubling by_sweep = sweep_doublings(static_cast<int>(n));
    if (n <= 4 || n % 5 == 0)
      std::printf("  %2zu %9.0f %20ld %29ld\n", n, by_sweep.slope, calls, by_sweep.visits);
    const long paths = 1L << n, depth = static_cast<long>(n);
    agrees &= by_sweep.slope == static_cast<double>(paths) && by_recursion == by_sweep.slope;
    is_exponential &= calls == 2 * paths - 1;
    is_linear &= by_sweep.visits == depth && by_sweep.contributions == 2 * depth;
  }
  std::printf("\n");
  verdict.add("both find 2^n", agrees);
  verdict.add("recursion makes 2^(n+1) - 1 calls", is_exponential);
  verdict.add("the sweep visits n nodes and adds 2 n contributions", is_linear);
  verdict.add("at n = 1,000 the sweep is done at once, and finds 2^1000",
      sweep_doublings(1000).slope == std::ldexp(1.0, 1000));
}

}  // namespace

int main(int argc, char** argv) {
  return tutorial::run(argc, argv, "03_shared_nodes", "Why contributions to an adjoint add up.",
      [](const std::string& out, show::Verdict& verdict) {
        diamond(out, verdict);
        recursion(verdict);
      });
}
