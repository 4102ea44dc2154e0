#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <vector>

#include <microtape/tape/node.hpp>

// How a rule, whose type only the op knows, gets onto a tape, and how it is run there.

namespace microtape {

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
/// needed nothing is copied. Capturing b itself is as right, and is what most ops do; those that
/// multiply, which are recorded most often, save the copy.
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

}  // namespace microtape
