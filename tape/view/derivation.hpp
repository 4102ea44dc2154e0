#pragma once

#include <string>
#include <vector>

#include <microtape/tape/micro_tape.hpp>
#include <microtape/tape/view/formula.hpp>

namespace microtape {

/// textbook: scalars and signs stand outside, transposes inside: dK = dS^T Q / sqrt(d).
/// literal: as the ops recorded it: dK = (Q^T (dS / sqrt(d)))^T.
enum class DerivationForm : std::uint8_t { textbook, literal };

/// Whether a scope that has a formula and a rule is one line, or the ops inside are shown.
enum class ScopeLines : std::uint8_t { one, unfolded };

/// Options of derivation.
struct DerivationOptions {
  DerivationForm form = DerivationForm::textbook;  ///< how equations are written
  ScopeLines scopes = ScopeLines::one;             ///< whether scopes are unfolded
};

/// What a derivation begins with: a leaf, a parameter, a constant, or the adjoint of y.
struct Given {
  NodeId node;      ///< which it is
  bool is_adjoint;  ///< whether its adjoint is meant, not its value
  Formula name;     ///< how it is called
};

/// One line of a derivation: the value of a node, or its adjoint.
struct Equation {
  NodeId node;      ///< which it is
  bool is_adjoint;  ///< whether its adjoint is meant, not its value
  Formula left;     ///< a name
  Formula right;    ///< evaluate() it with the shape of the node as its target
};

/// The mathematics that a tape recorded.
struct Derivation {
  NodeId y;                         ///< what was differentiated
  std::vector<Given> given;         ///< sources in the order of the tape; the adjoint of y last
  std::vector<Equation> equations;  ///< of values, in the order of the tape; then of adjoints
};

/// The equations by which y was computed, and those of all adjoints, given that of y:
///
///     S = Q K^T / sqrt(d)
///     P = softmax(S)
///     C = P V
///     given dC:
///     dP = dC V^T
///     dV = P^T dC
///     dS = P * (dP - rowsum(dP * P))
///     dQ = dS K / sqrt(d)
///     dK = dS^T Q / sqrt(d)
///
/// They are the recorded formulas with names put in. A node without a name that is used once is put
/// in its user, and its adjoint wherever that is used; others without a name, and what would make a
/// line longer than 80 characters, are called by their number: #12. (Longer is only a line in which
/// nothing can be called so.) Two of one name are told apart by their numbers: Q#3, Q#12. A
/// broadcast, and a reshape that only merges rows, are not written where arithmetic does them by
/// itself; the adjoint of what was repeated is a sum over named axes. Adjoints come in the order in
/// which they are complete, those that one equation completes in the order of its inputs. What y
/// does not depend on is left out.
/// @param y  active, on the tape
/// @throws TapeError if y is a constant, or stands elsewhere; ValueError if a formula cannot be
///         read, with the node that recorded it
Derivation derivation(const MicroTape& tape, const Var& y, const DerivationOptions& options = {});

/// A line for each equation, and "given dC:", or "given dL = 1:" if y is a scalar, between values
/// and adjoints. The same tape always gives the same bytes.
std::string to_text(const Derivation& derivation, Glyphs glyphs = Glyphs::ascii);
/// The same as an aligned environment of LaTeX, for display math mode.
std::string to_latex(const Derivation& derivation);
/// The same as a `<math>` element: a table, in MathML Core.
std::string to_mathml(const Derivation& derivation);

}  // namespace microtape
