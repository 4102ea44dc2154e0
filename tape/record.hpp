#pragma once

#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>

#include <microtape/core/error.hpp>
#include <microtape/tape/micro_tape.hpp>

namespace microtape {

/// What an op is called, what it computes (the right side of y = ..., `@name` for inputs and
/// attributes), and its fixed arguments.
struct Op {
  Literal name;
  Literal formula;
  std::initializer_list<Attribute> attributes = {};
};

/// One input of an op, with the rule that carries an adjoint back to it:
/// `{"a", a, R"(@g @b^\top)", [b](const Var& g) { return matmul_nt(g, b); }}`.
///
/// The rule is a vector-Jacobian product written in Vars: from g, the adjoint of the result (and y,
/// the result, if it asks for it), it computes the contribution to the adjoint of this input. It
/// may take (const Var& g), (const Var& g, const Var& y), or g by value to overwrite it. Because
/// Vars are differentiable, so is the rule. It runs long after the op has returned, so it captures
/// Vars, shapes and numbers by name: never by reference, never a Tensor.
///
/// An Input refers to its Var and its rule; both must live until record() returns, as they do in a
/// braced list.
class Input {
 public:
  template <class Rule>
  Input(Literal input_name, const Var& input, Literal rule_formula, Rule&& pullback)
      : var(&input),
        name(input_name.text()),
        formula(rule_formula.text()),
        rule(static_cast<const void*>(&pullback)) {
    using Stored = std::decay_t<Rule>;
    static_assert(kTakesG<Stored> || kTakesGY<Stored>,
        "a rule takes (const Var& g) or (const Var& g, const Var& y) and returns a Var");
    static_assert(alignof(Stored) <= alignof(std::max_align_t));
    table = &kTable<Stored>;
    construct = [](void* to, const void* from) {
      if constexpr (std::is_lvalue_reference_v<Rule>)
        new (to) Stored(*static_cast<const Stored*>(from));
      else
        new (to) Stored(std::move(*static_cast<Stored*>(const_cast<void*>(from))));
    };
  }

  /// With a fixed argument of this rule alone, `@name` in its formula.
  template <class Rule>
  Input(Literal input_name, const Var& input, Literal rule_formula, Rule&& pullback,
      const Attribute& of_rule)
      : Input(input_name, input, rule_formula, std::forward<Rule>(pullback)) {
    attribute = &of_rule;
  }

  /// An input that carries no adjoint: a mask, labels, indices.
  Input(Literal input_name, const Var& input) : var(&input), name(input_name.text()) {}

  const Var* var;
  const char* name;
  const char* formula = "";
  const void* rule = nullptr;
  const RuleTable* table = nullptr;
  void (*construct)(void* to, const void* from) = nullptr;
  const Attribute* attribute = nullptr;
  NodeId node = kNoNode;  ///< set by push()

 private:
  template <class F>
  static constexpr bool kTakesG = std::is_invocable_r_v<Var, F&, Var>;
  template <class F>
  static constexpr bool kTakesGY = std::is_invocable_r_v<Var, F&, Var, const Var&>;

  template <class F>
  static Var call(void* rule, Var&& g, const Var& y) {
    if constexpr (kTakesG<F>)
      return (static_cast<void>(y), (*static_cast<F*>(rule))(std::move(g)));
    else
      return (*static_cast<F*>(rule))(std::move(g), y);
  }
  template <class F>
  static void destroy(void* rule) {
    static_cast<F*>(rule)->~F();
  }
  template <class F>
  static constexpr RuleTable kTable{&call<F>,
      std::is_trivially_destructible_v<F> ? nullptr : &destroy<F>, sizeof(F), !kTakesG<F>};
};

/// The tape that the inputs share; null if all are plain.
/// @throws TapeError if two stand on different tapes, or one on a tape that was cleared
MicroTape* common_tape(const Op& op, std::span<const Input> inputs);

/// Puts a computed value on the tape as a node; the second half of record().
Var push(const Op& op, Tensor value, MicroTape* tape, std::span<Input> inputs);

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
/// @throws TapeError if two inputs stand on different tapes, or one on a tape that was cleared
template <class Forward>
Var record(const Op& op, Forward&& forward, std::span<Input> inputs) {
  MicroTape* tape = common_tape(op, inputs);
  try {
    return push(op, forward(), tape, inputs);
  } catch (Error& error) {
    add_scope(tape, error);
    throw;
  }
}
template <class Forward, std::size_t N>
Var record(const Op& op, Forward&& forward, Input (&&inputs)[N]) {
  return record(op, std::forward<Forward>(forward), std::span<Input>(inputs, N));
}

}  // namespace microtape
