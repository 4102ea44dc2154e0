#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <microtape/tape/backward.hpp>

namespace microtape {

/// Whether text for a terminal carries colours (ANSI escape sequences).
enum class Colour : std::uint8_t { no, yes };

/// A walk over a tape, for a terminal: forward node by node, as the values were computed, then
/// backward, as a Sweep from y applies the rules. It can also go back.
///
///     Stepper stepper(tape, y, seed);
///     for (std::string line; !stepper.has_quit() && std::getline(std::cin, line);)
///       std::cout << stepper.command(line);
///
/// Position 0 is before the first step; each step shows one node. The commands are in help().
class Stepper {
 public:
  /// @param tape  Keep::everything; it does not grow, and must outlive the Stepper
  /// @param y     where the backward half starts; nodes after it are left out
  /// @param seed  the adjoint of y
  /// @throws TapeError if the tape is Keep::needed, or y not on it; else as Sweep()
  Stepper(MicroTape& tape, const Var& y, const Var& seed, Colour colour = Colour::no);

  /// Does what a line says, and returns what there is to see: whole lines, or nothing. An empty
  /// line is `next`. What it does not understand it says, and stays where it is.
  std::string command(std::string_view line);
  /// Whether `quit` was typed.
  bool has_quit() const { return has_quit_; }

  /// Number of steps done.
  std::size_t position() const { return position_; }
  /// Number of steps, forward and backward.
  std::size_t size() const { return forward_count_ + backward_count_; }
  /// The step at the position, and what is watched.
  std::string show() const;
  /// All commands, on one screen.
  static std::string help();

 private:
  /// What a word of the user means: a node, or its adjoint.
  struct Target {
    NodeId node;
    bool is_adjoint;
  };

  std::string move_to(std::size_t position);
  std::string run(std::string_view where);
  std::string print(const Target& target) const;
  std::string rule() const;
  std::string jacobian(std::string_view word) const;
  std::string watch(std::string_view word);
  std::string unwatch(std::string_view word);
  std::string list() const;

  Target find(std::string_view word) const;
  std::size_t step_of(const Target& target) const;
  NodeId current_node() const;
  std::string show_forward() const;
  std::string show_backward() const;
  std::string named(const std::string& name, const Tensor& value, std::string_view indent) const;
  std::string equation_with_numbers(NodeId id, const Edge* edge) const;
  std::string bold(const std::string& line) const;  // cut at 80 columns

  MicroTape* tape_;
  Var y_, seed_;
  Colour colour_;
  bool has_quit_ = false;
  std::size_t forward_count_, backward_count_ = 0;
  std::vector<NodeId> order_;          // [backward step]: whose rules it applies
  std::vector<std::size_t> complete_;  // [node]: the step that completes its adjoint; 0: none does
  std::size_t position_ = 0;
  Sweep sweep_;       // after the steps so far
  Sweep::Step last_;  // what the last of them did
  std::vector<std::string> watched_;
};

}  // namespace microtape
