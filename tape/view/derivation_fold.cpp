#include <microtape/tape/view/derivation_fold.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <microtape/tape/view/formula_rules.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

using Link = DerivationGraph::Link;

constexpr std::size_t kLongest = 80;  ///< columns of a line

std::size_t width(const Formula& f) { return utf8::display_width(to_text(f)); }

}  // namespace

Folding::Folding(const DerivationGraph& graph, DerivationForm form, std::vector<bool> is_named)
    : graph_(graph), form_(form), is_named_(std::move(is_named)), adjoint_terms_(is_named_.size()) {
  std::vector<std::uint32_t> uses(is_named_.size());
  for (NodeId id = 0; id <= graph.y(); ++id)
    for (const Link& link : graph.links(id)) ++uses[link.input];
  for (NodeId id = 0; id <= graph.y(); ++id)
    if (uses[id] != 1 || graph.is_source(id) || graph.has_name(id)) is_named_[id] = true;
}

void Folding::forget() {
  values_.clear();
  adjoints_.clear();
}

// --- right sides ---------------------------------------------------------------------------------

Formula Folding::right_side(NodeId id, const Formula& left, const std::vector<Term>& terms) {
  std::vector<Written> parts;
  std::size_t total = width(left);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    parts.push_back(part_of(terms, i));
    total += parts.back().width;
  }
  // Shorten the longest term first.
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return parts[a].width != parts[b].width ? parts[a].width > parts[b].width : a < b;
  });
  for (const std::size_t i : order) {
    while (total > kLongest && name_longest(parts[i])) {
      total -= parts[i].width;
      parts[i] = part_of(terms, i);
      total += parts[i].width;
    }
  }
  if (total > kLongest && !is_named_[id]) name(id);

  if (!is_named_[id]) (terms[0].rule ? adjoints_ : values_)[id] = parts[0].formula;
  if (parts.size() == 1) return parts[0].formula;
  std::vector<Formula> formulas;
  for (Written& part : parts) formulas.push_back(std::move(part.formula));
  return in_form(sum_of(formulas));
}

/// Term i of a sum, with its width.
Folding::Written Folding::part_of(const std::vector<Term>& terms, std::size_t i) {
  Written part = written(terms[i]);
  const LineOf line = terms[i].rule ? LineOf::adjoint : LineOf::value;
  part.width = 3 + width(terms.size() == 1 ? line_form(part.formula, line) : part.formula);
  return part;
}

Folding::Written Folding::written(const Term& term) {
  Written out;
  const auto of_value = [&](NodeId id) {
    if (!is_named_[id]) out.folded.push_back({id, false});
    return value(id);
  };
  const auto of_adjoint = [&](NodeId id) {
    if (!is_named_[id]) out.folded.push_back({id, true});
    return adjoint(id);
  };
  out.formula = in_form(term.rule ? graph_.rule(term.node, *term.rule, of_value, of_adjoint)
                                  : graph_.forward(term.node, of_value));
  return out;
}

Formula Folding::in_form(Formula f) const {
  return form_ == DerivationForm::textbook ? textbook_form(std::move(f))
                                           : literal_form(std::move(f));
}

// --- what stands for a node ----------------------------------------------------------------------

Formula Folding::value(NodeId id) {
  if (is_named_[id]) return graph_.name(id);
  if (!values_.contains(id)) compute_values(id);
  return values_.at(id);
}

Formula Folding::adjoint(NodeId id) {
  if (is_named_[id]) return graph_.adjoint_name(id);
  if (!adjoints_.contains(id)) compute_adjoints(id);
  return adjoints_.at(id);
}

/// Of a folded node and all that is folded into it; no recursion, which might go deep.
void Folding::compute_values(NodeId id) {
  std::vector<NodeId> missing{id};
  for (std::size_t i = 0; i < missing.size(); ++i)
    for (const Link& link : graph_.links(missing[i]))
      if (!is_named_[link.input] && !values_.contains(link.input)) missing.push_back(link.input);
  std::sort(missing.begin(), missing.end());
  for (const NodeId node : missing) values_[node] = written({node}).formula;
}

/// Of a folded node, and before it of those that it comes from.
void Folding::compute_adjoints(NodeId id) {
  std::vector<NodeId> missing;
  for (; !is_named_[id] && !adjoints_.contains(id); id = adjoint_terms_[id].node)
    missing.push_back(id);
  for (; !missing.empty(); missing.pop_back())
    adjoints_[missing.back()] = written(adjoint_terms_[missing.back()]).formula;
}

// --- names ---------------------------------------------------------------------------------------

/// Names the longest of what is folded into a part; false if no name would be shorter.
bool Folding::name_longest(const Written& part) {
  std::size_t longest = 0;
  NodeId found = kNoNode;
  for (const auto& [node, is_adjoint] : part.folded) {
    const Formula f = is_adjoint ? adjoint(node) : value(node);
    const std::size_t w = width(f);
    const std::size_t w_name = width(is_adjoint ? graph_.adjoint_name(node) : graph_.name(node));
    if (f.kind == Formula::Kind::name || w <= w_name || w <= longest) continue;
    longest = w;
    found = is_adjoint ? origin_of_adjoint(node) : node;
  }
  if (found == kNoNode) return false;
  name(found);
  return true;
}

/// Where a folded node's adjoint comes from unchanged: d(A + b) rather than dA.
NodeId Folding::origin_of_adjoint(NodeId id) {
  for (;;) {
    const NodeId user = adjoint_terms_[id].node;
    if (is_named_[user] || !(adjoint(user) == adjoint(id))) return id;
    id = user;
  }
}

void Folding::name(NodeId id) {
  const bool had_adjoint = adjoint_terms_[id].rule != nullptr;
  if (had_adjoint)
    unfolded_.push_back(
        {id, true, graph_.adjoint_name(id), line_form(adjoint(id), LineOf::adjoint)});
  is_named_[id] = true;
  forget();  // it may stand in any of them
}

}  // namespace microtape
