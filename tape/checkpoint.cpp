#include <microtape/tape/checkpoint.hpp>

#include <optional>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/backward.hpp>

namespace microtape {
namespace {

constexpr std::size_t kNoSource = ~std::size_t{0};

/// Whether y depends on each of the leaves, which stand on its tape; a constant has no node there.
std::vector<bool> reached_from(const Var& y, const std::vector<Var>& leaves) {
  std::vector<bool> is_reached(leaves.size());
  if (!y.is_active()) return is_reached;
  const MicroTape& tape = *y.tape();
  std::vector<bool> reached(tape.size());
  reached[y.node()] = true;
  for (NodeId id = y.node() + 1; id-- > 0;)
    if (reached[id])
      for (const Edge& edge : tape.node(id).edges()) reached[edge.input()] = true;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    is_reached[i] = leaves[i].is_active() && reached[leaves[i].node()];
  return is_reached;
}

}  // namespace

Recomputation::Recomputation(Function f, std::span<const Var> x) : sources_(x.begin(), x.end()) {
  if (x.empty()) throw ValueError("checkpoint: no arguments: there must be at least one");
  std::vector<Input> inputs;
  for (const Var& argument : x) inputs.push_back({"x", argument});
  tape_ = common_tape({"checkpoint", ""}, inputs);
  watch_ = Stopwatch(tape_);

  // The scratch tape asks ours for parameters and random draws.
  MicroTape scratch(Keep::needed, tape_ ? tape_->check() : Check::nothing);
  scratch.parent_ = tape_;
  const auto scope = open_scope(scratch);
  std::vector<Var> leaves = place_sources(scratch);
  const Var y = f(tape_ ? std::span<const Var>(leaves) : x);
  common_tape({"checkpoint", ""}, inputs);  // f may have cleared our tape, or ended it
  if (y.tape() && y.tape() != &scratch)
    throw TapeError(
        "checkpoint: f returned a Var of another tape: it captured one; f takes every Var as an "
        "argument");
  y_ = y.value();
  if (!tape_) return;
  for (const MicroTape::Watched& watched : scratch.watched()) {
    parameters_.push_back(watched.parameter);
    sources_.push_back(tape_->watch(watched.parameter));
    leaves.push_back(watched.var);
  }
  is_reached_ = reached_from(y, leaves);
  // A parameter may be bound to a constant of our tape.
  for (std::size_t i = 0; i < sources_.size(); ++i)
    is_reached_[i] = is_reached_[i] && sources_[i].is_active();
  draws_ = scratch.draws_;
}

/// The scope that is open on our tape, for errors of f.
std::optional<Scope> Recomputation::open_scope(MicroTape& scratch) const {
  if (!tape_ || tape_->current_scope() == 0) return {};
  return scratch.scope(tape_->scope_path(tape_->current_scope()));
}

/// Each source as a leaf, or as a constant if no adjoint flows to it.
std::vector<Var> Recomputation::place_sources(MicroTape& scratch) const {
  std::vector<Var> out;
  for (const Var& source : sources_) {
    if (!source.is_active()) {
      out.push_back(scratch.constant(source.value()));
      continue;
    }
    // Not leaf(), which would refuse an infinity that our tape has let pass.
    const std::string_view name = tape_->node(source.node()).name();
    out.push_back(scratch.add_source(NodeKind::leaf, source.value(), name, ""));
  }
  return out;
}

Var Recomputation::record(Tensor y, const RuleRef& rule) const {
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < sources_.size(); ++i)
    inputs.push_back(
        tape_ && is_reached_[i] ? Input("x", sources_[i], "", rule) : Input("x", sources_[i]));
  if (!tape_ || !tape_->is_recording()) return y;
  return tape_->push({"checkpoint", ""}, std::move(y), inputs, watch_);
}

std::vector<Part> Recomputation::pull(Function f, const Var& g) const {
  if (tape_->is_recording())
    throw TapeError(
        "checkpoint: its backward pass cannot be recorded: the tape has not kept the nodes of f; "
        "for second derivatives, compute f without checkpoint");

  // Compute again, from the same numbers.
  MicroTape scratch(Keep::needed, tape_->check());
  scratch.replay_ = draws_;
  const auto scope = open_scope(scratch);
  std::vector<Var> leaves = place_sources(scratch);
  const std::size_t count = sources_.size() - parameters_.size();
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    scratch.bind(parameters_[i], leaves[count + i]);
  const Var y = f(std::span(leaves).first(count));
  check_second(scratch, y, g);

  // Collect what flows into the sources; the sweep outside adds it up, in this order.
  std::vector<std::size_t> source_of(scratch.size(), kNoSource);
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (is_reached_[i]) source_of[leaves[i].node()] = i;
  std::vector<Part> parts;
  if (source_of[y.node()] != kNoSource) parts.push_back({source_of[y.node()], g});
  for (Sweep sweep(y, g); !sweep.done();)
    for (const Sweep::Contribution& part : sweep.step().contributions)
      if (const std::size_t source = source_of[part.edge->input()]; source != kNoSource)
        parts.push_back({source, part.value});
  return parts;
}

void Recomputation::check_second(const MicroTape& tape, const Var& y, const Var& g) const {
  if (y.tape() != &tape || !y.is_active() || y.shape() != g.shape() || y.dtype() != g.dtype() ||
      tape.watched().size() != parameters_.size() || tape.draws_.size() != draws_.size())
    throw TapeError(cat("checkpoint: f computed something else the second time: y ", y.shape(),
        ", before ", g.shape(), "; it must depend on nothing but its arguments and parameters"));
}

}  // namespace microtape
