#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <microtape/tape/var.hpp>

// What stands on a tape, for everyone to read: a node, its edges, its attributes. Views (tables,
// pictures, the stepper) need nothing else.

namespace microtape {

class Input;
class RuleRef;
class Stopwatch;
struct Op;

/// Text that lives as long as the program: only a string literal converts to it.
class Literal {
 public:
  /// From a string literal, which the compiler sees to.
  consteval Literal(const char* text) : text_(text) {}
  /// The characters, up to a zero.
  const char* text() const { return text_; }

 private:
  const char* text_;
};

/// A fixed argument of an op, `@name` in its formulas: a number, or a list of integers (axes, a
/// shape). On its way to a tape it refers to the list and the symbol, which must live until
/// record() returns; the tape copies both.
class Attribute {
 public:
  /// A number. @param latex  how the textbook writes it
  Attribute(Literal attribute_name, double value, const char* latex = "")
      : name_(attribute_name.text()), symbol_(latex), number_(value) {}
  /// A list of integers.
  Attribute(Literal attribute_name, const Indices& values)
      : name_(attribute_name.text()),
        list_(values.begin()),
        count_(static_cast<std::uint32_t>(values.size())),
        is_list_(true) {}
  /// A list has a name of its own, so that it lives on.
  Attribute(Literal attribute_name, const Indices&& values) = delete;

  /// The name that formulas use for it, without the `@`.
  std::string_view name() const { return name_; }
  /// 0 for a list.
  double number() const { return is_list_ ? 0 : number_; }
  /// How the textbook writes the number, in LaTeX; may be empty.
  std::string_view symbol() const { return symbol_; }
  /// Whether it is a list of integers, not a number.
  bool is_list() const { return is_list_; }
  /// Empty for a number.
  Indices list() const {
    return is_list_ ? Indices(std::span<const Index>(list_, count_)) : Indices();
  }

 private:
  friend class MicroTape;
  const char* name_;
  const char* symbol_ = "";
  union {
    double number_;
    const Index* list_;
  };
  std::uint32_t count_ = 0;
  bool is_list_ = false;
};

/// A contribution to the adjoint of one input of an op, computed by a rule that serves several.
struct Part {
  std::size_t input;  ///< its number in the list of inputs
  Var value;          ///< of that input's shape
};

/// How to run and destroy a rule whose type has been forgotten. One that captures nothing has no
/// size: it needs no place.
struct RuleTable {
  Var (*call)(void* rule, Var&& g, const Var& y);                      ///< null for a joint rule
  std::vector<Part> (*call_joint)(void* rule, Var&& g, const Var& y);  ///< null for the others
  void (*destroy)(void* rule);  ///< null if there is nothing to do
  std::uint32_t size;           ///< in bytes
  bool wants_y;                 ///< whether it takes the value of the node
};

/// One input of a node, with the rule that carries an adjoint back to it.
class Edge {
 public:
  /// The name that formulas use for it, without the `@`.
  std::string_view name() const { return name_; }
  /// The rule as mathematics: the right side of (adjoint of the input) = ...; empty if it has none.
  std::string_view formula() const { return formula_; }
  /// The node that the op took.
  NodeId input() const { return input_; }
  /// Whether an adjoint flows along it: there is a rule, and a leaf reaches the input.
  bool is_active() const { return table_ != nullptr; }
  /// A fixed argument of this rule alone, or null.
  const Attribute* attribute() const { return attribute_; }

  /// Its number in the op's list of inputs. (A Keep::needed tape keeps only the active ones.)
  std::size_t position() const { return position_; }
  /// Whether one rule serves several inputs of the node: run pull_joint() of one of their edges.
  bool is_joint() const { return table_ && table_->call_joint; }

  /// Runs the rule of this input alone; the edge is active, and not joint.
  /// @param g  the adjoint of the node, of the node's shape
  /// @param y  the node's value, if the rule asked for it
  /// @return   the contribution to the adjoint of the input
  Var pull(Var g, const Var& y) const { return table_->call(rule_, std::move(g), y); }
  /// Runs the joint rule, of a joint edge: contributions to the adjoints of its inputs, in the
  /// order in which they are to be added up.
  std::vector<Part> pull_joint(Var g, const Var& y) const {
    return table_->call_joint(rule_, std::move(g), y);
  }

 private:
  friend class MicroTape;
  const char* name_ = "";
  const char* formula_ = "";
  const RuleTable* table_ = nullptr;
  void* rule_ = nullptr;  ///< the same for all edges of a joint rule
  const Attribute* attribute_ = nullptr;
  NodeId input_ = kNoNode;
  std::uint32_t position_ = 0;
};

/// What a node is: something the user gave, or something an op computed.
enum class NodeKind : std::uint8_t { leaf, parameter, constant, op };

/// One line of the tape.
class Node {
 public:
  /// Who made it.
  NodeKind kind() const { return kind_; }
  /// The op that made it; "leaf", "parameter" or "constant" if none did.
  std::string_view op() const { return op_; }
  /// The right side of y = ..., with `@name` for inputs and attributes; empty if no op made it.
  std::string_view formula() const { return formula_; }
  /// The user's name for it; empty if there is none.
  std::string_view name() const { return label_; }
  /// How LaTeX writes the name.
  std::string_view latex() const {
    const std::string_view latex(label_ + name().size() + 1);
    return latex.empty() ? name() : latex;
  }
  /// Of the value, whether it was kept or not.
  Shape shape() const {
    return value_.defined() ? value_.shape() : Shape(Indices(extents_without_value()));
  }
  /// Of the value, whether it was kept or not.
  DType dtype() const { return dtype_; }
  /// shape() == other.shape(), without making either.
  bool has_shape_of(const Tensor& other) const {
    return value_.defined() ? value_.has_shape_of(other)
                            : same_extents(extents_without_value(), other.extents());
  }
  /// Whether a leaf reaches it; only then does it get an adjoint.
  bool is_active() const { return active_; }
  /// Whether a sweep with Record::yes wrote it down.
  bool is_backward() const { return backward_; }
  /// A Keep::needed tape keeps a value only if a rule takes it.
  bool has_value() const { return value_.defined(); }
  /// What was computed; not defined unless has_value().
  const Tensor& value() const { return value_; }
  /// The scope it was computed in; an index into MicroTape::scopes(), 0 is the outermost.
  std::uint32_t scope() const { return scope_; }
  /// How long the forward computation took, in seconds. Only a Keep::everything tape takes the
  /// time.
  float forward_seconds() const { return forward_seconds_; }
  /// How long its rules took in all sweeps so far, in seconds; on such a tape.
  float backward_seconds() const { return backward_seconds_; }
  /// Its inputs, in the op's order; on a Keep::needed tape only those that carry an adjoint.
  std::span<const Edge> edges() const { return {edges_, edge_count_}; }
  /// The fixed arguments of the op.
  std::span<const Attribute> attributes() const { return {attributes_, attribute_count_}; }

 private:
  friend class MicroTape;
  friend class Sweep;
  /// Of a node without a value: they stand before its edges.
  std::span<const Index> extents_without_value() const {
    return {reinterpret_cast<const Index*>(edges_) - rank_, rank_};
  }

  Tensor value_;
  const char* op_ = "";
  const char* formula_ = "";
  const char* label_ = "\0";  ///< the name, a zero, the LaTeX, a zero
  const Edge* edges_ = nullptr;
  const Attribute* attributes_ = nullptr;
  float forward_seconds_ = 0;
  float backward_seconds_ = 0;
  std::uint32_t scope_ = 0;
  std::uint32_t edge_count_ = 0;
  std::uint16_t attribute_count_ = 0;
  std::uint8_t rank_ = 0;
  DType dtype_ = float32;
  NodeKind kind_ = NodeKind::op;
  bool active_ = false;
  bool backward_ = false;
};

}  // namespace microtape
