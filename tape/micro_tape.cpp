#include <microtape/tape/micro_tape.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>

#include <microtape/core/error.hpp>
#include <microtape/core/fork.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/pool.hpp>
#include <microtape/tape/finite.hpp>
#include <microtape/tape/latex.hpp>
#include <microtape/tape/record.hpp>

namespace microtape {
namespace {

/// Slots for tapes: handed out again, never freed, so that a Var may always look at its own.
class SlotShelf {
 public:
  std::mutex mutex;  ///< held by both functions

  TapeSlot* take(MicroTape* tape) {
    const std::lock_guard lock(mutex);
    if (free_.empty()) {
      // Make room for all, so that give_back() cannot fail.
      if (free_.capacity() <= slots_.size()) free_.reserve(2 * slots_.size() + 1);
      slots_.push_back({tape, 1});
      return &slots_.back();
    }
    TapeSlot* slot = free_.back();
    free_.pop_back();
    slot->tape = tape;
    return slot;
  }
  void give_back(TapeSlot* slot) {
    const std::lock_guard lock(mutex);
    slot->tape = nullptr;
    free_.push_back(slot);
  }

 private:
  std::deque<TapeSlot> slots_;  // a deque does not move what it holds
  std::vector<TapeSlot*> free_;
};

SlotShelf& slot_shelf() {
  // On purpose never destroyed: a static Var may outlive it.
  static SlotShelf& shelf = hold_for_fork<slot_shelf>(*new SlotShelf);
  return shelf;
}
[[maybe_unused]] const SlotShelf& made_at_start = slot_shelf();  // see fork.hpp

}  // namespace

std::int64_t Stopwatch::now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

float Stopwatch::elapsed() const {
  // A computation that the clock does not see took its smallest step.
  return static_cast<float>(std::max<std::int64_t>(now() - start_, 1)) * 1e-9f;
}

MicroTape::MicroTape(Keep keep, Check check)
    : slot_(slot_shelf().take(this)), keep_(keep), check_(check) {
  scopes_.push_back({"", "", "", 0});
}

MicroTape::~MicroTape() {
  clear();
  slot_shelf().give_back(slot_);
  arena_.release();  // first, so that the system gets its memory too
  constexpr std::size_t kWorthReleasing = std::size_t{16} << 20;
  if (pool::waiting_bytes() >= kWorthReleasing) release_memory();
}

// --- what a user puts on it ----------------------------------------------------------------

Var MicroTape::leaf(Tensor value, std::string_view name, std::string_view latex) {
  if (!is_floating(value.dtype()))
    throw DTypeError(cat("leaf: int64 has no derivative: value ", value.shape(),
        "; use constant(), or convert it with to(float32)"));
  check_latex("leaf", name, latex);
  if (check_ == Check::finite) finite::check_source("leaf", NodeKind::leaf, name, value);
  return add_source(NodeKind::leaf, std::move(value), name, latex);
}

Var MicroTape::constant(Tensor value, std::string_view name, std::string_view latex) {
  if (!value.defined()) static_cast<void>(value.shape());  // throws, and says why
  check_latex("constant", name, latex);
  if (check_ == Check::finite) finite::check_source("constant", NodeKind::constant, name, value);
  if (keep_ == Keep::needed) return Var(std::move(value), slot_, kNoNode);
  return add_source(NodeKind::constant, std::move(value), name, latex);
}

Var MicroTape::watch(const Parameter& parameter) {
  for (const Watched& watched : watched_)
    if (watched.parameter == parameter) return watched.var;
  if (!is_floating(parameter.value().dtype()))
    throw DTypeError(cat("watch: int64 has no derivative: parameter ", parameter.name(), " ",
        parameter.value().shape(), "; a parameter is float32 or float64"));
  const Tensor value = parent_ ? parent_->watch(parameter).value() : parameter.value();
  if (check_ == Check::finite)
    finite::check_source("watch", NodeKind::parameter, parameter.name(), value);
  const Var var = add_source(NodeKind::parameter, value, parameter.symbol(), "");
  watched_.push_back({parameter, var});
  return var;
}

void MicroTape::bind(const Parameter& parameter, const Var& x) {
  const auto fail = [&](const auto&... why) { return cat("bind: ", why...); };
  if (x.tape() != this)
    throw TapeError(fail("x is not on this tape: parameter ", parameter.name()));
  if (x.shape() != parameter.value().shape())
    throw ShapeError(fail("shapes differ: x ", x.shape(), ", parameter ", parameter.name(), " ",
        parameter.value().shape(), "; they must be equal"));
  if (x.dtype() != parameter.value().dtype())
    throw DTypeError(fail("dtypes differ: x ", x.dtype(), ", parameter ", parameter.name(), " ",
        parameter.value().dtype(), "; they must be equal"));
  for (const Watched& watched : watched_)
    if (watched.parameter == parameter)
      throw TapeError(
          fail("the tape watches ", parameter.name(), " already; bind before its first use"));
  watched_.push_back({parameter, x});
}

Var MicroTape::add_source(
    NodeKind kind, Tensor value, std::string_view name, std::string_view latex) {
  static constexpr const char* kNames[] = {"leaf", "parameter", "constant"};
  const DType dtype = value.dtype();
  Node& node = append_node();
  node.op_ = kNames[static_cast<std::size_t>(kind)];
  node.kind_ = kind;
  node.active_ = kind != NodeKind::constant;
  node.dtype_ = dtype;
  node.value_ = value;
  const NodeId id = size_ - 1;
  if (!name.empty()) set_name(id, name, latex);
  return Var(std::move(value), slot_, id);
}

std::uint64_t MicroTape::next_draw(std::uint64_t& count) {
  if (replay_ && draws_.size() == replay_->size())
    throw TapeError(
        "checkpoint: f drew more random numbers the second time; it must depend on nothing but its "
        "arguments and parameters");
  const std::uint64_t draw = replay_   ? (*replay_)[draws_.size()]
                             : parent_ ? parent_->next_draw(count)
                                       : count++;
  draws_.push_back(draw);
  return draw;
}

// --- scopes ----------------------------------------------------------------------------------

Scope MicroTape::scope(std::string_view name, std::string_view formula, std::string_view rule) {
  scopes_.push_back({std::string(name), std::string(formula), std::string(rule), scope_});
  scope_ = static_cast<std::uint32_t>(scopes_.size() - 1);
  return Scope(slot_, scope_);
}

Scope::~Scope() {
  // After a clear(), or the end of the tape, there is nothing to return to: what is open now was
  // opened since.
  if (!slot_ || slot_->generation != generation_) return;
  MicroTape& tape = *slot_->tape;
  // Close all scopes inside. If this one is not open any more, one around it was closed before.
  std::uint32_t open = tape.scope_;
  while (open > number_) open = tape.scopes_[open].parent;  // a parent has the lower number
  if (open == number_) tape.scope_ = tape.scopes_[number_].parent;
}

std::string MicroTape::scope_path(std::uint32_t scope) const {
  if (scope >= scopes_.size())
    throw IndexError(
        cat("scope_path: there is no scope ", scope, ": the tape has ", scopes_.size()));
  std::string path;
  for (; scope != 0; scope = scopes_[scope].parent)
    path = path.empty() ? scopes_[scope].name : cat(scopes_[scope].name, "/", path);
  return path;
}

// --- reading ---------------------------------------------------------------------------------

const Node& MicroTape::node(NodeId id) const {
  if (id >= size_) throw IndexError(cat("node: there is no node ", id, ": the tape has ", size_));
  return at(id);
}

Var MicroTape::var(NodeId id) {
  const Node& node = this->node(id);
  if (!node.has_value())
    throw TapeError(cat("var: the value of node ", id, " (", node.op(),
        ") was not kept; use a Keep::everything tape"));
  return Var(node.value_, slot_, id);
}

// --- memory ----------------------------------------------------------------------------------

Node& MicroTape::append_node() {
  if (size_ == kNoNode)
    throw TapeError("MicroTape: full: no more than 2^32 - 1 nodes fit on a tape");
  if (size_ / kChunk == chunks_.size())
    chunks_.push_back(reinterpret_cast<Node*>(arena_.take(kChunk * sizeof(Node))));
  Node& node = *std::construct_at(&at(size_++));
  node.scope_ = scope_;
  node.backward_ = running_steps_ > 0;
  return node;
}

/// Both, each with a zero behind it.
const char* MicroTape::copy_texts(std::string_view a, std::string_view b) {
  auto* copy = reinterpret_cast<char*>(arena_.take(a.size() + b.size() + 2));
  // A zero inside would end the text: the character "substitute" stands for it.
  char* end = std::replace_copy(a.begin(), a.end(), copy, '\0', '\x1a');
  *end++ = '\0';
  end = std::replace_copy(b.begin(), b.end(), end, '\0', '\x1a');
  *end = '\0';
  return copy;
}

void MicroTape::set_name(NodeId id, std::string_view name, std::string_view latex) {
  at(id).label_ = copy_texts(name, latex);
}

void MicroTape::drop_nodes(NodeId first) {
  for (NodeId id = first; id < size_; ++id) {
    Node& node = at(id);
    bool joint_is_gone = false;  // its edges share it
    for (const Edge& edge : node.edges()) {
      if (edge.is_joint() && std::exchange(joint_is_gone, true)) continue;
      if (edge.table_ && edge.table_->destroy) edge.table_->destroy(edge.rule_);
    }
    std::destroy_at(&node);
  }
  size_ = first;
}

//! [clear]
void MicroTape::clear() {
  if (running_steps_ > 0)
    throw TapeError("clear: a rule of this tape is running; clear it after the sweep");
  drop_nodes(0);
  watched_.clear();
  draws_.clear();
  scopes_.resize(1);
  scope_ = 0;
  chunks_.clear();
  arena_.rewind();
  ++slot_->generation;
}
//! [clear]

}  // namespace microtape
