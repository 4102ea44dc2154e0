// Every line of a derivation, evaluated on the numbers of the tape.

#include "tape/op_table.hpp"
#include "tape/random_graph.hpp"
#include "view/derivation_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

TEST_CASE("the derivation of every row of the derivative table evaluates to what the tape holds") {
  for (const OpRow& row : op_table()) {
    MicroTape tape;
    std::vector<Var> leaves;
    for (const Tensor& x : row.inputs) leaves.push_back(tape.leaf(x));
    const Var y = row.f(leaves);
    if (y.node() == kNoNode || !tape.node(y.node()).is_active()) continue;
    DerivationCheck check(tape, y);
    for (const DerivationOptions& options : kAllForms) {
      INFO(row.name);
      CHECK(check.problems(options) == "");
    }
  }
}

TEST_CASE("the derivations of 500 random graphs evaluate to what the tape holds") {
  int lines = 0, lines_read = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 500; ++seed) {
    const RandomGraph graph = random_graph(seed);
    MicroTape tape;
    std::vector<Var> leaves;
    for (const Tensor& x : graph.inputs) leaves.push_back(tape.leaf(x));
    const Var y = graph(leaves);
    if (!tape.node(y.node()).is_active()) continue;
    DerivationCheck check(tape, y);
    for (const DerivationOptions& options : kAllForms) {
      INFO("seed " << seed << "\n" << to_text(derivation(tape, y, options)));
      CHECK(check.problems(options) == "");
    }
    lines += check.lines();
    lines_read += check.lines_read();
  }
  CHECK(lines > 20'000);
  CHECK(lines_read > 15'000);
}

TEST_CASE("the derivation of every recorded gradient of the table evaluates to what it holds") {
  for (const OpRow& row : op_table()) {
    MicroTape tape;
    std::vector<Var> leaves;
    for (const Tensor& x : row.inputs) leaves.push_back(tape.leaf(x, "x"));
    const Var y = row.f(leaves);
    if (y.node() == kNoNode || !tape.node(y.node()).is_active()) continue;
    const Var seed = tape.leaf(Tensor::uniform(y.shape(), -2, 2, 7, float64), "seed");
    const Var dx = backward(y, seed, Record::yes)[leaves[0]];
    if (dx.node() == kNoNode || !tape.node(dx.node()).is_active()) continue;
    DerivationCheck check(tape, dx);
    INFO(row.name);
    for (const DerivationOptions& options : kAllForms) CHECK(check.problems(options) == "");
  }
}
