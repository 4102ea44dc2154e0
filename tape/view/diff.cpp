#include <microtape/tape/view/diff.hpp>

#include <algorithm>

#include <microtape/core/format.hpp>
#include <microtape/tape/view/diff_match.hpp>
#include <microtape/tape/view/equation.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

class Overlay {
 public:
  Overlay(const MicroTape& expected, const MicroTape& actual)
      : expected_(expected), actual_(actual), matching_(match(expected, actual)) {}

  GraphDiff run() {
    // Number the items, so that edges can refer to them.
    item_of_actual_.resize(actual_.size());
    std::size_t count = expected_.size();
    for (NodeId id = 0; id < actual_.size(); ++id) {
      const NodeId other = matching_.expected_of[id];
      item_of_actual_[id] = other == kNoNode ? count++ : other;
    }

    GraphDiff diff;
    for (NodeId id = 0; id < expected_.size(); ++id) {
      const NodeId other = matching_.actual_of[id];
      diff.items.push_back(
          other == kNoNode ? alone(expected_, id, Fate::missing) : both(id, other));
    }
    for (NodeId id = 0; id < actual_.size(); ++id)
      if (matching_.expected_of[id] == kNoNode)
        diff.items.push_back(alone(actual_, id, Fate::extra));
    return diff;
  }

 private:
  static GraphDiff::Item item_for(const MicroTape& tape, NodeId id) {
    const Node& node = tape.node(id);
    GraphDiff::Item item;
    item.kind = node.kind();
    item.text = node_name(tape, id);
    if (node.kind() == NodeKind::op) item.text += " = " + forward_text(tape, id);
    item.detail = cat(node.op(), " ", node.shape());
    if (node.attributes().size() > 0) item.detail += ", " + joined(attribute_texts(node));
    return item;
  }

  GraphDiff::Item alone(const MicroTape& tape, NodeId id, Fate fate) const {
    GraphDiff::Item item = item_for(tape, id);
    item.fate = fate;
    (fate == Fate::missing ? item.expected : item.actual) = id;
    for (const Edge& edge : tape.node(id).edges()) {
      const std::size_t from = fate == Fate::missing ? edge.input() : item_of_actual_[edge.input()];
      item.inputs.push_back({std::string(edge.name()), from, fate});
    }
    return item;
  }

  GraphDiff::Item both(NodeId id, NodeId other) const {
    const Node &before = expected_.node(id), &after = actual_.node(other);
    GraphDiff::Item item = item_for(actual_, other);
    item.expected = id;
    item.actual = other;
    item.changes = changes(before, after);
    // Lay the edges over one another.
    const bool is_same_op = before.op() == after.op();
    std::vector<GraphDiff::Input> lost = alone(expected_, id, Fate::missing).inputs;
    for (const Edge& edge : after.edges()) {
      GraphDiff::Input input{std::string(edge.name()), item_of_actual_[edge.input()], Fate::same};
      const auto same = std::find_if(lost.begin(), lost.end(),
          [&input](const auto& x) { return x.name == input.name && x.from == input.from; });
      if (same != lost.end()) {
        lost.erase(same);
      } else {
        input.fate = Fate::extra;
        if (is_same_op)
          item.changes.push_back(cat(input.name, " is ", node_name(actual_, edge.input())));
      }
      item.inputs.push_back(std::move(input));
    }
    for (GraphDiff::Input& input : lost) {
      const auto from = static_cast<NodeId>(input.from);  // items begin with the expected nodes
      if (is_same_op)
        item.changes.push_back(cat(input.name, " is not ", node_name(expected_, from)));
      item.inputs.push_back(std::move(input));
    }
    item.fate = item.changes.empty() ? Fate::same : Fate::changed;
    return item;
  }

  /// What differs between two nodes themselves, as "new, not old".
  static std::vector<std::string> changes(const Node& before, const Node& after) {
    std::vector<std::string> out;
    const auto compare = [&out](
                             const std::string& what, const std::string& x, const std::string& y) {
      if (x != y)
        out.push_back(cat(what, x.empty() ? "nothing" : x, ", not ", y.empty() ? "nothing" : y));
    };
    compare("", std::string(after.op()), std::string(before.op()));
    compare("shape ", after.shape().str(), before.shape().str());
    compare("", std::string(name(after.dtype())), std::string(name(before.dtype())));
    if (!before.name().empty() && !after.name().empty())
      compare("named ", utf8::printable(after.name()), utf8::printable(before.name()));
    if (before.op() != after.op()) return out;
    compare("formula ", std::string(after.formula()), std::string(before.formula()));
    const std::string now = joined(attribute_texts(after)), was = joined(attribute_texts(before));
    // Four digits are enough where they tell the two apart.
    if (now != was)
      compare("", now, was);
    else
      compare("", exact_attributes(after), exact_attributes(before));
    return out;
  }

  const MicroTape& expected_;
  const MicroTape& actual_;
  const Matching matching_;
  std::vector<std::size_t> item_of_actual_;  // [node of the actual graph]
};

}  // namespace

std::size_t GraphDiff::count(Fate fate) const {
  return static_cast<std::size_t>(std::count_if(
      items.begin(), items.end(), [fate](const Item& item) { return item.fate == fate; }));
}

GraphDiff diff(const MicroTape& expected, const MicroTape& actual) {
  return Overlay(expected, actual).run();
}

}  // namespace microtape
