#pragma once

#include <algorithm>
#include <set>
#include <string>

#include <microtape/core/format.hpp>
#include <microtape/tape/view/derivation.hpp>
#include <microtape/tape/view/evaluate.hpp>

#include "testing.hpp"
#include "view/read_text.hpp"

namespace microtape::testing {

/// Evaluates the lines of derivations on the numbers of a tape and of a sweep.
class DerivationCheck {
 public:
  /// @param tape  float64, Keep::everything
  DerivationCheck(MicroTape& tape, const Var& y)
      : tape_(tape), y_(y), sweep_(y, Tensor::uniform(y.shape(), -2, 2, 11, float64)) {
    while (!sweep_.done()) sweep_.advance();
    for (const Node& node : tape.nodes())
      for (const Attribute& attribute : node.attributes())
        if (attribute.symbol() == R"(\frac{1}{\sqrt{d}})") widths_.insert(attribute.number());
    if (widths_.size() == 1) symbols_["d"] = 1 / (*widths_.begin() * *widths_.begin());
  }

  /// What is wrong with the equations, a line for each; "" if nothing is.
  std::string problems(const DerivationOptions& options = {}) {
    const Derivation d = derivation(tape_, y_, options);
    problems_.clear();
    environment_.clear();
    adjoints_.clear();
    for (const Given& given : d.given) define(given.node, given.is_adjoint, given.name);
    for (const Equation& equation : d.equations) {
      check(equation);
      define(equation.node, equation.is_adjoint, equation.left);
    }
    // Every leaf that the sweep reached has an adjoint, and no other.
    for (NodeId id = 0; id <= y_.node(); ++id) {
      if (tape_.node(id).kind() == NodeKind::op) continue;
      if (sweep_.adjoint(id).defined() != adjoints_.contains(id))
        problems_ += cat("adjoint of #", id, "\n");
    }
    return problems_;
  }

  /// How many lines have been evaluated by all calls, and how many of them also as a person reads
  /// the text.
  int lines() const { return lines_; }
  int lines_read() const { return lines_read_; }

 private:
  Tensor number_of(NodeId node, bool is_adjoint) const {
    return is_adjoint ? sweep_.adjoint(node).value() : tape_.node(node).value();
  }

  void define(NodeId node, bool is_adjoint, const Formula& name) {
    const bool is_new =
        environment_.emplace(name.text, to_array(number_of(node, is_adjoint))).second;
    if (!is_new) problems_ += name.text + " is defined twice\n";
    if (is_adjoint) adjoints_.insert(node);
  }

  /// Evaluates a line; what it names must have been defined before.
  void check(const Equation& equation) {
    const std::string text = to_text(equation.right);
    const std::string line = cat(to_text(equation.left), " = ", text);
    const Tensor expected = number_of(equation.node, equation.is_adjoint);
    ++lines_;
    check(line, equation.right, expected);
    const bool is_ambiguous = widths_.size() > 1 && text.find("sqrt(d)") != std::string::npos;
    if (is_ambiguous || !is_readable(equation.right, expected.shape())) return;
    ++lines_read_;
    TextReader reader(text, symbols_);
    const Formula read = reader.sum();
    if (!reader.is_done()) problems_ += line + ": cannot be read\n";
    check("as read: " + line, read, expected);
  }

  void check(const std::string& line, const Formula& formula, const Tensor& expected) {
    try {
      const Tensor actual = to_tensor(evaluate(formula, environment_, expected.shape()));
      const Comparison comparison = compare("", actual, expected, 1e-12);
      // Where all cancels, only rounding is left.
      if (comparison.agrees || comparison.max_abs < 1e-13) return;
      problems_ += cat(line, ": ", comparison.actual, ", expected ", comparison.expected, "\n");
    } catch (const Error& error) {
      problems_ += cat(line, ": ", error.what(), "\n");
    }
  }

  /// Whether the text says all: no number is rounded, and what depends on where it leads leads to
  /// the shape of the line.
  static bool is_readable(const Formula& f, const Shape& shape) {
    if (f.kind == Formula::Kind::call && f.shape && *f.shape != shape && depends_on_shape(f.text))
      return false;
    if (f.kind == Formula::Kind::number) {
      const std::string text = to_text(f);
      return TextReader(text[0] == '-' ? text.substr(1) : text).sum().value == std::abs(*f.value);
    }
    return std::all_of(f.children.begin(), f.children.end(),
        [&](const Formula& child) { return is_readable(child, shape); });
  }

  static bool depends_on_shape(const std::string& function) {
    static const std::set<std::string> kAll{
        "broadcast", "reshape", "unslice", "scatter", "addrows", "where", "heads"};
    return kAll.contains(function);
  }

  MicroTape& tape_;
  Var y_;
  Sweep sweep_;
  std::set<double> widths_;  ///< the numbers that 1 / sqrt(d) stands for
  std::map<std::string, double> symbols_{{"pi", 3.141592653589793}};
  Environment environment_;
  std::set<NodeId> adjoints_;
  std::string problems_;
  int lines_ = 0, lines_read_ = 0;
};

inline constexpr DerivationOptions kAllForms[] = {
    {.form = DerivationForm::textbook, .scopes = ScopeLines::one},
    {.form = DerivationForm::textbook, .scopes = ScopeLines::unfolded},
    {.form = DerivationForm::literal, .scopes = ScopeLines::one},
    {.form = DerivationForm::literal, .scopes = ScopeLines::unfolded},
};

/// The text of a derivation whose lines hold in all forms.
inline std::string derived(MicroTape& tape, const Var& y, const DerivationOptions& options = {}) {
  DerivationCheck check(tape, y);
  for (const DerivationOptions& each : kAllForms) CHECK(check.problems(each) == "");
  return to_text(derivation(tape, y, options));
}

/// Standard normal float64 numbers.
inline Tensor normal(const Shape& shape, std::uint64_t seed) {
  return Tensor::randn(shape, seed, float64);
}

}  // namespace microtape::testing
