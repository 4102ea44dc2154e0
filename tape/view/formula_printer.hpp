#pragma once

#include <string>
#include <vector>

#include <microtape/tape/view/formula.hpp>
#include <microtape/tape/view/formula_call.hpp>

// What text, LaTeX and MathML have in common. Internal to tape/view.

namespace microtape {

/// A way to write formulas down. Its functions put written parts together; where parentheses stand
/// is not its business.
class Notation {
 public:
  virtual ~Notation() = default;

  /// Whether a numerator stands above its denominator, so that neither needs parentheses.
  virtual bool stacks_fractions() const = 0;

  virtual std::string number(const std::string& digits) const = 0;
  /// @param latex  a letter, \tau, d_{model}
  virtual std::string symbol(const std::string& latex) const = 0;
  virtual std::string name(const Formula& name) const = 0;

  virtual std::string parentheses(const std::string& inside) const = 0;
  virtual std::string brackets(const std::string& inside) const = 0;
  /// Parts with commas between them.
  virtual std::string listed(const std::vector<std::string>& parts) const = 0;

  virtual std::string negative(const std::string& a) const = 0;
  virtual std::string sum(const std::string& a, const std::string& b) const = 0;
  virtual std::string difference(const std::string& a, const std::string& b) const = 0;
  /// The matrix product, or scaling.
  virtual std::string product(const std::string& a, const std::string& b) const = 0;
  virtual std::string hadamard(const std::string& a, const std::string& b) const = 0;
  virtual std::string quotient(const std::string& a, const std::string& b) const = 0;
  /// @param inside  what a is written from
  virtual std::string root(const std::string& a, const Formula& inside) const = 0;
  virtual std::string power(const std::string& base, const std::string& exponent) const = 0;
  virtual std::string transpose(const std::string& a) const = 0;
  /// @param sign  '>' or '='
  virtual std::string relation(const std::string& a, char sign, const std::string& b) const = 0;
  /// @param arguments  in parentheses
  virtual std::string call(const CallName& name, const std::string& arguments) const = 0;
};

/// A text in two parts.
struct Indexed {
  std::string base, index;
};

/// Writes a formula in a notation, with parentheses by precedence.
std::string print(const Formula& formula, const Notation& notation);

/// The sign of a Greek letter: "tau" is "τ"; empty if it is none.
std::string greek(std::string_view name);
/// The opposite: "τ" is "tau".
std::string greek_name(std::string_view sign);

/// 1.5e-07 in its two parts: "1.5" and "-7"; the second is empty if there is none.
Indexed split_exponent(const std::string& digits);
/// \tau_{model} in its two parts: "\tau" and "model", which may be empty.
Indexed split_index(const std::string& text);
/// Q#12, the Q of node 12, in its two parts: "Q" and "#12". #12 and d#12 are of one part.
Indexed split_number(const std::string& text);

}  // namespace microtape
