#include <microtape/tape/backward.hpp>

#include <algorithm>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/finite.hpp>
#include <microtape/tape/ops/arithmetic.hpp>

namespace microtape {

/// Sets what a tape does while rules run: whether it records, and in which scope.
class Sweep::Mode {
 public:
  Mode(MicroTape* tape, Record record, std::uint32_t scope)
      : tape_(tape), was_recording_(tape->recording_), scope_(tape->scope_) {
    ++tape->running_steps_;
    tape->recording_ = record == Record::yes;
    tape->scope_ = scope;
  }
  ~Mode() {
    --tape_->running_steps_;
    tape_->recording_ = was_recording_;
    tape_->scope_ = scope_;
  }
  Mode(const Mode&) = delete;
  Mode& operator=(const Mode&) = delete;

 private:
  MicroTape* tape_;
  bool was_recording_;
  std::uint32_t scope_;
};

// --- the sweep -------------------------------------------------------------------------------

Sweep::Sweep(const Var& y, const Var& seed, Record record) : y_(y), record_(record) {
  if (!y.is_active())
    throw TapeError(
        "backward: y is a constant: it depends on no leaf or parameter of a tape; "
        "there is nothing to differentiate");
  if (seed.shape() != y.shape())
    throw ShapeError(cat("backward: the seed does not fit: seed ", seed.shape(), ", y ", y.shape(),
        "; the adjoint of y has y's shape"));
  if (seed.dtype() != y.dtype())
    throw DTypeError(cat("backward: the seed does not fit: seed ", seed.dtype(), ", y ", y.dtype(),
        "; convert it with to(", y.dtype(), ")"));
  MicroTape* tape = y.tape();
  if (seed.tape() && seed.tape() != tape)
    throw TapeError("backward: the seed stands on another tape than y; put both on one");
  if (tape->check() == Check::finite) finite::check_seed(seed.value());
  at_ = y.node();
  adjoints_.resize(std::size_t{at_} + 1);
  adjoints_[at_] = seed.value();  // without its place on the tape, if it has one
  if (record_ == Record::yes) {
    const Mode mode(tape, record_, tape->current_scope());
    adjoints_[at_] = seed.tape() ? seed : tape->constant(seed.value());
    name_adjoint(at_);
    count_contributions();
  }
  if (tape->node(at_).edges().empty()) move_on();
}

Sweep::Step Sweep::step() {
  if (pending_.empty()) count_contributions();
  Step report;
  apply_rules(&report);
  return report;
}

void Sweep::apply_rules(Step* report) {
  if (done()) throw TapeError("Sweep: it is done; there is no further step");
  MicroTape* tape = y_.tape();
  if (has_failed_)
    throw TapeError(cat("Sweep: a rule of node ", at_,
        " failed in the last step, when adjoints had been added already; start a new sweep, or go "
        "on from a copy"));
  has_failed_ = true;  // until all rules have run
  //! [apply_rules]
  const Node& node = tape->at(at_);
  const Var y = node.has_value() ? tape->var(at_) : Var();
  // Complete: every user of this node has been visited. A training tape has no further use for it.
  Var g = tape->keep() == Keep::needed ? std::move(adjoints_[at_]) : adjoints_[at_];
  if (report) *report = {at_, g, {}};

  const Mode mode(tape, record_, node.scope());
  const Stopwatch watch(tape);
  const Edge* last = &node.edges().back();
  bool joint_has_run = false;
  for (const Edge& edge : node.edges()) {
    if (!edge.is_active() || (edge.is_joint() && std::exchange(joint_has_run, true))) continue;
    in_scope_of(y_, [&] {
      if (edge.is_joint()) return apply_joint_rule(node, edge, g, y, report);
      // The last rule may have g for its own, to overwrite it.
      contribute(node, edge, edge.pull(&edge == last ? std::move(g) : g, y), report);
    });
  }
  has_failed_ = false;
  //! [apply_rules]
  if (const float seconds = watch.seconds(); seconds > 0)
    tape->at(at_).backward_seconds_ += seconds;
  move_on();
}

void Sweep::apply_joint_rule(
    const Node& node, const Edge& first, const Var& g, const Var& y, Step* report) {
  const std::vector<Part> parts = first.pull_joint(g, y);
  // Each of its edges was counted once; it may get more.
  for (const Edge& edge : node.edges()) {
    if (!edge.is_joint()) continue;
    const auto count = std::count_if(parts.begin(), parts.end(),
        [&](const Part& part) { return part.input == edge.position(); });
    if (count == 0) check_part(node, edge, {});  // throws
    if (!pending_.empty()) pending_[edge.input()] += static_cast<std::uint32_t>(count - 1);
  }
  for (const Part& part : parts) {
    const auto edge = std::find_if(node.edges().begin(), node.edges().end(),
        [&](const Edge& e) { return e.position() == part.input && e.is_joint(); });
    if (edge != node.edges().end()) contribute(node, *edge, part.value, report);
  }
}

//! [contribute]
void Sweep::contribute(const Node& node, const Edge& edge, Var part, Step* report) {
  check_part(node, edge, part);
  // A rule may return a Var that it captured; what is not recorded is to stand on no tape.
  if (record_ == Record::no && part.slot_) part = Var(part.value_);
  Var& sum = adjoints_[edge.input()];
  const bool complete = !pending_.empty() && --pending_[edge.input()] == 0;
  if (report) report->contributions.push_back({&edge, part, sum, {}, complete});
  // Add up: an input used twice receives two parts.
  sum = sum.defined() ? add(sum, part) : std::move(part);
  if (report) report->contributions.back().after = sum;
  if (y_.tape()->check() == Check::finite)
    finite::check_adjoint(*y_.tape(), node, edge, sum.value());
  if (complete && record_ == Record::yes) name_adjoint(edge.input());
}
//! [contribute]

void Sweep::check_part(const Node& node, const Edge& edge, const Var& part) const {
  const auto fail = [&](const auto&... why) {
    return cat("backward: ", node.op(), ": the rule of ", edge.name(), " ", why...,
        "; a rule returns the adjoint of its input, of its shape and dtype");
  };
  if (!part.defined()) throw TapeError(fail("returned no value"));
  if (record_ == Record::yes && part.tape() && part.tape() != y_.tape())
    throw TapeError(fail("returned a Var of another tape"));
  const Node& input = y_.tape()->at(edge.input());
  if (!input.has_shape_of(part.value()))
    throw ShapeError(
        fail("returned shape ", part.shape(), " for an input of shape ", input.shape()));
  if (part.dtype() != input.dtype())
    throw DTypeError(fail("returned ", part.dtype(), " for an input of ", input.dtype()));
}

//! [move_on]
void Sweep::move_on() {
  // Walk back to the next node that has an adjoint and someone to pass it to.
  const MicroTape* tape = y_.tape();
  while (at_-- > 0)
    if (adjoints_[at_].defined() && !tape->at(at_).edges().empty()) return;
  at_ = kNoNode;
}
//! [move_on]

void Sweep::count_contributions() {
  if (done()) return;
  const MicroTape* tape = y_.tape();
  pending_.assign(adjoints_.size(), 0);
  std::vector<bool> reached(adjoints_.size());
  for (NodeId id = at_ + 1; id-- > 0;) {
    if (!reached[id] && !adjoints_[id].defined()) continue;
    for (const Edge& edge : tape->node(id).edges()) {
      if (!edge.is_active()) continue;
      reached[edge.input()] = true;
      ++pending_[edge.input()];
    }
  }
}

void Sweep::name_adjoint(NodeId id) const {
  const MicroTape* tape = y_.tape();
  const Node& node = tape->node(id);
  const Var& adjoint = adjoints_[id];
  if (node.name().empty() || adjoint.node() == kNoNode) return;
  if (!tape->node(adjoint.node()).name().empty()) return;
  adjoint.named(cat("d", node.name()), cat("d", node.latex()));
}

// --- what it found -----------------------------------------------------------------------------

Gradients Sweep::gradients() const& { return Sweep(*this).gradients(); }

Gradients Sweep::gradients() && {
  const MicroTape* tape = y_.tape();
  Gradients out;
  out.slot_ = y_.slot_;
  out.generation_ = y_.generation_;
  out.keep_ = tape->keep();
  for (const MicroTape::Watched& watched : tape->watched())
    out.watched_.emplace_back(watched.parameter, watched.var.node());
  out.is_kept_.resize(tape->size());
  for (NodeId id = 0; id < tape->size(); ++id) {
    const Node& node = tape->at(id);
    out.is_kept_[id] =
        node.is_active() && (out.keep_ == Keep::everything || node.kind() != NodeKind::op);
  }
  out.adjoints_ = std::move(adjoints_);
  return out;
}

bool Gradients::is_mine(const Var& x) const {
  return x.slot_ == slot_ && x.generation_ == generation_;
}

Var Gradients::operator[](const Var& x) const {
  if (x.slot_ && !is_mine(x))
    throw TapeError(
        "Gradients: x is not from the tape of this sweep, or the tape was cleared between the two");
  return adjoint_of(x.node(), x.value());
}

Var Gradients::operator[](const Parameter& parameter) const {
  const NodeId node = node_of(parameter);
  if (node == kNoNode)
    throw TapeError(cat("Gradients: the tape did not watch parameter ", parameter.name(), " ",
        parameter.value().shape(), "; only what was used has a gradient"));
  return adjoint_of(node, parameter.value());
}

Var Gradients::adjoint_of(NodeId node, const Tensor& x) const {
  if (node != kNoNode && node >= is_kept_.size())
    throw TapeError(cat("Gradients: x ", x.shape(), " was computed after the sweep, node ", node,
        "; y cannot depend on it; sweep again from what does"));
  const bool is_kept = node != kNoNode && is_kept_[node];
  if (!is_kept && node != kNoNode && keep_ == Keep::needed)
    throw TapeError(cat("Gradients: the adjoint of node ", node, " ", x.shape(),
        " was not kept: the tape is Keep::needed, which keeps those of leaves and parameters; "
        "use Keep::everything"));
  if (!is_kept)
    throw TapeError(cat("Gradients: x ", x.shape(),
        " is a constant; only what depends on a leaf or parameter has an adjoint"));
  if (is_reached(node)) return adjoints_[node];
  return Tensor::zeros(x.shape(), x.dtype());
}

bool Gradients::is_reached(NodeId node) const {
  return node < adjoints_.size() && adjoints_[node].defined();
}

bool Gradients::reached(const Var& x) const { return is_mine(x) && is_reached(x.node()); }

bool Gradients::reached(const Parameter& parameter) const { return is_reached(node_of(parameter)); }

NodeId Gradients::node_of(const Parameter& parameter) const {
  for (const auto& [watched, node] : watched_)
    if (watched == parameter) return node;
  return kNoNode;
}

// --- the loop ----------------------------------------------------------------------------------

//! [loop]
Gradients backward(const Var& y, const Var& seed, Record record) {
  Sweep sweep(y, seed, record);
  while (!sweep.done()) sweep.advance();
  return std::move(sweep).gradients();
}
//! [loop]

Gradients backward(const Var& y, Record record) {
  if (y.size() != 1)
    throw ShapeError(cat("backward: y is not a scalar: y ", y.shape(), " has ", y.size(),
        " elements; reduce it with sum() or mean(), or give a seed of its shape"));
  return backward(y, Tensor::full(y.shape(), 1, y.dtype()), record);
}

}  // namespace microtape
