#include <microtape/tape/view/explain_trace.hpp>

#include <algorithm>
#include <utility>

namespace microtape {
namespace {

/// Adds what came along an edge; a joint rule may give it in several parts.
void add_flow(std::vector<Flow>& flows, NodeId user, const Sweep::Contribution& c) {
  Array value = to_array(c.value.value());
  const auto same =
      std::find_if(flows.begin(), flows.end(), [&](const Flow& f) { return f.edge == c.edge; });
  if (same == flows.end())
    flows.push_back({user, c.edge, std::move(value)});
  else
    same->value = plain::combine(same->value, value, [](double a, double b) { return a + b; });
}

}  // namespace

Trace::Trace(MicroTape& tape, NodeId x, NodeId y)
    : tape_(tape),
      x_(x),
      y_(y),
      is_between_(descendants(tape, x, y)),
      adjoints_(y + 1),
      parts_(y + 1) {
  const Node& end = tape.node(y);
  Sweep sweep(tape.var(y), Tensor::full(end.shape(), 1, end.dtype()));
  while (!sweep.done()) {
    const Sweep::Step step = sweep.step();
    if (!is_between_[step.node]) continue;
    for (const Sweep::Contribution& c : step.contributions)
      if (is_between_[c.edge->input()]) add_flow(parts_[c.edge->input()], step.node, c);
  }
  // Of what depends on x, keep what y depends on.
  for (NodeId id = 0; id <= y; ++id) {
    const Var adjoint = sweep.adjoint(id);
    is_between_[id] = is_between_[id] && adjoint.defined();
    if (is_between_[id]) adjoints_[id] = to_array(adjoint.value());
  }
}

std::vector<Flow> Trace::pull(NodeId user, const Array& g) const {
  // A sweep of its own that begins at the user, and takes one step.
  Sweep sweep(tape_.var(user), to_tensor(g).to(tape_.node(user).dtype()));
  std::vector<Flow> out;
  for (const Sweep::Contribution& c : sweep.step().contributions)
    if (is_between(c.edge->input())) add_flow(out, user, c);
  return out;
}

Array Trace::pull(const Flow& part, const Array& g) const {
  for (Flow& other : pull(part.user, g))
    if (other.edge == part.edge) return std::move(other.value);
  return {};
}

std::vector<bool> descendants(const MicroTape& tape, NodeId x, NodeId end) {
  std::vector<bool> out(end + 1);
  if (x > end) return out;
  out[x] = true;
  for (NodeId id = x + 1; id <= end; ++id)
    for (const Edge& edge : tape.node(id).edges())
      if (edge.is_active() && out[edge.input()]) out[id] = true;
  return out;
}

Array generic(const Shape& shape, DType dtype, std::uint64_t seed) {
  return to_array(Tensor::uniform(shape, 0.5, 1, seed, dtype));
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

bool is_elementwise(const MicroTape& tape, const Node& node) {
  for (const Edge& edge : node.edges())
    if (tape.node(edge.input()).shape() != node.shape()) return false;
  return has_word(
      "add sub neg mul div ratio scale pow maximum minimum clamp where exp expm1 log log1p sqrt "
      "rsqrt square reciprocal softplus sin cos tanh sigmoid erf abs relu silu gelu gelu_tanh",
      node.op());
}

std::vector<std::vector<Index>> rows_of(const Node& node, const Shape& shape) {
  for (const Attribute& attribute : node.attributes()) {
    if (attribute.name() == "axes") return plain::groups(shape, attribute.list());
    if (attribute.name() != "axis") continue;
    const auto axis = static_cast<Index>(attribute.number());
    if (axis >= -shape.rank() && axis < shape.rank()) return plain::groups(shape, axis);
  }
  return {};
}

bool is_zero(const Array& a) {
  return std::all_of(a.values.begin(), a.values.end(), [](double v) { return v == 0; });
}

}  // namespace microtape
