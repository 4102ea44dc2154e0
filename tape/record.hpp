#pragma once

#include <initializer_list>
#include <span>

#include <microtape/core/error.hpp>
#include <microtape/tape/micro_tape.hpp>
#include <microtape/tape/rule.hpp>

namespace microtape {

/// What an op is called, what it computes (the right side of y = ..., `@name` for inputs and
/// attributes), and its fixed arguments.
struct Op {
  Literal name;                                      ///< "matmul"
  Literal formula;                                   ///< the right side of y = ..
  std::initializer_list<Attribute> attributes = {};  ///< `@name` in formulas, like inputs
};

/// One input of an op, with the rule that carries an adjoint back to it:
/// `{"a", a, R"(@g @b^\top)", [b](const Var& g) { return matmul_nt(g, b); }}`.
///
/// An Input refers to its Var and its rule; both must live until record() returns, as they do in a
/// braced list.
class Input {
 public:
  /// @param input_name    what formulas call it, without the `@`
  /// @param rule_formula  the right side of (adjoint of the input) = ..
  /// @param pullback      the rule itself
  Input(Literal input_name, const Var& input, Literal rule_formula, const RuleRef& pullback)
      : var(&input), name(input_name.text()), formula(rule_formula.text()), rule(pullback) {}

  /// With a fixed argument of this rule alone, `@name` in its formula.
  Input(Literal input_name, const Var& input, Literal rule_formula, const RuleRef& pullback,
      const Attribute& of_rule)
      : Input(input_name, input, rule_formula, pullback) {
    attribute = &of_rule;
  }

  /// An input that carries no adjoint: a mask, labels, indices.
  Input(Literal input_name, const Var& input) : var(&input), name(input_name.text()) {}

  const Var* var;                        ///< what the op takes
  const char* name;                      ///< what formulas call it, without the `@`
  const char* formula = "";              ///< of the rule; empty if there is none
  RuleRef rule;                          ///< none: it carries no adjoint
  const Attribute* attribute = nullptr;  ///< of the rule alone, or null
  // Set by push().
  NodeId node = kNoNode;  ///< where it stands
  bool active = false;    ///< an adjoint is to flow to it
};

/// The tape that the inputs share; null if all are plain.
/// @throws TapeError if two stand on different tapes, or one on a tape that was cleared
MicroTape* common_tape(const Op& op, std::span<const Input> inputs);

/// Whether an op of x would be recorded now: x is on a tape, and no Record::no sweep runs there. If
/// not, a rule may compute in one kernel what it else composes of ops.
inline bool is_recording(const Var& x) { return x.tape() && x.tape()->is_recording(); }

/// Adds the open scope of the tape to an error that is on its way out.
void add_scope(const MicroTape* tape, Error& error);

/// Runs f; an Error that leaves it says in which scope of x's tape it happened.
template <class F>
auto in_scope_of(const Var& x, F&& f) {
  try {
    return f();
  } catch (Error& error) {
    add_scope(x.tape(), error);
    throw;
  }
}

/// Every op ends here: runs the forward computation and puts its value, with the inputs and their
/// rules, on the tape of the inputs. Without a tape, or while a Record::no sweep runs, the result
/// is plain.
/// @param forward  computes the value, a Tensor; its errors are given the open scope
/// @throws TapeError if two inputs stand on different tapes, or one on a tape that was cleared,
///         before or by forward()
template <class Forward>
Var record(const Op& op, Forward&& forward, std::span<Input> inputs) {
  MicroTape* tape = common_tape(op, inputs);
  try {
    if (!tape || !tape->is_recording()) return Var(forward());
    const Stopwatch watch(tape);
    Tensor value = forward();
    for (const Input& input : inputs) input.var->tape();  // throws if forward() ended the tape
    return tape->push(op, std::move(value), inputs, watch);
  } catch (Error& error) {
    add_scope(common_tape(op, inputs), error);
    throw;
  }
}
/// The same with the inputs in a braced list, as every op writes them.
template <class Forward, std::size_t N>
Var record(const Op& op, Forward&& forward, Input (&&inputs)[N]) {
  return record(op, std::forward<Forward>(forward), std::span<Input>(inputs, N));
}

}  // namespace microtape
