#pragma once

#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include <microtape/core/error.hpp>
#include <microtape/tape/micro_tape.hpp>

namespace microtape {

/// What an op is called, what it computes (the right side of y = ..., `@name` for inputs and
/// attributes), and its fixed arguments.
struct Op {
  Literal name;                                      ///< "matmul"
  Literal formula;                                   ///< the right side of y = ..
  std::initializer_list<Attribute> attributes = {};  ///< `@name` in formulas, like inputs
};

/// A rule on its way to a tape, which moves or copies it there; until then it must live.
///
/// The rule of one input is a vector-Jacobian product written in Vars: from g, the adjoint of the
/// result (and y, the result, if it asks for it), it computes the contribution to the adjoint of
/// this input. It may take (const Var& g), (const Var& g, const Var& y), or g by value to overwrite
/// it. Because Vars are differentiable, so is the rule. It runs long after the op has returned, so
/// it captures Vars, shapes and numbers by name: never by reference, never a Tensor.
///
/// A joint rule serves several inputs whose adjoints share work: it returns a std::vector<Part>,
/// with one or more for each active input; what it returns for another goes nowhere. Give it to
/// each of them; an op has at most one.
class RuleRef {
 public:
  /// No rule.
  RuleRef() = default;
  /// Refers to a rule, as the class says.
  template <class Rule>
    requires(!std::is_same_v<std::remove_cvref_t<Rule>, RuleRef>)
  RuleRef(Rule&& pullback) : rule(reinterpret_cast<const void*>(&pullback)) {
    using Stored = std::decay_t<Rule>;
    static_assert(kTakesG<Stored> || kTakesGY<Stored>,
        "a rule takes (const Var& g) or (const Var& g, const Var& y) and returns a Var, or a "
        "std::vector<Part> for several inputs");
    static_assert(alignof(Stored) <= alignof(std::max_align_t),
        "a rule holds nothing that is aligned more strictly than std::max_align_t");
    table = &kTable<Stored>;
    // A function is stored as a pointer to it. What the caller keeps is copied, the rest moved.
    construct = [](void* to, const void* from) {
      if constexpr (std::is_function_v<std::remove_reference_t<Rule>>)
        new (to) Stored(reinterpret_cast<Stored>(const_cast<void*>(from)));
      else if constexpr (std::is_lvalue_reference_v<Rule> || std::is_const_v<Rule>)
        new (to) Stored(*static_cast<const Stored*>(from));
      else
        new (to) Stored(std::move(*static_cast<Stored*>(const_cast<void*>(from))));
    };
  }

  const void* rule = nullptr;                               ///< the rule itself
  const RuleTable* table = nullptr;                         ///< how to run it
  void (*construct)(void* to, const void* from) = nullptr;  ///< how to move it to a tape

 private:
  using Parts = std::vector<Part>;
  template <class F, class... Args>
  static constexpr bool kReturns =
      std::is_invocable_r_v<Var, F&, Args...> || std::is_invocable_r_v<Parts, F&, Args...>;
  template <class F>
  static constexpr bool kTakesG = kReturns<F, Var>;
  template <class F>
  static constexpr bool kTakesGY = kReturns<F, Var, const Var&>;
  template <class F>
  static constexpr bool kIsJoint =
      std::is_invocable_r_v<Parts, F&, Var> || std::is_invocable_r_v<Parts, F&, Var, const Var&>;

  /// Whether it is the same each time that it is made, as a lambda without captures is: nothing is
  /// stored then, and call() makes another.
  template <class F>
  static constexpr bool kIsEmpty =
      std::is_empty_v<F> && std::is_trivially_default_constructible_v<F>;

  /// Gives the rule as many arguments as it takes.
  template <class Result, class F>
  static Result run(F& rule, Var&& g, const Var& y) {
    if constexpr (kTakesG<F>)
      return (static_cast<void>(y), rule(std::move(g)));
    else
      return rule(std::move(g), y);
  }
  // What a RuleTable points to: functions that know the type of the rule again.
  template <class Result, class F>
  static Result call(void* rule, Var&& g, const Var& y) {
    if constexpr (kIsEmpty<F>) {
      F made{};
      return run<Result>(made, std::move(g), y);
    } else {
      return run<Result>(*static_cast<F*>(rule), std::move(g), y);
    }
  }
  template <class F>
  static void destroy(void* rule) {
    static_cast<F*>(rule)->~F();
  }
  template <class F>
  static constexpr RuleTable table_of() {
    RuleTable table{};
    if constexpr (kIsJoint<F>)
      table.call_joint = &call<Parts, F>;
    else
      table.call = &call<Var, F>;
    if constexpr (!std::is_trivially_destructible_v<F>) table.destroy = &destroy<F>;
    table.size = kIsEmpty<F> ? 0 : sizeof(F);
    table.wants_y = !kTakesG<F>;
    return table;
  }
  /// One for each type of rule; edges point at it.
  template <class F>
  static constexpr RuleTable kTable = table_of<F>();
};

/// What a rule saves for the backward pass: `[b = Saved(b)](const Var& g) { return mul(g, b); }`.
///
/// It refers to the Var until the rule moves to a tape, and then holds a copy; where no rule is
/// needed nothing is copied. Capturing b itself is as right, and slower.
class Saved {
 public:
  /// Refers to x.
  explicit Saved(const Var& x) : from_(&x) {}
  /// Holds a copy.
  Saved(const Saved& other) : copy_(other) {}
  Saved& operator=(const Saved&) = delete;
  ~Saved() = default;
  /// What was saved.
  operator const Var&() const { return from_ ? *from_ : copy_; }

 private:
  const Var* from_ = nullptr;
  Var copy_;
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

/// Puts a computed value on the tape as a node; the second half of record().
/// @param watch  was started before the computation
Var push(
    const Op& op, Tensor value, MicroTape& tape, std::span<Input> inputs, const Stopwatch& watch);

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
/// @throws TapeError if two inputs stand on different tapes, or one on a tape that was cleared
template <class Forward>
Var record(const Op& op, Forward&& forward, std::span<Input> inputs) {
  MicroTape* tape = common_tape(op, inputs);
  try {
    if (!tape || !tape->is_recording()) return Var(forward());
    const Stopwatch watch(tape);
    return push(op, forward(), *tape, inputs, watch);
  } catch (Error& error) {
    add_scope(tape, error);
    throw;
  }
}
/// The same with the inputs in a braced list, as every op writes them.
template <class Forward, std::size_t N>
Var record(const Op& op, Forward&& forward, Input (&&inputs)[N]) {
  return record(op, std::forward<Forward>(forward), std::span<Input>(inputs, N));
}

}  // namespace microtape
