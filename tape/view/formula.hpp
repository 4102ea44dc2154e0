#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <microtape/core/shape.hpp>

namespace microtape {

/// A formula as a tree: what ops record in a subset of LaTeX, ready to be printed, rewritten and
/// evaluated.
struct Formula {
  /// What stands at the root; children in brackets.
  enum class Kind {
    number,    ///< a literal: `value`
    symbol,    ///< a free letter that stands for a number, d or `\tau`: `text`, in LaTeX
    slot,      ///< `@name`, to be substituted: `text` without the @
    name,      ///< the value of a node: `text`, and `latex` for LaTeX
    list,      ///< integers [number, ..]; for a list of axes `value` is the rank that they count in
    add,       ///< [a, b]
    subtract,  ///< [a, b]
    negate,    ///< [a]
    product,   ///< [a, b]: scaling if one of them is_number, else the matrix product
    hadamard,  ///< [a, b]: the elementwise product
    divide,    ///< [a, b], elementwise
    root,      ///< [a]: the square root, elementwise
    power,     ///< [a, n], elementwise
    transpose,  ///< [a]: the last two axes swapped
    greater,    ///< [a, b]: 1 where a > b, else 0
    equal,      ///< [a, b]: 1 where a = b, else 0
    call,       ///< function `text` of [arguments ..], with `subscript`
  };

  Kind kind = Kind::number;  ///< what stands at the root
  std::string text;          ///< of a symbol, slot, name or call
  std::string latex;         ///< how LaTeX writes it; empty: as the text says
  /// The number that the tree stands for, if it is known: of a literal, of `\pi`, and of a symbol
  /// such as `\frac{1}{\sqrt{d}}` that an attribute gave together with its number.
  std::optional<double> value;
  std::vector<Formula> children;   ///< operands, or arguments
  std::vector<Formula> subscript;  ///< of a call
  /// Of a name: the shape of its value. Of a call such as broadcast, which depends on where it
  /// leads: the shape that it leads to; not given, that of what the formula defines.
  std::optional<Shape> shape;

  /// Whether it stands for one number by its form: literals, symbols, and arithmetic among them.
  bool is_number() const;

  friend bool operator==(const Formula&, const Formula&) = default;
};

/// @name Making trees
/// @{
/// A literal.
Formula number_formula(double value);
/// A list of integers.
/// @param rank  that the items count in, if they are axes
Formula list_formula(const Indices& items, std::optional<Index> rank = {});
/// The value of a node. @param latex  how LaTeX writes it; empty: as the text says
Formula name_formula(std::string_view text, std::string_view latex = "");
/// A node with children; for everything but leaves and calls.
Formula formula(Formula::Kind kind, std::vector<Formula> children);
/// @}

/// Reads the right side of a formula: sums, products by juxtaposition and `\odot`, `\frac`,
/// `\sqrt`, `^\top`, `^{n}`, parentheses, `[a > b]`, `\operatorname{f}_{@axis}(..)`, numbers,
/// letters, `@names`.
/// @throws ValueError for anything else; the text tells the position, counted from 0
Formula parse_formula(std::string_view text);

/// What the slots of a formula stand for; several trees for a name that several inputs share.
using Bindings = std::map<std::string, std::vector<Formula>, std::less<>>;

/// The formula with every slot replaced. A name of several trees expands, among the arguments of
/// concat and stack, to all of them in order; elsewhere it is the first. Sums and differences of
/// two literals are added up, and 1 x and x^1 become x.
/// @throws ValueError if a slot has no binding
Formula substitute(const Formula& formula, const Bindings& bindings);

/// ascii writes `A^T`, `sqrt(d)`, `*`; unicode `Aᵀ`, `√d`, `⊙`. Names stay as the user wrote them.
enum class Glyphs : std::uint8_t { ascii, unicode };

/// The formula as text: `Q K^T / sqrt(d)`, `P * (dP - rowsum(dP * P))`. A space is the matrix
/// product or scaling, `*` the elementwise product; where the two mix there are parentheses. A
/// leading fraction of numbers moves behind: 1/2 x is `x / 2`.
std::string to_text(const Formula& formula, Glyphs glyphs = Glyphs::ascii);
/// The same in LaTeX, for math mode: `\frac{Q\,K^\top}{\sqrt{d}}`.
std::string to_latex(const Formula& formula);
/// The same as the inside of a `<math>` element of MathML Core; what stands in names is escaped.
std::string to_mathml(const Formula& formula);

}  // namespace microtape
