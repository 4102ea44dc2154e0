#include <microtape/tape/record.hpp>

#include <algorithm>

#include <microtape/core/format.hpp>
#include <microtape/tape/finite.hpp>

namespace microtape {

MicroTape* common_tape(const Op& op, std::span<const Input> inputs) {
  MicroTape* tape = nullptr;
  for (const Input& input : inputs) {
    MicroTape* other = nullptr;
    try {
      other = input.var->tape();
    } catch (const TapeError&) {
      throw TapeError(cat(op.name.text(), ": ", input.name,
          " is from a tape that was cleared or destroyed since; compute it again"));
    }
    if (tape && other && tape != other)
      throw TapeError(
          cat(op.name.text(), ": the inputs stand on two tapes; put all of them on one"));
    if (other) tape = other;
  }
  return tape;
}

void add_scope(const MicroTape* tape, Error& error) {
  if (tape && tape->current_scope() != 0) error.add_place(tape->scope_path(tape->current_scope()));
}

Var MicroTape::push(const Op& op, Tensor value, std::span<Input> inputs, const Stopwatch& watch) {
  const float seconds = watch.seconds();
  if (check_ == Check::finite && running_steps_ == 0) finite::check_made(op, value, inputs);
  bool active = false;
  for (Input& input : inputs) {
    input.node = input.var->node();
    input.active = input.rule.table && input.node != kNoNode && at(input.node).active_ &&
                   is_floating(value.dtype());
    active |= input.active;
  }
  if (!active && keep_ == Keep::needed) return Var(std::move(value), slot_, kNoNode);

  const NodeId first = size_;
  NodeId id = kNoNode;  // not size_ - 1 at the end: to copy a rule may record as well
  try {
    // A plain input becomes a constant of the tape, so that the picture is whole. Constants come
    // first: inputs stand before their users.
    if (keep_ == Keep::everything)
      for (Input& input : inputs)
        if (input.node == kNoNode)
          input.node = add_source(NodeKind::constant, input.var->value(), "", "").node();

    //! [push]
    Node& node = append_node();
    id = size_ - 1;
    node.op_ = op.name.text();
    node.formula_ = op.formula.text();
    node.dtype_ = value.dtype();
    node.active_ = active;
    node.forward_seconds_ = seconds;
    store_attributes(node, op);
    store_inputs(node, value, inputs);
    //! [push]
  } catch (...) {  // a rule that cannot be copied, or no memory
    drop_nodes(first);
    throw;
  }
  return Var(std::move(value), slot_, id);
}

Attribute* MicroTape::copy_attributes(const Attribute* from, std::size_t count) {
  auto* copies = reinterpret_cast<Attribute*>(arena_.take(count * sizeof(Attribute)));
  for (std::size_t i = 0; i < count; ++i) {
    auto* copy = new (copies + i) Attribute(from[i]);
    if (!copy->symbol().empty()) copy->symbol_ = copy_texts(copy->symbol());
    if (copy->is_list_) {
      auto* list = reinterpret_cast<Index*>(arena_.take(copy->count_ * sizeof(Index)));
      copy->list_ = std::copy_n(copy->list_, copy->count_, list) - copy->count_;
    }
  }
  return copies;
}

void MicroTape::store_attributes(Node& node, const Op& op) {
  if (op.attributes.size() == 0) return;
  node.attributes_ = copy_attributes(op.attributes.begin(), op.attributes.size());
  node.attribute_count_ = static_cast<std::uint16_t>(op.attributes.size());
}

void* MicroTape::store_rule(const Node& node, const RuleRef& rule) {
  if (rule.table->size == 0) return nullptr;
  if (rule.table->call_joint)  // stored once for all its inputs
    for (const Edge& edge : node.edges())
      if (edge.is_joint()) return edge.rule_;
  void* place = arena_.take(rule.table->size);
  rule.construct(place, rule.rule);
  return place;
}

void MicroTape::store_inputs(Node& node, const Tensor& value, std::span<Input> inputs) {
  // A Keep::needed tape stores only the edges along which an adjoint flows, and the value only if
  // one of their rules takes it; otherwise the extents.
  const bool keeps_all = keep_ == Keep::everything;
  std::size_t count = 0;
  bool has_value = keeps_all;
  for (const Input& input : inputs) {
    count += keeps_all || input.active;
    has_value |= input.active && input.rule.table->wants_y;
  }
  if (has_value) node.value_ = value;
  const std::span<const Index> extents = has_value ? std::span<const Index>() : value.extents();

  // The extents end where the edges begin, so that Node::shape() finds them from there.
  const std::size_t before = Arena::rounded(extents.size_bytes());
  auto* edges = reinterpret_cast<Edge*>(arena_.take(before + count * sizeof(Edge)) + before);
  std::copy(extents.begin(), extents.end(), reinterpret_cast<Index*>(edges) - extents.size());
  node.edges_ = edges;
  node.rank_ = static_cast<std::uint8_t>(extents.size());
  for (const Input& input : inputs) {
    if (!keeps_all && !input.active) continue;
    auto* edge = new (edges + node.edge_count_++) Edge();
    edge->name_ = input.name;
    edge->formula_ = input.formula;
    edge->input_ = input.node;
    if (input.attribute) edge->attribute_ = copy_attributes(input.attribute, 1);
    edge->position_ = static_cast<std::uint32_t>(&input - inputs.data());
    if (!input.active) continue;
    edge->rule_ = store_rule(node, input.rule);
    edge->table_ = input.rule.table;  // only now: what has a table is destroyed
  }
}

}  // namespace microtape
