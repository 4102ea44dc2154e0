#pragma once

#include <optional>
#include <string>
#include <vector>

#include <microtape/tape/diagnose_evidence.hpp>

// The catalogue of mistakes that diagnose() knows. Internal.

namespace microtape::diagnosis {

struct Mistake;
using Mistakes = std::vector<Mistake>;
/// The ways to make one kind of mistake at the root of a formula.
using Rewrite = Mistakes (*)(const Formula& formula, const Evidence& evidence);

/// A formula with one mistake in it.
struct Mistake {
  std::string key;  ///< which mistake, and where: the same on samples of other shapes
  Formula formula;
  std::string cause;
  std::string look;
  /// To be told after the cause: "g * x instead of g * y".
  std::optional<Formula> before = {}, after = {};
  /// Of a part that is left out: what can be said if other mistakes in that part come to the same.
  std::string unsure = {};
  std::size_t part = 0;    ///< that part, a child of the place
  std::string place = {};  ///< where the mistake was made: "0.1.", by the places of children
  Rewrite kind = nullptr;  ///< which kind it is; null if it concerns the whole
  /// The part of the formula that was rewritten, and what it became.
  std::optional<Formula> from = {}, to = {};
};

/// Each known mistake in the formula of what is right, the simplest first.
/// @param input  the operand whose adjoint it is
Mistakes known_mistakes(const Evidence& evidence, const std::string& input);

/// @name Kinds of mistakes
/// @{
Mistakes missing_term(const Formula& f, const Evidence& e);
Mistakes wrong_sign(const Formula& f, const Evidence& e);
Mistakes wrong_sum(const Formula& f, const Evidence& e);
Mistakes missing_factor(const Formula& f, const Evidence& e);
Mistakes wrong_power(const Formula& f, const Evidence& e);
Mistakes factor_twice(const Formula& f, const Evidence& e);
Mistakes other_operand(const Formula& f, const Evidence& e);
Mistakes wrong_matrix(const Formula& f, const Evidence& e);
Mistakes wrong_number(const Formula& f, const Evidence& e);
Mistakes wrong_function(const Formula& f, const Evidence& e);
/// @}

/// A formula after a change.
Mistake changed(std::string key, const Formula& before, const Formula& after,
    std::string_view cause, std::string_view look);

/// The call of a function.
Formula call_of(std::string_view function, Formula argument);

/// What was done wrong, and where to look.
struct Fact {
  std::string cause;
  std::string look;
};
/// @name What the numbers tell without a formula
/// @{
/// What needs no further explanation: none, not finite, zero, the adjoint of y, negative,
/// transposed.
std::optional<Fact> plain_fact(const std::vector<Evidence>& samples, const std::string& input);
/// Whether it is g * (dy[i] / dx[i]), though the Jacobian has more than its diagonal.
bool is_diagonal(const std::vector<Evidence>& samples);
/// @}

/// The known mistake that gives the numbers of all samples; nothing if they are right.
std::optional<Fact> cause_of(const std::vector<Evidence>& samples, const std::string& input);

/// The sums that are 0 on every sample where the adjoint is right, and are not as it was found; at
/// most two. @param at  the sample whose numbers are told
std::vector<std::string> broken_invariants(
    const std::vector<Evidence>& samples, std::size_t at, const std::string& input);

/// Which elements are wrong: "row 1", "the diagonal".
std::string pattern_of(const Evidence& evidence);

}  // namespace microtape::diagnosis
