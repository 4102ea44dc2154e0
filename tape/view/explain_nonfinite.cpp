// The part of explain_cause.hpp about NaN and infinities.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <microtape/tape/view/explain_cause.hpp>

namespace microtape {
namespace {

/// g with 0 for each NaN and infinity, but those from begin to end.
Array tamed(Array g, Index begin, Index end) {
  for (Index i = 0; i < g.size(); ++i)
    if (!std::isfinite(g[i]) && (i < begin || i >= end)) g[i] = 0;
  return g;
}

}  // namespace

Spoiler cause_of_nonfinite(const Trace& trace, Index entry) {
  NodeId id = trace.x();
  for (;;) {
    const std::vector<Flow>& parts = trace.parts(id);
    const auto part = std::find_if(
        parts.begin(), parts.end(), [&](const Flow& p) { return !std::isfinite(p.value[entry]); });
    if (part == parts.end()) return {id, nullptr, entry, true};
    const Array& g = trace.adjoint(part->user);
    id = part->user;
    if (is_elementwise(trace.tape(), trace.tape().node(id)) && !std::isfinite(g[entry])) continue;
    const auto spoils = [&](const Array& other) {
      return !std::isfinite(trace.pull(*part, other)[entry]);
    };
    // A rule that spoils finite adjoints is the cause.
    const Array finite = tamed(g, 0, 0);
    if (spoils(finite)) {
      const Array small = plain::map(finite, [](double v) { return std::copysign(0x1p-60, v); });
      return {id, part->edge, entry, !spoils(small)};
    }
    // Halve the adjoint until one entry is left that does it.
    Index begin = 0, end = g.size();
    while (end - begin > 1) {
      const Index middle = begin + (end - begin) / 2;
      (spoils(tamed(g, begin, middle)) ? end : begin) = middle;
    }
    entry = begin;
  }
}

namespace {

/// The entries of numbers of one shape that may meet an entry of another shape in an op.
std::vector<Index> partners(
    const MicroTape& tape, const Node& node, const Shape& shape, const Shape& of, Index entry) {
  if (is_elementwise(tape, node)) return {entry};
  std::vector<std::vector<Index>> rows = rows_of(node, shape);
  if (shape == of) {
    for (std::vector<Index>& row : rows)
      if (std::find(row.begin(), row.end(), entry) != row.end()) return std::move(row);
  } else if (!rows.empty() && static_cast<Index>(rows.size()) == of.size()) {
    return rows[static_cast<std::size_t>(entry)];
  }
  std::vector<Index> all(static_cast<std::size_t>(shape.size()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// How much each entry of an input counts for an entry of the result, as the rule tells.
Array influence(MicroTape& tape, Place at, const Edge& edge) {
  const Node& node = tape.node(at.node);
  Array g = Array::zeros(node.shape());
  g[at.entry] = 1;
  Sweep sweep(tape.var(at.node), to_tensor(g).to(node.dtype()));
  for (const Sweep::Contribution& c : sweep.step().contributions)
    if (c.edge == &edge) return to_array(c.value.value());
  return {};
}

/// A NaN or an infinity among the inputs of an op, which the one in its result comes from.
Place origin(MicroTape& tape, Place at) {
  const Node& node = tape.node(at.node);
  for (const bool counts_all : {false, true})
    for (const Edge& edge : node.edges()) {
      Array input = to_array(tape.node(edge.input()).value());
      // A rule of an op that moves numbers knows where they come from.
      if (!counts_all && edge.is_active() && !is_elementwise(tape, node)) {
        const Array counts = influence(tape, at, edge);
        for (Index i = 0; i < input.size(); ++i)
          if (counts[i] == 0) input[i] = 0;
      }
      const Index i = first_spoiled(tape, node, input, node.shape(), at.entry);
      if (i >= 0) return {edge.input(), i};
    }
  return {};
}

}  // namespace

Index first_spoiled(
    const MicroTape& tape, const Node& node, const Array& a, const Shape& of, Index entry) {
  Index found = -1;
  // A NaN spoils whatever it meets, an infinity not always, least of all -inf.
  const auto rank = [&](Index i) { return std::isnan(a[i]) ? 3 : a[i] > 0 ? 2 : 1; };
  for (const Index i : partners(tape, node, a.shape, of, entry))
    if (!std::isfinite(a[i]) && (found < 0 || rank(i) > rank(found))) found = i;
  return found;
}

Place source_of_nonfinite(MicroTape& tape, Place at) {
  for (Place from = at; from.node != kNoNode; from = origin(tape, at)) at = from;
  return at;
}

}  // namespace microtape
