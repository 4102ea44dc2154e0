// Graphs that nobody chose.

#include <cmath>
#include <cstring>
#include <set>

#include <microtape/core/format.hpp>
#include <microtape/tape/gradcheck.hpp>
#include <microtape/tape/view/formula_check.hpp>

#include "tape/op_table.hpp"
#include "tape/random_graph.hpp"
#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

constexpr std::uint64_t kGraphs = 500;

/// A graph on a tape, and what a sweep over it finds.
struct Swept {
  MicroTape tape;
  std::vector<Var> leaves;
  std::vector<Tensor> found;  ///< the value, then the adjoint of each leaf

  Swept(const RandomGraph& graph, Keep keep, Record record) : tape(keep) {
    for (const Tensor& x : graph.inputs) leaves.push_back(tape.leaf(x));
    const Var y = graph(leaves);
    found.push_back(y.value().contiguous());
    if (!tape.node(y.node()).is_active()) return;
    const Gradients gradients = backward(y, Tensor::uniform(y.shape(), -2, 2, 7, float64), record);
    for (const Var& leaf : leaves) found.push_back(gradients[leaf].value().contiguous());
  }
};

/// Whether only rounding is left of numbers near 1 that cancel: 5e-17 where the formula says 0.
bool is_rounding(const FormulaMismatch& mismatch) {
  return mismatch.problem.empty() && std::abs(mismatch.computed - mismatch.evaluated) < 1e-13;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0;
}

/// "seed 17", then a line for each node: "#4 = matmul_nt(#3, #0) [2, 3]".
std::string listing(std::uint64_t seed, const RandomGraph& graph) {
  MicroTape tape;
  std::vector<Var> leaves;
  for (const Tensor& x : graph.inputs) leaves.push_back(tape.leaf(x));
  graph(leaves);
  std::string text = cat("seed ", seed);
  NodeId id = 0;
  for (const Node& node : tape.nodes()) {
    text += cat("\n  #", id++, " = ", node.op(), "(");
    for (const Edge& edge : node.edges())
      text += cat(&edge == &node.edges().front() ? "#" : ", #", edge.input());
    text += cat(") ", node.shape());
  }
  return text;
}

}  // namespace

TEST_CASE("the derivatives of 500 random graphs agree with difference quotients") {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + kGraphs; ++seed) {
    const RandomGraph graph = random_graph(seed);
    const GradcheckReport report = gradcheck(graph, graph.inputs, {.order = 1});
    if (!report.passed()) FAIL_CHECK(listing(seed, graph) << "\n" << report.str());
    CHECK(report.checked > 0);
  }
}

TEST_CASE("500 random graphs have the same bits on a Keep::needed tape and in a recorded sweep") {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + kGraphs; ++seed) {
    const RandomGraph graph = random_graph(seed);
    const Swept plain(graph, Keep::everything, Record::no);
    const Swept needed(graph, Keep::needed, Record::no);
    const Swept recorded(graph, Keep::everything, Record::yes);
    REQUIRE(plain.found.size() == graph.inputs.size() + 1);
    for (std::size_t i = 0; i < plain.found.size(); ++i)
      if (!same_bits(needed.found[i], plain.found[i]) ||
          !same_bits(recorded.found[i], plain.found[i]))
        FAIL_CHECK(listing(seed, graph) << "\n" << (i ? cat("adjoint of #", i - 1) : "the value"));
  }
}

TEST_CASE("the formulas of 500 random graphs and of their sweeps say what was computed") {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + kGraphs; ++seed) {
    const RandomGraph graph = random_graph(seed);
    Swept swept(graph, Keep::everything, Record::yes);
    for (const FormulaMismatch& mismatch : check_formulas(swept.tape))
      if (!is_rounding(mismatch)) FAIL_CHECK(listing(seed, graph) << "\n" << mismatch.str());
  }
}

TEST_CASE("500 random graphs and their sweeps use every op but detach") {
  std::set<std::string> missing;
  for (const OpRow& row : op_table()) missing.insert(row.op());
  missing.erase("detach");  // differences see through it
  for (std::uint64_t seed = first_seed(); seed < first_seed() + kGraphs; ++seed) {
    const Swept swept(random_graph(seed), Keep::everything, Record::yes);
    for (const Node& node : swept.tape.nodes()) missing.erase(std::string(node.op()));
  }
  std::string names;
  for (const std::string& op : missing) names += op + " ";
  CHECK(names == "");
}
