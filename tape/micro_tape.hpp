#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <microtape/tape/arena.hpp>
#include <microtape/tape/node.hpp>
#include <microtape/tape/parameter.hpp>

namespace microtape {

/// everything: each value stays, to be looked at. needed: for training; a node keeps its value only
/// if a rule takes it, and a sweep keeps only the adjoints of leaves and parameters.
enum class Keep : std::uint8_t { everything, needed };

/// finite: the first op or rule that makes a NaN or an infinity is an error that says from what. An
/// infinity that a constant or an attribute brings along (a mask of -inf) is not made: where an
/// input has one, the result may have some.
enum class Check : std::uint8_t { nothing, finite };

/// A named part of a computation; nodes know which they were computed in.
struct ScopeInfo {
  std::string name;      ///< its own, without those around it
  std::string formula;   ///< what the whole computes: `\operatorname{heads}(@x)`; may be empty
  std::string rule;      ///< the adjoint of x, from `@g`: `\operatorname{merge}(@g)`; may be empty
  std::uint32_t parent;  ///< the scope around it
};

/// Takes the time for Keep::everything tapes; for others it stands still, and costs nothing.
class Stopwatch {
 public:
  /// Starts. @param tape  may be null
  explicit Stopwatch(const MicroTape* tape);
  /// Since it was made; 0 if it stands still.
  float seconds() const { return start_ == 0 ? 0 : elapsed(); }

 private:
  static std::int64_t now();
  float elapsed() const;
  std::int64_t start_ = 0;  // nanoseconds
};

/// Opens a scope of a tape for as long as it lives.
class [[nodiscard]] Scope {
 public:
  /// The other one closes nothing any more.
  Scope(Scope&& other) noexcept
      : slot_(std::exchange(other.slot_, nullptr)),
        generation_(other.generation_),
        number_(other.number_) {}
  Scope& operator=(Scope&&) = delete;
  ~Scope();

 private:
  friend class MicroTape;
  Scope(TapeSlot* slot, std::uint32_t number)
      : slot_(slot), generation_(slot->generation), number_(number) {}
  TapeSlot* slot_;            ///< not the tape, which may end first
  std::uint32_t generation_;  ///< of the tape, which counts up with every clear()
  std::uint32_t number_;      ///< an index into MicroTape::scopes()
};

/// The list of everything that was computed, in the order in which it was computed.
///
/// Inputs of a node always stand before it, so walking the list backwards visits every node after
/// all of its users: that is the whole of "topological order" here.
class MicroTape {
 public:
  /// An empty tape.
  explicit MicroTape(Keep keep = Keep::everything, Check check = Check::nothing);
  /// An empty Keep::everything tape that checks.
  explicit MicroTape(Check check) : MicroTape(Keep::everything, check) {}
  MicroTape(const MicroTape&) = delete;  // Vars point at it
  MicroTape& operator=(const MicroTape&) = delete;
  ~MicroTape();

  /// A variable to differentiate with respect to.
  /// @throws DTypeError if the value is int64; ValueError if a Check::finite tape finds a NaN or an
  ///         infinity in it, or if the LaTeX is refused as by Var::named()
  Var leaf(Tensor value, std::string_view name = "", std::string_view latex = "");

  /// Data: named and drawn, but no adjoint is computed for it. Layers find the tape through it.
  /// @throws ValueError if it has no value, or a Check::finite tape finds a NaN in it, or as leaf()
  ///         if the LaTeX is refused
  Var constant(Tensor value, std::string_view name = "", std::string_view latex = "");

  /// The leaf that stands for `parameter` on this tape; the same one each time, so that a parameter
  /// used twice has one adjoint.
  /// @throws DTypeError if the parameter is int64; ValueError as leaf()
  Var watch(const Parameter& parameter);

  /// From now on watch(parameter) returns x: the parameter becomes an ordinary argument, as
  /// gradcheck needs it.
  /// @param x  on this tape, of the parameter's shape and dtype
  /// @throws TapeError if x stands elsewhere, or the tape watches the parameter already;
  ///         ShapeError, DTypeError if x is of another shape or dtype
  void bind(const Parameter& parameter, const Var& x);

  /// Nodes computed while the result lives belong to scope `name`; scopes nest.
  /// @param formula  what the whole scope computes from its only input `@x`, for views that show it
  ///                 as one line; may be empty
  /// @param rule     the adjoint of x, from `@g`, that of the result; without it a view that shows
  ///                 adjoints shows what is inside
  Scope scope(std::string_view name, std::string_view formula = "", std::string_view rule = "");
  /// All scopes; number 0 is the outermost and has no name.
  const std::vector<ScopeInfo>& scopes() const { return scopes_; }
  /// "encoder/attn/q_proj"; empty for scope 0. @throws IndexError if there is no such scope
  std::string scope_path(std::uint32_t scope) const;
  /// The scope that is open now.
  std::uint32_t current_scope() const { return scope_; }

  /// Number of nodes.
  NodeId size() const { return size_; }
  /// @throws IndexError if there is no such node
  const Node& node(NodeId id) const;
  /// The Var that stands for a node: its value, if it was kept.
  /// @throws IndexError if there is no such node; TapeError if its value was not kept
  Var var(NodeId id);

  /// `for (const Node& node : tape.nodes())`, in the order of computation.
  class Nodes;
  /// All nodes.
  Nodes nodes() const;

  /// A parameter that was watched.
  struct Watched {
    Parameter parameter;  ///< the one that outlives the tape
    Var var;              ///< its leaf
  };
  /// All that were watched, in order.
  const std::vector<Watched>& watched() const { return watched_; }

  /// What it keeps, as it was made.
  Keep keep() const { return keep_; }
  /// What it checks, as it was made.
  Check check() const { return check_; }
  /// Whether ops are being written down; not while a Record::no sweep runs the rules.
  bool is_recording() const { return recording_; }

  /// The number of a random draw, for something that counts its draws.
  /// @param count  of draws so far; one more afterwards. When a checkpoint() is computed again, the
  ///               number is that of the first time, and count stays
  /// @throws TapeError if the second time has more draws than the first
  std::uint64_t next_draw(std::uint64_t& count);

  /// Forgets all nodes, scopes and watched parameters, and keeps the memory for the next round. A
  /// Var from before is refused from now on.
  /// @throws TapeError if a rule of this tape calls it: the rule would destroy itself
  void clear();

 private:
  friend class Recomputation;
  friend class Scope;
  friend class Sweep;
  friend class Var;
  template <class Forward>
  friend Var record(const Op& op, Forward&& forward, std::span<Input> inputs);

  static constexpr NodeId kChunk = 128;
  Node& at(NodeId id) const { return chunks_[id / kChunk][id % kChunk]; }
  Node& append_node();
  /// Takes the nodes from `first` on off the tape; no Var stands on them.
  void drop_nodes(NodeId first);
  const char* copy_texts(std::string_view a, std::string_view b = {});
  void set_name(NodeId id, std::string_view name, std::string_view latex);
  Var add_source(NodeKind kind, Tensor value, std::string_view name, std::string_view latex);
  /// Puts a computed value on the tape as a node; the second half of record().
  /// @param watch  was started before the computation
  Var push(const Op& op, Tensor value, std::span<Input> inputs, const Stopwatch& watch);
  Attribute* copy_attributes(const Attribute* from, std::size_t count);
  void store_attributes(Node& node, const Op& op);
  void* store_rule(const Node& node, const RuleRef& rule);
  void store_inputs(Node& node, const Tensor& value, std::span<Input> inputs);

  TapeSlot* slot_;
  Keep keep_;
  Check check_;
  bool recording_ = true;
  std::uint32_t running_steps_ = 0;  ///< of sweeps, one inside the other
  std::uint32_t scope_ = 0;
  NodeId size_ = 0;
  Arena arena_;  ///< nodes, edges, rules, attributes, names
  // Nodes live in chunks that never move: a rule that records runs from inside one of them.
  std::vector<Node*> chunks_;
  std::vector<ScopeInfo> scopes_;
  std::vector<Watched> watched_;
  // For checkpoint(): the tape to ask for parameters and draws, the draws made, those to repeat.
  MicroTape* parent_ = nullptr;
  std::vector<std::uint64_t> draws_;
  std::optional<std::vector<std::uint64_t>> replay_;
};

inline Stopwatch::Stopwatch(const MicroTape* tape)
    : start_(tape && tape->keep() == Keep::everything ? now() : 0) {}

/// The nodes of a tape as a range.
class MicroTape::Nodes {
 public:
  /// What `for` moves along.
  class Iterator {
   public:
    /// At a node.
    Iterator(const MicroTape* tape, NodeId id) : tape_(tape), id_(id) {}
    /// That node.
    const Node& operator*() const { return tape_->node(id_); }
    /// Moves to the next.
    Iterator& operator++() { return ++id_, *this; }
    /// Whether the two are at different nodes.
    bool operator!=(const Iterator& other) const { return id_ != other.id_; }

   private:
    const MicroTape* tape_;
    NodeId id_;
  };
  /// Those of a tape, which must live as long.
  explicit Nodes(const MicroTape* tape) : tape_(tape) {}
  /// At the first node.
  Iterator begin() const { return {tape_, 0}; }
  /// Behind the last.
  Iterator end() const { return {tape_, tape_->size()}; }
  /// How many there are.
  NodeId size() const { return tape_->size(); }
  /// As MicroTape::node().
  const Node& operator[](NodeId id) const { return tape_->node(id); }

 private:
  const MicroTape* tape_;
};

inline MicroTape::Nodes MicroTape::nodes() const { return Nodes(this); }

}  // namespace microtape
