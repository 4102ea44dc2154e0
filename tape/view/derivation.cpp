#include <microtape/tape/view/derivation.hpp>

#include <iterator>
#include <map>
#include <utility>

#include <microtape/core/error.hpp>
#include <microtape/tape/view/derivation_fold.hpp>
#include <microtape/tape/view/formula_rules.hpp>

namespace microtape {
namespace {

using Link = DerivationGraph::Link;

/// Writes the equations in their order.
class Writer {
 public:
  Writer(const DerivationGraph& graph, DerivationForm form, const std::vector<bool>& is_named)
      : graph_(graph), nodes_(graph, form, is_named), size_(is_named.size()) {}

  std::vector<Equation> write();
  /// What got a name only when its user had been written.
  const std::vector<NodeId>& named_late() const { return named_late_; }

 private:
  void find_names();
  void count_contributions();
  void pass_on(NodeId named);
  void complete(NodeId id);

  const DerivationGraph& graph_;
  Folding nodes_;
  std::size_t size_;
  std::vector<std::uint32_t> pending_;         // [node]: contributions still to come
  std::vector<bool> is_reached_, has_passed_;  // [node]
  std::map<NodeId, std::vector<Term>> terms_;  // of adjoints that are not complete
  std::vector<Equation> adjoints_;
  std::vector<NodeId> named_late_;
};

std::vector<Equation> Writer::write() {
  find_names();
  std::vector<bool> was_named;
  for (NodeId id = 0; id < size_; ++id) was_named.push_back(nodes_.is_named(id));

  // Visit every named node after all of its users.
  count_contributions();
  for (NodeId id = graph_.y() + 1; id-- > 0;)
    if (is_reached_[id] && nodes_.is_named(id) && !has_passed_[id]) pass_on(id);

  // Only now the values: rules too may have asked for names.
  std::vector<Equation> all;
  for (NodeId id = 0; id < size_; ++id) {
    if (nodes_.is_named(id) && !was_named[id]) named_late_.push_back(id);
    if (!graph_.is_shown(id) || graph_.is_source(id) || !nodes_.is_named(id)) continue;
    const Formula left = graph_.name(id);
    all.push_back({id, false, left, line_form(nodes_.right_side(id, left, {{id}}), LineOf::value)});
    nodes_.forget();
  }
  std::move(adjoints_.begin(), adjoints_.end(), std::back_inserter(all));
  return all;
}

/// Names what makes a line of values too long.
void Writer::find_names() {
  for (NodeId id = 0; id < size_; ++id) {
    if (!graph_.is_shown(id) || graph_.is_source(id)) continue;
    nodes_.right_side(id, graph_.name(id), {{id}});
    if (nodes_.is_named(id)) nodes_.forget();
  }
}

void Writer::count_contributions() {
  has_passed_.assign(size_, false);
  is_reached_.assign(size_, false);
  pending_.assign(size_, 0);
  is_reached_[graph_.y()] = true;
  for (NodeId id = graph_.y() + 1; id-- > 0;) {
    if (!is_reached_[id]) continue;
    for (const Link& link : graph_.links(id)) {
      if (!link.is_active) continue;
      is_reached_[link.input] = true;
      ++pending_[link.input];
    }
  }
}

/// Passes the adjoint of a named node on to its inputs, through folded nodes to named ones.
void Writer::pass_on(NodeId named) {
  struct Visit {
    NodeId node;
    std::size_t next;  ///< link
  };
  std::vector<Visit> path{{named, 0}};
  while (!path.empty()) {
    Visit& at = path.back();
    has_passed_[at.node] = true;
    const std::vector<Link>& links = graph_.links(at.node);
    if (at.next == links.size()) {
      path.pop_back();
      continue;
    }
    const Link& link = links[at.next++];
    if (!link.is_active) continue;
    terms_[link.input].push_back({at.node, &link});
    if (--pending_[link.input] > 0) continue;
    complete(link.input);
    if (!nodes_.is_named(link.input)) path.push_back({link.input, 0});
  }
  nodes_.forget();
}

/// Writes the adjoint of a node, all of whose terms are there.
void Writer::complete(NodeId id) {
  const Formula left = graph_.adjoint_name(id);
  const std::vector<Term> terms = std::move(terms_.extract(id).mapped());
  const Formula right = nodes_.right_side(id, left, terms);
  for (Equation& equation : nodes_.take_unfolded()) adjoints_.push_back(std::move(equation));
  if (nodes_.is_named(id))
    adjoints_.push_back({id, true, left, line_form(right, LineOf::adjoint)});
  else
    nodes_.fold_adjoint(id, terms[0]);
}

}  // namespace

Derivation derivation(const MicroTape& tape, const Var& y, const DerivationOptions& options) {
  if (y.tape() != &tape)
    throw TapeError("derivation: y stands on another tape, or on none; give the tape of y");
  if (y.node() == kNoNode || !tape.node(y.node()).is_active())
    throw TapeError(
        "derivation: y is a constant: it depends on no leaf or parameter of the tape; "
        "there is nothing to derive");
  const DerivationGraph graph(tape, y.node(), options.scopes);

  // What got a name late might have saved others theirs: begin again with it.
  constexpr int kRounds = 3;
  std::vector<bool> is_named(std::size_t{graph.y()} + 1);
  Derivation out{graph.y(), {}, {}};
  for (int round = 0; round < kRounds; ++round) {
    Writer writer(graph, options.form, is_named);
    out.equations = writer.write();
    if (writer.named_late().empty()) break;
    for (const NodeId id : writer.named_late()) is_named[id] = true;
  }

  for (NodeId id = 0; id <= out.y; ++id)
    if (graph.is_shown(id) && graph.is_source(id)) out.given.push_back({id, false, graph.name(id)});
  out.given.push_back({out.y, true, graph.adjoint_name(out.y)});
  return out;
}

}  // namespace microtape
