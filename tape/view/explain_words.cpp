#include <microtape/tape/view/explain_words.hpp>

#include <algorithm>
#include <cmath>

#include <microtape/core/format.hpp>
#include <microtape/tape/view/equation.hpp>
#include <microtape/tape/view/explain_law.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape::words {
namespace {

constexpr std::size_t kNameWidth = 24;
constexpr std::size_t kScopeWidth = 40;
constexpr std::size_t kMostParts = 3;

/// " at [0, 1] and 3 more", of #4 if the op mixes its entries.
std::string places(const Trace& trace, const Cause& cause, const Shape& shape) {
  const MicroTape& tape = trace.tape();
  const auto count = static_cast<Index>(cause.entries.size());
  if (count == shape.size()) return count > 1 ? " everywhere" : "";
  return cat(at(shape, cause.entries.front()), count > 1 ? cat(" and ", count - 1, " more") : "",
      is_elementwise(tape, tape.node(cause.node)) ? ""
                                                  : " of " + short_name(tape, cause.edge->input()));
}

std::string stops_sentence(const Trace& trace, const Cause& cause) {
  const MicroTape& tape = trace.tape();
  const Shape shape = tape.node(cause.edge->input()).shape();
  const std::string head =
      cat(called(tape, cause.node), " stops the adjoint", places(trace, cause, shape), ": ");
  const Law* law = law_of(tape.node(cause.node), *cause.edge);
  if (law && holds(*law, tape, cause.node, shape, cause.entries)) {
    const std::string numbers = numbers_text(*law, tape, cause.node, shape, cause.entries);
    return cat(head, numbers, numbers.empty() ? "" : "; ", law->why, ".");
  }
  const std::string rule = utf8::shortened(rule_text(tape, cause.node, *cause.edge), kScopeWidth);
  return cat(head, "its rule for ", cause.edge->name(), " gives 0 there",
      rule.empty() ? "" : ": " + rule, ".");
}

std::string flat_sentence(const Trace& trace, NodeId id) {
  return cat("The adjoint that arrives at ", called(trace.tape(), id),
      " is the same along each row; but a row of ", trace.tape().node(id).op(),
      " always has the same sum, so there is nothing to gain.");
}

/// "1 from mul #4, -1 from neg #5".
std::string meeting(const Trace& trace, NodeId id, Index entry) {
  std::string out;
  std::size_t count = 0;
  for (const Flow& part : trace.parts(id)) {
    if (part.value[entry] == 0 || ++count > kMostParts) continue;
    out += cat(out.empty() ? "" : ", ", digits(part.value[entry]), " from ",
        trace.tape().node(part.user).op(), " #", part.user);
  }
  return count > kMostParts ? cat(out, " and ", count - kMostParts, " more") : out;
}

}  // namespace

std::string digits(double value) { return number(value == 0 ? 0 : value, 4); }

std::string short_name(const MicroTape& tape, NodeId id) {
  return utf8::shortened(node_name(tape, id), kNameWidth);
}

std::string called(const MicroTape& tape, NodeId id) {
  const Node& node = tape.node(id);
  const std::string op = utf8::shortened(utf8::printable(node.op()), kNameWidth);
  const std::string name = node.name().empty() ? "" : " " + short_name(tape, id);
  const std::string scope = utf8::printable(tape.scope_path(node.scope()));
  return cat(op, name, " #", id, scope.empty() ? "" : " in " + utf8::shortened(scope, kScopeWidth));
}

std::string at(const Shape& shape, Index entry) {
  return shape.rank() == 0 ? "" : cat(" at ", unravel_index(entry, shape));
}

std::string sentence(const Trace& trace, const Cause& cause) {
  const MicroTape& tape = trace.tape();
  const std::string who = called(tape, cause.node);
  const Index first = cause.entries.front();
  switch (cause.kind) {
    case Cause::Kind::stops:
      return stops_sentence(trace, cause);
    case Cause::Kind::underflows:
      return cat(who, ": what its rule for ", cause.edge->name(),
          " makes of the adjoint is so small that ", trace.dtype(cause.node),
          " rounds it to 0 (underflow).");
    case Cause::Kind::cancels:
      if (arrives_flat(trace, cause.node)) return flat_sentence(trace, cause.node);
      return cat("The numbers that ", who, " adds up for ", short_name(tape, cause.edge->input()),
          at(tape.node(cause.edge->input()).shape(), first), " cancel: their sum is 0.");
    case Cause::Kind::meets:
      return cat("What comes to ", who, at(tape.node(cause.node).shape(), first),
          " cancels: ", meeting(trace, cause.node, first), ".");
  }
  return "";
}

std::string source_sentence(const MicroTape& tape, Place source) {
  const Node& node = tape.node(source.node);
  const std::string value = digits(to_array(node.value())[source.entry]);
  const std::string who = called(tape, source.node), where = at(node.shape(), source.entry);
  if (node.kind() != NodeKind::op) return cat(who, " holds ", value, where, ".");
  if (!is_elementwise(tape, node))
    return cat(who, " makes ", value, " of finite numbers", where, ".");
  std::string from;
  for (const Edge& edge : node.edges()) {
    const Array input = to_array(tape.node(edge.input()).value());
    from += cat(from.empty() ? "" : " and ", digits(input[source.entry]));
  }
  return cat(who, " makes ", value, " of ", from, where, ".");
}

Place spoiled_number(const Trace& trace, const Spoiler& spoiler) {
  if (!spoiler.edge || spoiler.overflows) return {};
  const MicroTape& tape = trace.tape();
  const Node& node = tape.node(spoiler.node);
  // What the rule reads: the numbers of its law, or it may be any; and the result.
  std::vector<NodeId> read;
  if (const Law* law = law_of(node, *spoiler.edge))
    read = nodes_of(*law, tape, spoiler.node);
  else
    for (const Edge& edge : node.edges()) read.push_back(edge.input());
  read.push_back(spoiler.node);
  const Shape shape = tape.node(spoiler.edge->input()).shape();
  for (const NodeId id : read) {
    const Array a = to_array(tape.node(id).value());
    const Index i = first_spoiled(tape, node, a, shape, spoiler.entry);
    if (i >= 0) return {id, i};
  }
  return {};
}

std::string sentence(const Trace& trace, const Spoiler& spoiler, Place number) {
  const MicroTape& tape = trace.tape();
  const Node& node = tape.node(spoiler.node);
  const std::string who = called(tape, spoiler.node);
  if (!spoiler.edge)
    return cat("What comes to ", who, at(node.shape(), spoiler.entry),
        " is finite, but its sum is too large for ", node.dtype(), ".");
  const Shape shape = tape.node(spoiler.edge->input()).shape();
  const std::vector<Flow>& parts = trace.parts(spoiler.edge->input());
  const auto part = std::find_if(
      parts.begin(), parts.end(), [&](const Flow& p) { return p.edge == spoiler.edge; });
  std::string arrives = "finite adjoints", because;
  if (is_elementwise(tape, node)) {
    arrives = "an adjoint of " + digits(trace.adjoint(spoiler.node)[spoiler.entry]);
    if (const Law* law = law_of(node, *spoiler.edge))
      because = numbers_text(*law, tape, spoiler.node, shape, {spoiler.entry});
  } else if (number.node != kNoNode) {
    const Array a = to_array(tape.node(number.node).value());
    because = cat(number.node == spoiler.node ? "its result" : short_name(tape, number.node),
        " holds ", digits(a[number.entry]), at(a.shape, number.entry));
  }
  return cat(who, " turns ", arrives, " into ", digits(part->value[spoiler.entry]),
      at(shape, spoiler.entry), because.empty() ? "" : ": " + because,
      spoiler.overflows ? cat("; that is too large for ", node.dtype()) : "", ".");
}

std::string sentence(const Trace& trace, const Shift& shift, std::string_view what) {
  if (shift.is_flat) return flat_sentence(trace, shift.node);
  return cat("A change of ", what, " moves all entries of a row alike, and ",
      called(trace.tape(), shift.node), " sees only their differences.");
}

}  // namespace microtape::words
