// The formulas that ops record, evaluated on numbers for every row of the derivative table.

#include <microtape/tape/backward.hpp>
#include <microtape/tape/view/formula_check.hpp>

#include "tape/op_table.hpp"
#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

Var apply(MicroTape& tape, const OpRow& row) {
  std::vector<Var> leaves;
  for (const Tensor& x : row.inputs) leaves.push_back(tape.leaf(x));
  return row.f(leaves);
}

void check_tape(MicroTape& tape, const OpRow& row) {
  const std::vector<FormulaMismatch> found = check_formulas(tape);
  for (const FormulaMismatch& mismatch : found) UNSCOPED_INFO(mismatch.str());
  INFO(row.name);
  CHECK(found.empty());
}

}  // namespace

TEST_CASE("every forward formula and every rule formula says what its op and rule compute") {
  for (const OpRow& row : op_table()) {
    MicroTape tape;
    apply(tape, row);
    check_tape(tape, row);
  }
}

TEST_CASE("the formulas of recorded backward passes say what they compute, first and second") {
  for (const OpRow& row : op_table()) {
    MicroTape tape;
    const Var y = apply(tape, row);
    if (!tape.node(y.node()).is_active()) continue;
    const Var seed = tape.leaf(Tensor::uniform(y.shape(), -2, 2, 7, float64));
    const Gradients gradients = backward(y, seed, Record::yes);
    check_tape(tape, row);
    const Var dx = gradients[tape.var(0)];
    if (dx.node() == kNoNode || !tape.node(dx.node()).is_active()) continue;
    backward(dx, Tensor::uniform(dx.shape(), -2, 2, 8, float64), Record::yes);
    check_tape(tape, row);
  }
}

TEST_CASE("every op and every rule of the table has a formula") {
  for (const OpRow& row : op_table()) {
    MicroTape tape;
    apply(tape, row);
    for (const Node& node : tape.nodes()) {
      INFO(row.name << ", " << node.op());
      CHECK(node.formula().empty() == (node.kind() != NodeKind::op));
      for (const Edge& edge : node.edges())
        if (edge.is_active()) CHECK_FALSE(edge.formula().empty());
    }
  }
}
