#include <microtape/tape/view/diff_match.hpp>

#include <algorithm>
#include <map>

#include <microtape/core/format.hpp>
#include <microtape/tape/view/graph_text.hpp>

namespace microtape {
namespace {

/// Finds the edge of b that is to its op what `edge` is to a's: of the same name, and the same
/// among those that share it.
const Edge* counterpart(const Node& a, const Edge& edge, const Node& b) {
  std::ptrdiff_t skip = std::count_if(
      a.edges().data(), &edge, [&edge](const Edge& other) { return other.name() == edge.name(); });
  for (const Edge& other : b.edges())
    if (other.name() == edge.name() && skip-- == 0) return &other;
  return nullptr;
}

/// Everything but the name and the inputs.
std::string kind_of(const Node& node) {
  return cat(static_cast<int>(node.kind()), " ", node.op(), " ", node.shape(), " ", node.dtype(),
      " ", node.formula(), " ", exact_attributes(node));
}

class Matcher {
 public:
  Matcher(const MicroTape& a, const MicroTape& b) : a_(a), b_(b) {
    to_b_.assign(a.size(), kNoNode);
    to_a_.assign(b.size(), kNoNode);
    users_of_b_.resize(b.size());
    for (NodeId id = 0; id < b.size(); ++id) {
      by_key_[key(b, id, {})].push_back(id);
      for (const Edge& edge : b.node(id).edges()) users_of_b_[edge.input()].push_back(id);
    }
  }

  Matching run() {
    match_equal();
    match_names();
    match_sources();
    match_equal();
    match_last();
    match_inputs();
    match_users();
    return {std::move(to_b_), std::move(to_a_)};
  }

 private:
  void pair(NodeId a, NodeId b) {
    to_b_[a] = b;
    to_a_[b] = a;
  }
  bool is_open_a(NodeId id) const { return to_b_[id] == kNoNode; }
  bool is_open_b(NodeId id) const { return to_a_[id] == kNoNode; }

  /// What a node is, and of which nodes of b; empty if an input corresponds to none.
  static std::string key(const MicroTape& tape, NodeId id, const std::vector<NodeId>& to_b) {
    std::string text = kind_of(tape.node(id));
    for (const Edge& edge : tape.node(id).edges()) {
      const NodeId input = to_b.empty() ? edge.input() : to_b[edge.input()];
      if (input == kNoNode) return "";
      text += cat(" ", edge.name(), " ", input);
    }
    return text;
  }

  /// Nodes that are computed alike from nodes that correspond; of the same name, if both have one.
  void match_equal() {
    for (NodeId id = 0; id < a_.size(); ++id) {
      if (!is_open_a(id)) continue;
      const auto found = by_key_.find(key(a_, id, to_b_));
      if (found == by_key_.end()) continue;
      const std::string_view name = a_.node(id).name();
      NodeId best = kNoNode;
      for (const NodeId other : found->second) {
        if (!is_open_b(other)) continue;
        const std::string_view its = b_.node(other).name();
        if (its == name || (best == kNoNode && (its.empty() || name.empty()))) best = other;
        if (its == name) break;
      }
      if (best != kNoNode) pair(id, best);
    }
  }

  /// The only nodes of a name.
  void match_names() {
    std::map<std::string_view, std::pair<std::vector<NodeId>, std::vector<NodeId>>> named;
    for (NodeId id = 0; id < a_.size(); ++id)
      if (is_open_a(id)) named[a_.node(id).name()].first.push_back(id);
    for (NodeId id = 0; id < b_.size(); ++id)
      if (is_open_b(id)) named[b_.node(id).name()].second.push_back(id);
    for (const auto& [name, both] : named)
      if (!name.empty() && both.first.size() == 1 && both.second.size() == 1)
        pair(both.first[0], both.second[0]);
  }

  /// Leaves, parameters and constants that only their names tell apart, in order.
  void match_sources() {
    std::map<std::string, std::vector<NodeId>> open;
    for (NodeId id = b_.size(); id-- > 0;)
      if (is_open_b(id) && b_.node(id).kind() != NodeKind::op)
        open[kind_of(b_.node(id))].push_back(id);
    for (NodeId id = 0; id < a_.size(); ++id) {
      if (!is_open_a(id) || a_.node(id).kind() == NodeKind::op) continue;
      const auto found = open.find(kind_of(a_.node(id)));
      if (found == open.end() || found->second.empty()) continue;
      pair(id, found->second.back());
      found->second.pop_back();
    }
  }

  /// The last nodes, if one op made both.
  void match_last() {
    if (a_.size() == 0 || b_.size() == 0) return;
    const NodeId a = a_.size() - 1, b = b_.size() - 1;
    if (is_open_a(a) && is_open_b(b) && a_.node(a).op() == b_.node(b).op()) pair(a, b);
  }

  /// From users to inputs: what stands in the same place, if one op made both.
  void match_inputs() {
    for (NodeId id = a_.size(); id-- > 0;) {
      if (is_open_a(id)) continue;
      const Node &a = a_.node(id), &b = b_.node(to_b_[id]);
      for (const Edge& edge : a.edges()) {
        const Edge* other = counterpart(a, edge, b);
        if (!other || !is_open_a(edge.input()) || !is_open_b(other->input())) continue;
        if (a_.node(edge.input()).op() == b_.node(other->input()).op())
          pair(edge.input(), other->input());
      }
    }
  }

  /// From inputs to users: the same op of a node that corresponds.
  void match_users() {
    for (NodeId id = 0; id < a_.size(); ++id) {
      if (!is_open_a(id)) continue;
      const NodeId other = like_user(id);
      if (other != kNoNode) pair(id, other);
    }
  }

  NodeId like_user(NodeId id) const {
    const Node& a = a_.node(id);
    for (const Edge& edge : a.edges()) {
      if (is_open_a(edge.input())) continue;
      const NodeId input = to_b_[edge.input()];
      for (const NodeId user : users_of_b_[input]) {
        if (!is_open_b(user) || b_.node(user).op() != a.op()) continue;
        const Edge* other = counterpart(a, edge, b_.node(user));
        if (other && other->input() == input) return user;
      }
    }
    return kNoNode;
  }

  const MicroTape &a_, &b_;
  std::vector<NodeId> to_b_, to_a_;
  std::map<std::string, std::vector<NodeId>> by_key_;  // of b
  std::vector<std::vector<NodeId>> users_of_b_;
};

}  // namespace

std::string exact_attributes(const Node& node) {
  std::string text;
  for (const Attribute& attribute : node.attributes())
    text += cat(text.empty() ? "" : ", ", attribute.name(), " = ",
        attribute.is_list() ? cat(attribute.list()) : exact(attribute.number()));
  return text;
}

std::vector<std::string> attribute_texts(const Node& node) {
  std::vector<std::string> out;
  for (const Attribute& attribute : node.attributes()) out.push_back(attribute_text(attribute));
  return out;
}

Matching match(const MicroTape& expected, const MicroTape& actual) {
  return Matcher(expected, actual).run();
}

}  // namespace microtape
