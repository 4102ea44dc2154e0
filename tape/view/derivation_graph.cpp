#include <microtape/tape/view/derivation_graph.hpp>

#include <set>
#include <string>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/view/formula_rules.hpp>
#include <microtape/tape/view/formula_shape.hpp>

namespace microtape {
namespace {

/// Says which node recorded a formula that cannot be read.
template <class F>
Formula read(const MicroTape& tape, NodeId id, std::string_view which, F&& f) {
  try {
    return f();
  } catch (const ValueError& error) {
    if (tape.node(id).formula().empty())
      throw ValueError(cat("derivation: node #", id, " (", tape.node(id).op(),
          ") has no formula; an op that is to be derived needs one, and what stands in a "
          "checkpoint() is not on the tape"));
    throw ValueError(cat("derivation: ", which, " of node #", id, " (", tape.node(id).op(),
        ") cannot be read: ", error.what()));
  }
}

}  // namespace

DerivationGraph::DerivationGraph(const MicroTape& tape, NodeId y, ScopeLines scopes)
    : tape_(tape), y_(y) {
  show_inputs();
  if (scopes == ScopeLines::one) {
    lines_ = scope_lines(tape, y, is_shown_);
    // What is inside a scope that is a line vanishes.
    if (!lines_.empty()) show_inputs();
  }
  tell_names_apart();
}

void DerivationGraph::show_inputs() {
  is_shown_.assign(std::size_t{y_} + 1, false);
  is_shown_[y_] = true;
  links_.assign(is_shown_.size(), {});
  for (NodeId id = y_ + 1; id-- > 0;) {
    if (!is_shown_[id]) continue;
    links_[id] = find_links(id);
    for (const Link& link : links_[id]) is_shown_[link.input] = true;
  }
}

std::vector<DerivationGraph::Link> DerivationGraph::find_links(NodeId id) const {
  const Node& node = tape_.node(id);
  if (const auto line = lines_.find(id); line != lines_.end())
    return {{line->second.input, node.is_active(), nullptr}};
  std::vector<Link> out;
  for (const Edge& edge : node.edges())
    out.push_back({edge.input(), node.is_active() && edge.is_active(), &edge});
  return out;
}

// --- names ---------------------------------------------------------------------------------------

void DerivationGraph::tell_names_apart() {
  // Count what each node and its adjoint may be called, with and without the number.
  std::map<std::string, int> uses;
  std::set<std::string> with_number;
  for (NodeId id = 0; id <= y_; ++id) {
    if (!is_shown_[id]) continue;
    const std::string name = node_name(tape_, id), numbered = cat(name, "#", id);
    for (const std::string& whole : {name, numbered}) {
      ++uses[whole];
      ++uses["d" + whole];
    }
    with_number.insert(numbered);
  }
  is_numbered_.assign(is_shown_.size(), false);
  for (NodeId id = 0; id <= y_; ++id) {
    if (!is_shown_[id] || !has_name(id)) continue;
    const std::string name = node_name(tape_, id);
    is_numbered_[id] = uses[name] > 1 || with_number.contains("d" + name);
  }
}

Formula DerivationGraph::numbered(NodeId id, std::string_view before) const {
  Formula name = node_formula(tape_, id, NodeNames::given, before);
  if (!is_numbered_[id]) return name;
  const bool is_plain = name.latex == name.text;
  name.text += cat("#", id);
  name.latex = is_plain ? name.text : cat("{", name.latex, "}_{\\#", id, "}");
  return name;
}

// --- equations -----------------------------------------------------------------------------------

Formula DerivationGraph::forward(NodeId id, NodeFormula value) const {
  const auto line = lines_.find(id);
  const Formula f = read(tape_, id, "the formula", [&] {
    if (line == lines_.end()) return forward_equation(tape_, id, value);
    const std::string& text = tape_.scopes()[line->second.scope].formula;
    return substitute(with_target(parse_formula(text), tape_.node(id).shape()),
        {{"x", {value(line->second.input)}}});
  });
  return with_shape(f, tape_.node(id).shape());
}

Formula DerivationGraph::rule(
    NodeId id, const Link& link, NodeFormula value, NodeFormula adjoint) const {
  const Shape shape = tape_.node(link.input).shape();
  const auto line = lines_.find(id);
  const Formula f = read(tape_, id, "the rule", [&] {
    if (line == lines_.end()) return rule_equation(tape_, id, *link.edge, value, adjoint);
    const std::string& text = tape_.scopes()[line->second.scope].rule;
    return substitute(with_target(parse_formula(text), shape),
        {{"x", {value(link.input)}}, {"y", {value(id)}}, {"g", {adjoint(id)}}});
  });
  return with_shape(f, shape);
}

}  // namespace microtape
