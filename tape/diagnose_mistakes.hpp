#pragma once

#include <optional>
#include <string>
#include <vector>

#include <microtape/tape/diagnose_evidence.hpp>

// The catalogue of mistakes that diagnose() knows. Internal.

namespace microtape::diagnosis {

/// A formula with one mistake in it.
struct Mistake {
  std::string key;  ///< which mistake, and where: the same on samples of other shapes
  Formula formula;
  std::string cause;
  std::string look;
};
using Mistakes = std::vector<Mistake>;

/// Each known mistake in the formula of what is right, the simplest first.
/// @param input  the operand whose adjoint it is
Mistakes known_mistakes(const Evidence& evidence, const std::string& input);

/// The ways to make one kind of mistake at the root of a formula.
using Rewrite = Mistakes (*)(const Formula& formula, const Evidence& evidence);

/// @name Kinds of mistakes
/// @{
Mistakes missing_term(const Formula& f, const Evidence& e);
Mistakes wrong_sign(const Formula& f, const Evidence& e);
Mistakes wrong_sum(const Formula& f, const Evidence& e);
Mistakes missing_factor(const Formula& f, const Evidence& e);
Mistakes factor_twice(const Formula& f, const Evidence& e);
Mistakes other_operand(const Formula& f, const Evidence& e);
Mistakes wrong_matrix(const Formula& f, const Evidence& e);
Mistakes wrong_number(const Formula& f, const Evidence& e);
Mistakes wrong_function(const Formula& f, const Evidence& e);
/// @}

/// "<what>: <after> instead of <before>"; without the formulas if they are long.
Mistake changed(std::string key, const Formula& before, Formula after, std::string_view what,
    std::string_view look);

/// The call of a function.
Formula call_of(std::string_view function, Formula argument);

/// A mistake that the numbers alone tell, without a formula.
struct Fact {
  std::string cause;
  std::string look;
};
/// One that tells all: zero, the adjoint of y, the negative, the transposed.
std::optional<Fact> plain_fact(const std::vector<Evidence>& samples, const std::string& input);
/// One that is told if no mistake of the formula is found: the diagonal, twice, a half, n times.
std::optional<Fact> last_fact(const std::vector<Evidence>& samples, const std::string& input);

/// What was done wrong, if it is known.
std::optional<Fact> cause_of(const std::vector<Evidence>& samples, const std::string& input);

/// The sums that are 0 on every sample where the adjoint is right, and are not as it was found; at
/// most two. @param at  the sample whose numbers are told
std::vector<std::string> broken_invariants(
    const std::vector<Evidence>& samples, std::size_t at, const std::string& input);

/// Which elements are wrong: "row 1", "the diagonal".
std::string pattern_of(const Evidence& evidence);

}  // namespace microtape::diagnosis
