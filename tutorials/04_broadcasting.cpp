// Tutorial 04: a small operand beside a large one. Nothing is copied on the way forward, so
// something must be added up on the way back.
//
//     Y = X + broadcast(b)      dX = G      db = colsum(G)
//
// To broadcast is to look at the same numbers with a stride of 0: b_j is read once for each row, so
// its slope is the sum over the rows. The same holds for every view: its Jacobian J is a matrix of
// zeros and ones that copies numbers to where they are read, and the rule is its transpose, which
// brings them back. For any op, <u, J v> = <J^T u, v>; here this is checked for each of them, with
// J v by differences and J^T u by the tape.
//
// Try this: let b be {{10}, {20}}, of shape [2, 1]. The stride of 0 is now that of the columns, and
// db is the sum over each row, 6 and 60. The check asks for a db of three numbers, one a column,
// and the program ends with the error that names the missing place.

#include <functional>

#include "support/tutorial.hpp"

using namespace microtape;

namespace {

std::string list(const Indices& numbers) {
  std::string out;
  for (const Index n : numbers) out += (out.empty() ? "(" : ", ") + std::to_string(n);
  return out.empty() ? "()" : out + ")";
}

void print_view(const char* what, const Tensor& x, const Tensor& base) {
  std::printf("  %-26s %-8s %-8s %s\n", what, x.shape().str().c_str(), list(x.strides()).c_str(),
      x.shares_memory_with(base) ? "the same numbers" : "a copy");
}

void views_of_one_block() {
  show::heading("1. Views");
  const Tensor x = Tensor::of({{1, 2, 3}, {4, 5, 6}}, float64),
               b = Tensor::of({10, 20, 30}, float64);
  std::printf("  %-26s %-8s %-8s\n", "", "shape", "strides");
  print_view("x", x, x);
  print_view("x.transpose()", x.transpose(), x);
  print_view("x.slice(1, 1, 3)", x.slice(1, 1, 3), x);
  print_view("x.reshape({3, 2})", x.reshape({3, 2}), x);
  print_view("x.transpose().reshape({6})", x.transpose().reshape({6}), x);
  print_view("b.broadcast_to({2, 3})", b.broadcast_to({2, 3}), b);
  std::printf(
      "\nA stride tells how far the next number along an axis lies. One step down the\n"
      "rows of the last view is a step of 0: both rows are b.\n");
}

void bias(const std::string& out, show::Verdict& verdict) {
  show::heading("2. The sum in the backward pass");
  MicroTape tape;
  //! [bias]
  const Tensor g = Tensor::of({{1, 2, 3}, {10, 20, 30}}, float64);
  const Var X = tape.leaf(Tensor::of({{1, 2, 3}, {4, 5, 6}}, float64), "X");
  const Var b = tape.leaf(Tensor::of({10, 20, 30}, float64), "b");
  const Var Y = (X + b).named("Y");
  //! [bias]
  Sweep sweep(Y, g);
  show::sweep_aloud(tape, sweep);
  const Gradients gradients = sweep.gradients();

  // db = colsum(G), by hand.
  double off = 0;
  for (Index j = 0; j < 3; ++j)
    off = std::max(off, std::abs(gradients[b].value().at({j}) - (g.at({0, j}) + g.at({1, j}))));
  std::printf("\n");
  verdict.zero("db = colsum(G)", off, 0);
  views::write(out, "bias", tape, sweep, Y, {.seed = g});
}

// --- the transpose of a Jacobian ----------------------------------------------------------------

using Op = std::function<Var(const Var&)>;

double dot(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  double sum = 0;
  for (std::size_t i = 0; i < x.data<double>().size(); ++i)
    sum += x.data<double>()[i] * y.data<double>()[i];
  return sum;
}

//! [transpose]
/// |<u, J v> - <J^T u, v>| at some x [2, 3]. The ops are linear: J v is op(x + v) - op(x).
double transpose_error(const Op& op) {
  const Tensor x = Tensor::uniform({2, 3}, -1, 1, 1, float64);
  const Tensor v = Tensor::uniform({2, 3}, -1, 1, 2, float64);
  const Tensor jv = (op(Var(x) + Var(v)) - op(x)).value();
  const Tensor u = Tensor::uniform(jv.shape(), -1, 1, 3, float64);
  MicroTape tape;
  const Var leaf = tape.leaf(x);
  return std::abs(dot(u, jv) - dot(backward(op(leaf), u)[leaf].value(), v));
}
//! [transpose]

void transposes(show::Verdict& verdict) {
  show::heading("3. Every rule is a transpose: <u, J v> = <J^T u, v>");
  const std::pair<const char*, Op> ops[] = {
      {"broadcast_to", [](const Var& x) { return broadcast_to(x, {4, 2, 3}); }},
      {"sum_to", [](const Var& x) { return sum_to(x, {1, 3}); }},
      {"transpose", [](const Var& x) { return transpose(x); }},
      {"reshape", [](const Var& x) { return reshape(x, {3, 2}); }},
      {"permute", [](const Var& x) { return permute(x, {1, 0}); }},
      {"slice", [](const Var& x) { return slice(x, 1, 1, 3); }},
      {"unslice", [](const Var& x) { return unslice(x, 1, 2, 7); }},
      {"concat", [](const Var& x) { return concat({x, 2 * x}, 0); }},
      {"stack", [](const Var& x) { return stack({x, 2 * x}, 0); }},
      {"squeeze, unsqueeze", [](const Var& x) { return unsqueeze(x, 1); }},
      {"sum", [](const Var& x) { return sum(x, 0); }},
      {"mean", [](const Var& x) { return mean(x, -1, KeepAxes::yes); }},
      {"tril", [](const Var& x) { return tril(x); }},
      {"neg", [](const Var& x) { return -x; }},
      {"scale", [](const Var& x) { return 3 * x; }},
  };
  for (const auto& [name, op] : ops) verdict.zero(name, transpose_error(op), 1e-14);
}

}  // namespace

int main(int argc, char** argv) {
  return tutorial::run(argc, argv, "04_broadcasting",
      "Views, strides, and the sum in a bias gradient.",
      [](const std::string& out, show::Verdict& verdict) {
        views_of_one_block();
        bias(out, verdict);
        transposes(verdict);
      });
}
