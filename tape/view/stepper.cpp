#include <microtape/tape/view/stepper.hpp>

#include <algorithm>
#include <charconv>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/view/equation.hpp>
#include <microtape/tape/view/utf8.hpp>

// The commands; what a step looks like is in stepper_show.cpp.

namespace microtape {
namespace {

constexpr std::size_t kMostOfWord = 40;  ///< columns

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// A whole number, and nothing else.
std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// A word of the user's in an answer.
std::string quoted(std::string_view word) {
  return utf8::shortened(utf8::printable(word.substr(0, 4 * kMostOfWord)), kMostOfWord);
}

/// Whether a word is a command, or its first letter.
bool is(std::string_view word, std::string_view command) {
  return word == command || word == command.substr(0, 1);
}

}  // namespace

Stepper::Stepper(MicroTape& tape, const Var& y, const Var& seed, Colour colour)
    : tape_(&tape), y_(y), seed_(seed), colour_(colour), sweep_(y, seed) {
  if (tape.keep() == Keep::needed)
    throw TapeError(
        "Stepper: the tape is Keep::needed: it does not have all numbers; step over a "
        "Keep::everything tape");
  if (y.tape() != &tape)
    throw TapeError("Stepper: y is not on this tape; give the tape that it was computed on");
  forward_count_ = std::size_t{y.node()} + 1;
  // Walk once through, to know when each adjoint will be complete.
  complete_.resize(forward_count_);
  complete_[y.node()] = forward_count_;
  for (Sweep sweep = sweep_; !sweep.done();) {
    const Sweep::Step step = sweep.step();
    order_.push_back(step.node);
    for (const Sweep::Contribution& part : step.contributions)
      if (part.complete) complete_[part.edge->input()] = forward_count_ + order_.size();
  }
  backward_count_ = order_.size();
}

std::string Stepper::help() {
  return R"(  next, n, Enter, Right    one step on (n 5: five steps)
  back, b, Left            one step back (b 5: five steps)
  start, Home   end, End   before the first step, after the last
  run P   run dP   run     to where P is computed, dP is complete, the end
  print P   print dP       a value, an adjoint as far as it is known (p)
  adjoint P                the same as print dP (a)
  rule                     the equations of this step with numbers in them (r)
  jacobian                 all derivatives of this node by its inputs (j)
  watch P   unwatch P      show P after each step, or no more (w, u)
  list                     all steps, and where you are (l)
  help, h   quit, q
A node goes by its name or its number, #4; its adjoint has a d before that.
)";
}

std::string Stepper::command(std::string_view line) {
  line = trimmed(line);
  const auto space = line.find_first_of(" \t");
  const std::string_view word = line.substr(0, space);
  const std::string_view rest =
      space == line.npos ? std::string_view{} : trimmed(line.substr(space));
  const auto count = [&]() -> std::size_t {
    if (rest.empty()) return 1;
    const std::optional<std::size_t> number = whole_number(rest);
    if (!number) throw ValueError(cat("\"", quoted(rest), "\" is no number of steps"));
    return *number;
  };
  try {
    if (word.empty()) return move_to(position_ + 1);
    if (is(word, "next")) return move_to(position_ + std::min(count(), size()));
    if (is(word, "back")) return move_to(position_ - std::min(count(), position_));
    if (word == "start") return move_to(0);
    if (word == "end") return move_to(size());
    if (word == "run") return run(rest);
    if (is(word, "print")) return print(find(rest));
    if (is(word, "adjoint")) return print({find(rest).node, true});
    if (is(word, "rule")) return rule();
    if (is(word, "jacobian")) return jacobian(rest);
    if (is(word, "watch")) return watch(rest);
    if (is(word, "unwatch")) return unwatch(rest);
    if (is(word, "list")) return list();
    if (is(word, "help") || word == "?") return help();
    if (is(word, "quit")) return has_quit_ = true, "";
  } catch (const Error& error) {
    return cat(error.what(), "\n");
  }
  return cat("There is no command \"", quoted(word), "\"; `help` lists them.\n");
}

std::string Stepper::move_to(std::size_t position) {
  if (position > size()) {
    if (position_ == size()) return "This was the last step; `back` and `start` go back.\n";
    position = size();
  }
  if (position < position_) {
    // Begin the sweep anew: what a rule computes depends on nothing else.
    sweep_ = Sweep(y_, seed_);
    position_ = std::min(position, forward_count_);
  }
  for (; position_ < position; ++position_)
    if (position_ >= forward_count_) last_ = sweep_.step();
  return show();
}

std::string Stepper::run(std::string_view where) {
  return move_to(where.empty() ? size() : step_of(find(where)));
}

std::size_t Stepper::step_of(const Target& target) const {
  if (!target.is_adjoint) return std::size_t{target.node} + 1;
  if (complete_[target.node] > 0) return complete_[target.node];
  throw ValueError(cat("No adjoint ever reaches ", node_name(*tape_, target.node), "."));
}

Stepper::Target Stepper::find(std::string_view word) const {
  if (word.empty()) throw ValueError("Which node? Give a name, or a number such as #4.");
  const auto by_name = [&](std::string_view name) -> std::optional<NodeId> {
    if (const auto number = whole_number(name.substr(name.starts_with('#'))))
      if (*number < forward_count_) return static_cast<NodeId>(*number);
    std::string same;
    std::optional<NodeId> found;
    for (NodeId id = 0; id < forward_count_; ++id) {
      const std::string_view given = tape_->node(id).name();
      if (given.empty() || (given != name && utf8::printable(given) != name)) continue;
      same += cat(found ? ", #" : "#", id);
      if (found)
        throw ValueError(cat("Several nodes are called ", quoted(name), ", ", same,
            " among them: give the number."));
      found = id;
    }
    return found;
  };
  if (const auto node = by_name(word)) return {*node, false};
  if (word.size() > 1 && word.starts_with('d'))
    if (const auto node = by_name(word.substr(1))) return {*node, true};
  std::string names;
  for (NodeId id = 0; id < forward_count_; ++id)
    if (!tape_->node(id).name().empty())
      names += cat(names.empty() ? "; the names are " : ", ", node_name(*tape_, id));
  throw ValueError(cat("There is no node ", quoted(word), names, "."));
}

std::string Stepper::watch(std::string_view word) {
  const Target target = find(word);
  if (std::find(watched_.begin(), watched_.end(), word) == watched_.end())
    watched_.emplace_back(word);
  return print(target);
}

std::string Stepper::unwatch(std::string_view word) {
  if (std::erase(watched_, std::string(word)) == 0)
    throw ValueError(cat("Nothing called \"", quoted(word), "\" is watched."));
  return "";
}

NodeId Stepper::current_node() const {
  if (position_ == 0) throw ValueError("This is before the first step; `next` takes it.");
  return position_ <= forward_count_ ? static_cast<NodeId>(position_ - 1)
                                     : order_[position_ - forward_count_ - 1];
}

}  // namespace microtape
