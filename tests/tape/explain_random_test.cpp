// explain() on graphs that nobody chose, against what it must not get wrong. The expected values
// are read off the gradients and the values, not off its own probes.

#include <microtape/tape/view/explain.hpp>

#include <cmath>
#include <functional>
#include <map>

#include <microtape/core/format.hpp>
#include <microtape/tape/view/explain_cause.hpp>
#include <microtape/tape/view/utf8.hpp>

#include "tape/random_graph.hpp"
#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

constexpr std::uint64_t kGraphs = 500;

/// A random graph on a tape.
struct Taped {
  MicroTape tape;
  std::vector<Var> leaves;
  Var y;

  explicit Taped(const RandomGraph& graph) {
    for (const Tensor& x : graph.inputs) leaves.push_back(tape.leaf(x));
    y = graph(leaves);
  }
};

/// Puts numbers into the inputs that break things.
void spoil(RandomGraph& graph, std::uint64_t seed) {
  static constexpr double kBad[] = {0, 0, 0, 1e200, -1e9, 1e-200, kInfinity, -kInfinity, kNan};
  Dice dice(seed);
  for (Tensor& x : graph.inputs)
    for (double& v : x.mutable_data<double>())
      if (dice.below(4) == 0) v = kBad[dice.below(std::size(kBad))];
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Whether the text about x says of its gradient what is so; else what is wrong.
std::string lie(Taped& taped, const Var& x) {
  const std::string text = explain(taped.tape, x, taped.y);
  const Gradients gradients = backward(taped.y, Tensor::full(taped.y.shape(), 1, float64));
  const Tensor dx = gradients[x].value().contiguous();
  bool has_zero = false, has_nonfinite = false;
  for (const double v : dx.data<double>()) {
    has_zero |= v == 0;
    has_nonfinite |= !std::isfinite(v);
  }
  const bool is_rounding = contains(text, " to rounding");
  if (contains(text, "is missing") == gradients.reached(x)) return "missing: " + text;
  if (!gradients.reached(x)) return "";
  if (contains(text, "is not finite") != has_nonfinite) return "not finite: " + text;
  if (contains(text, "finite and nowhere zero") == (has_zero || has_nonfinite || is_rounding))
    return "fine: " + text;
  if (lines_of(text) > 7) return "long: " + text;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    if (utf8::display_width(text.substr(start, end - start)) > 80) return "wide: " + text;
    start = end + 1;
  }
  return "";
}

/// What must be so of the values of a node if its rule for an input stops entry i.
using Check = std::function<bool(const std::map<std::string, double>& at)>;

/// Of ops whose entries meet: what each says of the numbers at an entry, by names of their inputs.
const std::map<std::pair<std::string, std::string>, Check> kChecks = {
    {{"relu", "x"}, [](const auto& at) { return at.at("x") <= 0; }},
    {{"abs", "x"}, [](const auto& at) { return at.at("x") == 0; }},
    {{"square", "x"}, [](const auto& at) { return at.at("x") == 0; }},
    {{"cos", "x"}, [](const auto& at) { return at.at("x") == 0; }},
    {{"mul", "a"}, [](const auto& at) { return at.at("b") == 0; }},
    {{"mul", "b"}, [](const auto& at) { return at.at("a") == 0; }},
    {{"where", "a"}, [](const auto& at) { return at.at("m") == 0; }},
    {{"where", "b"}, [](const auto& at) { return at.at("m") != 0; }},
    {{"maximum", "a"}, [](const auto& at) { return at.at("a") < at.at("b"); }},
    {{"maximum", "b"}, [](const auto& at) { return at.at("b") < at.at("a"); }},
    {{"minimum", "a"}, [](const auto& at) { return at.at("a") > at.at("b"); }},
    {{"minimum", "b"}, [](const auto& at) { return at.at("b") > at.at("a"); }},
    {{"clamp", "x"}, [](const auto& at) { return std::abs(at.at("x")) > 1; }},  // to -1 .. 1 in all
    {{"div", "b"}, [](const auto& at) { return at.at("a") == 0; }},
    {{"ratio", "b"}, [](const auto& at) { return at.at("a") == 0; }},
};

/// How many entries of a cause have been found to be as its op says; -1 if one is not.
int checked(const MicroTape& tape, const Cause& cause) {
  const Node& node = tape.node(cause.node);
  const auto check = kChecks.find({std::string(node.op()), std::string(cause.edge->name())});
  if (check == kChecks.end()) return 0;
  std::map<std::string, Array> inputs;
  for (const Edge& edge : node.edges())
    inputs[std::string(edge.name())] = to_array(tape.node(edge.input()).value());
  int count = 0;
  for (const Index i : cause.entries) {
    std::map<std::string, double> at;
    for (const auto& [name, a] : inputs) at[name] = a[i];
    if (!check->second(at)) return -1;
    ++count;
  }
  return count;
}

/// Whether y still reaches x along edges with adjoints, past none of the causes.
bool is_open(const Trace& trace, const std::vector<Cause>& causes) {
  std::vector<bool> is_reached(trace.y() + 1);
  is_reached[trace.y()] = true;
  for (NodeId id = trace.y(); id > trace.x(); --id) {
    if (!is_reached[id] || !trace.is_between(id)) continue;
    for (const Edge& edge : trace.tape().node(id).edges()) {
      const auto cuts = [&](const Cause& cause) {
        return cause.kind == Cause::Kind::meets ? cause.node == edge.input()
                                                : cause.node == id && cause.edge == &edge;
      };
      if (edge.is_active() && std::none_of(causes.begin(), causes.end(), cuts))
        is_reached[edge.input()] = true;
    }
  }
  return is_reached[trace.x()];
}

/// Whether an op on the way takes only some entries of its input.
bool takes_some(const Trace& trace) {
  for (NodeId id = trace.x(); id <= trace.y(); ++id)
    if (trace.is_between(id) && has_word("slice gather embedding", trace.tape().node(id).op()))
      return true;
  return false;
}

}  // namespace

TEST_CASE("explain says of 500 random graphs what their gradients are, zero or not") {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    Taped taped(random_graph(seed));
    for (const Var& x : taped.leaves) {
      const NodeId size = taped.tape.size();
      const std::string wrong = lie(taped, x);
      if (!wrong.empty()) FAIL_CHECK("seed " << seed << ": " << wrong);
      CHECK(taped.tape.size() == size);
    }
  }
}

TEST_CASE(
    "explain says of 500 random graphs of NaN, infinities and zeros what their gradients are") {
  int spoiled = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    RandomGraph graph = random_graph(seed);
    spoil(graph, seed);
    try {
      Taped taped(graph);
      for (const Var& x : taped.leaves) {
        const std::string wrong = lie(taped, x);
        if (!wrong.empty()) FAIL_CHECK("seed " << seed << ": " << wrong);
        spoiled += contains(explain(taped.tape, x, taped.y), "is not finite");
      }
    } catch (const ValueError&) {  // a softmax of infinities, an index of nowhere
    }
  }
  CHECK(spoiled > 100);
}

TEST_CASE("each cause of a zero that explain finds in random graphs is as its op says") {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 0; seed < 4 * kGraphs; ++seed) {
    RandomGraph graph = random_graph(seed);
    if (seed % 2 == 1) {  // half of them with zeros
      Dice dice(seed);
      for (Tensor& x : graph.inputs)
        for (double& v : x.mutable_data<double>())
          if (dice.below(3) == 0) v = 0;
    }
    Taped taped(graph);
    for (const Var& x : taped.leaves) {
      const Trace trace(taped.tape, x.node(), taped.y.node());
      if (!trace.is_between(x.node())) continue;
      const Array& dx = trace.adjoint(x.node());
      for (Index i = 0; i < dx.size(); ++i) {
        if (dx[i] != 0) continue;
        const std::vector<Cause> causes = causes_of_zero(trace, {i});
        REQUIRE(!causes.empty());
        for (const Cause& cause : causes) {
          if (cause.kind != Cause::Kind::stops) continue;
          const int count = checked(taped.tape, cause);
          if (count < 0)
            FAIL_CHECK("seed " << seed << ": " << taped.tape.node(cause.node).op() << " #"
                               << cause.node << " does not stop " << x.node() << "[" << i << "]");
          if (count > 0) ++seen[std::string(taped.tape.node(cause.node).op())];
        }
      }
    }
  }
  for (const char* op : {"relu", "square", "mul", "where", "maximum", "minimum", "clamp", "abs"}) {
    INFO(op);
    CHECK(seen[op] > 0);
  }
}

TEST_CASE("the causes of a gradient that is 0 cut every way from y to x") {
  int cut = 0;
  for (std::uint64_t seed = 0; seed < 4 * kGraphs; ++seed) {
    Taped taped(random_graph(seed));
    for (const Var& x : taped.leaves) {
      const Trace trace(taped.tape, x.node(), taped.y.node());
      if (!trace.is_between(x.node()) || !is_zero(trace.adjoint(x.node())) || takes_some(trace))
        continue;
      std::vector<Index> all;
      for (Index i = 0; i < x.size(); ++i) all.push_back(i);
      if (is_open(trace, causes_of_zero(trace, all)))
        FAIL_CHECK("seed " << seed << ": a way to #" << x.node() << " is open");
      ++cut;
    }
  }
  CHECK(cut > 50);
}
