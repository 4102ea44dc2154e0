#include <microtape/tape/view/json.hpp>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/io/file.hpp>
#include <microtape/tape/view/equation.hpp>
#include <microtape/tape/view/graph_text.hpp>
#include <microtape/tape/view/numbers.hpp>

// The keys stand in the order of docs/tape.schema.json, which says what they mean.

namespace microtape {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;  ///< counts up with a change that a reader may not understand

// --- values ------------------------------------------------------------------------------------

Json json_of(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return value;
}

Json json_of(std::string_view text) { return std::string(text); }

Json json_of(const Indices& list) { return std::vector<Index>(list.begin(), list.end()); }

/// Every stride-th number.
template <class T>
Json some_of(const Tensor& tensor, std::size_t stride) {
  Json out = Json::array();
  const std::span<const T> numbers = tensor.data<T>();
  for (std::size_t i = 0; i < numbers.size(); i += stride)
    if constexpr (std::is_integral_v<T>)
      out.push_back(numbers[i]);
    else
      out.push_back(json_of(double{numbers[i]}));
  return out;
}

Json json_of(const Tensor& tensor, std::size_t max_numbers) {
  const Tensor x = tensor.contiguous();
  const auto size = static_cast<std::size_t>(x.size());
  const std::size_t most = std::max<std::size_t>(max_numbers, 1);
  const std::size_t stride = std::max<std::size_t>((size + most - 1) / most, 1);
  const Summary summary = summary_of(x);
  return {{"size", size}, {"stride", stride},
      {"numbers", x.dtype() == float32   ? some_of<float>(x, stride)
                  : x.dtype() == float64 ? some_of<double>(x, stride)
                                         : some_of<std::int64_t>(x, stride)},
      {"min", json_of(summary.min)}, {"max", json_of(summary.max)},
      {"norm", json_of(summary.norm)}};
}

Json json_of(const Attribute& attribute) {
  return {{"name", json_of(attribute.name())},
      {"value", attribute.is_list() ? json_of(attribute.list()) : json_of(attribute.number())},
      {"symbol", json_of(attribute.symbol())}};
}

std::string_view word_of(NodeKind kind) {
  static constexpr std::string_view kWords[] = {"leaf", "parameter", "constant", "op"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string_view word_of(AdjointState state) {
  static constexpr std::string_view kWords[] = {"none", "not computed", "not kept", "computed"};
  return kWords[static_cast<std::size_t>(state)];
}

/// A list with an item on each line.
void append_list(std::string& out, std::string_view key, const std::vector<Json>& items) {
  out += cat(",\n\"", key, "\": [");
  for (std::size_t i = 0; i < items.size(); ++i)
    out +=
        cat(i == 0 ? "\n" : ",\n", items[i].dump(-1, ' ', false, Json::error_handler_t::replace));
  out += "]";
}

// --- the tape ----------------------------------------------------------------------------------

class Printer {
 public:
  Printer(const MicroTape& tape, const Sweep* sweep, const JsonOptions& options)
      : tape_(tape), sweep_(sweep), options_(options), graph_(graph_of(tape, options.graph)) {}

  std::string str() const {
    std::string out = "{";
    const Json head = {{"format", "MicroTape"}, {"version", kVersion},
        {"keep", tape_.keep() == Keep::everything ? "everything" : "needed"}, {"sweep", sweep()},
        {"note", json_of(graph_.note)}};
    for (const auto& [key, value] : head.items())
      out += cat(out == "{" ? "\n\"" : ",\n\"", key, "\": ", value.dump());
    std::vector<Json> scopes, nodes, frames, arrows, steps;
    for (std::uint32_t i = 0; i < tape_.scopes().size(); ++i) scopes.push_back(scope(i));
    for (NodeId id = 0; id < tape_.size(); ++id) nodes.push_back(node(id));
    for (const Graph::Stroke& stroke : graph_.strokes)
      if (stroke.kind == Graph::Stroke::Kind::open)
        frames.push_back(frame(stroke.index, Graph::Item::Kind::node));
      else if (is_box(stroke))
        frames.push_back(frame(graph_.items[stroke.index].index, Graph::Item::Kind::box));
    for (const Graph::Arrow& arrow : graph_.arrows) arrows.push_back(this->arrow(arrow));
    for (const Sweep::Step& step : options_.steps) steps.push_back(this->step(step));
    append_list(out, "scopes", scopes);
    append_list(out, "nodes", nodes);
    append_list(out, "frames", frames);
    append_list(out, "arrows", arrows);
    append_list(out, "steps", steps);
    return out + "\n}\n";
  }

 private:
  Json sweep() const {
    if (!sweep_) return nullptr;
    return {{"done", sweep_->done()}, {"at", sweep_->done() ? Json() : Json(sweep_->at())}};
  }

  Json scope(std::uint32_t index) const {
    const ScopeInfo& scope = tape_.scopes()[index];
    return {{"id", index}, {"parent", index == 0 ? Json() : Json(scope.parent)},
        {"name", json_of(scope.name)}, {"formula", json_of(scope.formula)},
        {"rule", json_of(scope.rule)}};
  }

  Json numbers(const Tensor& tensor) const {
    return tensor.defined() ? json_of(tensor, options_.max_numbers) : Json();
  }
  Json numbers(const Var& x) const { return x.defined() ? numbers(x.value()) : Json(); }

  Json node(NodeId id) const {
    const Node& node = tape_.node(id);
    const std::uint32_t item = graph_.item_of[id];
    Json attributes = Json::array(), inputs = Json::array();
    for (const Attribute& attribute : node.attributes()) attributes.push_back(json_of(attribute));
    for (const Edge& edge : node.edges()) inputs.push_back(input(id, edge));
    const AdjointState state = adjoint_state(tape_, id, sweep_);
    const bool is_op = node.kind() == NodeKind::op;
    return {{"id", id},
        {"item", item == Graph::kHidden ? Json() : json_of(item_id(graph_.items[item]))},
        {"kind", word_of(node.kind())}, {"op", json_of(node.op())}, {"name", json_of(node.name())},
        {"latex", json_of(node.latex())}, {"label", node_name(tape_, id)}, {"scope", node.scope()},
        {"backward", node.is_backward()}, {"active", node.is_active()},
        {"shape", json_of(node.shape().extents())}, {"dtype", name(node.dtype())},
        {"formula", json_of(node.formula())}, {"equation", is_op ? forward_text(tape_, id) : ""},
        {"attributes", attributes}, {"inputs", inputs}, {"value", numbers(node.value())},
        {"adjoint_state", word_of(state)},
        {"adjoint", sweep_ ? numbers(sweep_->adjoint(id)) : Json()}};
  }

  Json input(NodeId id, const Edge& edge) const {
    return {{"name", json_of(edge.name())}, {"node", edge.input()}, {"position", edge.position()},
        {"active", edge.is_active()}, {"formula", json_of(edge.formula())},
        {"rule", rule_text(tape_, id, edge)},
        {"attribute", edge.attribute() ? json_of(*edge.attribute()) : Json()}};
  }

  bool is_box(const Graph::Stroke& stroke) const {
    return stroke.kind == Graph::Stroke::Kind::item &&
           graph_.items[stroke.index].kind == Graph::Item::Kind::box;
  }

  Json frame(std::uint32_t index, Graph::Item::Kind drawn_as) const {
    const Region& region = graph_.regions[index];
    const bool is_open = drawn_as == Graph::Item::Kind::node;
    return {{"id", cat(is_open ? "c" : "b", index)},
        {"parent", region.parent == 0 ? Json() : Json(cat("c", region.parent))},
        {"scope", region.scope}, {"backward", tape_.node(region.first).is_backward()},
        {"open", is_open}, {"name", region_name(tape_, graph_, index)},
        {"detail", region_detail(tape_, graph_, index, drawn_as)}, {"repeats", region.repeats},
        {"first", region.first}, {"end", region.end}};
  }

  Json arrow(const Graph::Arrow& arrow) const {
    return {{"id", cat("e", arrow.node, "_", arrow.edge->position())},
        {"from", item_id(graph_.items[arrow.from])}, {"to", item_id(graph_.items[arrow.to])},
        {"node", arrow.node}, {"position", arrow.edge->position()}, {"count", arrow.count},
        {"active", arrow.is_active}};
  }

  Json step(const Sweep::Step& step) const {
    Json contributions = Json::array();
    if (step.node >= tape_.size()) fail_step(step.node);
    const std::span<const Edge> edges = tape_.node(step.node).edges();
    for (const Sweep::Contribution& part : step.contributions) {
      const bool is_own = std::any_of(
          edges.begin(), edges.end(), [&part](const Edge& edge) { return &edge == part.edge; });
      if (!is_own) fail_step(step.node);
      contributions.push_back({{"position", part.edge->position()}, {"input", part.edge->input()},
          {"value", numbers(part.value)}, {"before", numbers(part.before)},
          {"after", numbers(part.after)}, {"complete", part.complete}});
    }
    return {
        {"node", step.node}, {"adjoint", numbers(step.adjoint)}, {"contributions", contributions}};
  }

  [[noreturn]] static void fail_step(NodeId node) {
    throw ValueError(cat("to_json: a step is not of this tape: step of node ", node,
        "; give what step() of a Sweep over this tape returned"));
  }

  const MicroTape& tape_;
  const Sweep* sweep_;
  const JsonOptions& options_;
  const Graph graph_;
};

}  // namespace

std::string to_json(const MicroTape& tape, const Sweep* sweep, const JsonOptions& options) {
  return Printer(tape, sweep, options).str();
}

void write_json(const std::string& path, const MicroTape& tape, const Sweep* sweep,
    const JsonOptions& options) {
  write_text("write_json", path, to_json(tape, sweep, options));
}

}  // namespace microtape
