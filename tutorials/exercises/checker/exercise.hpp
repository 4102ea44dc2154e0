#pragma once

#include <cstdint>
#include <functional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include <microtape/microtape.hpp>

// What an exercise is made of, and what checks it. docs/teaching.md tells how to write one.

namespace microtape {

/// Stands in a hole, in place of the adjoint of an input, and takes what there is to compute it.
/// @throws NotWritten always
Var not_written_yet(
    const Var& g, const Var& y = {}, std::source_location where = std::source_location::current());

/// A hole that has not been filled.
struct NotWritten {
  std::uint32_t line;
};

/// An op whose rules the student writes.
struct Exercise {
  using Function = std::function<Var(std::span<const Var> in)>;

  std::string op;                            ///< what it calls itself in record()
  Function written;                          ///< the student's
  Function right;                            ///< the same from MicroTape's ops
  std::vector<std::string> inputs;           ///< as the student calls them
  std::vector<std::vector<Tensor>> samples;  ///< float64; docs/teaching.md tells of which shapes
};

/// What was found of the rule of one input.
struct RuleVerdict {
  std::string input;
  std::string state;     ///< "right", "wrong", "not written yet" ..
  bool first = false;    ///< the derivative is right
  bool second = false;   ///< so is the derivative of the derivative
  bool formula = false;  ///< so is the formula
  std::string equation;  ///< the formula as text: "dx = y * g"; empty if it cannot be read
  std::vector<std::string> lines;  ///< what to tell the student unless all is right; at most five

  bool is_right() const { return first && second && formula; }
};

/// What was found of an exercise.
struct Verdict {
  std::vector<RuleVerdict> rules;
  std::string problem;  ///< why no rule was looked at; else empty

  bool is_right() const;
  /// Of 100, in equal shares for the rules: half of a share for the derivative, a quarter for the
  /// second derivative, a quarter for the formula.
  int points() const;
  /// What the student is told, in at most six lines.
  std::vector<std::string> lines(const std::string& name) const;
};

/// Checks each rule on its own, so that a part that is right counts.
Verdict check(const Exercise& exercise);

}  // namespace microtape

/// The exercise to check; each sample defines its own.
/// @param seed  of its random numbers
microtape::Exercise make_exercise(std::uint64_t seed);
