#include <microtape/tape/view/formula_call.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <microtape/core/format.hpp>

namespace microtape {
namespace {

using Kind = Formula::Kind;

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string joined(const std::vector<Index>& numbers) {
  std::string out;
  for (const Index number : numbers) out += cat(out.empty() ? "" : ", ", number);
  return out;
}

/// The integers of a subscript, and the rank that they count in, if that is known.
struct Subscript {
  std::vector<Index> numbers;
  std::optional<Index> rank;
  bool is_bound = true;

  bool is_all() const { return rank == static_cast<Index>(numbers.size()); }
  /// The only axis, counted from the end; 0 if there are more, or the rank is not known.
  Index from_end() const {
    if (numbers.size() != 1) return 0;
    return numbers[0] < 0 ? numbers[0] : std::min<Index>(numbers[0] - rank.value_or(0), 0);
  }
};

Subscript read(const std::vector<Formula>& entries) {
  Subscript result;
  for (const Formula& entry : entries) {
    if (entry.kind == Kind::number) {
      result.numbers.push_back(static_cast<Index>(*entry.value));
    } else if (entry.kind == Kind::list) {
      for (const Formula& item : entry.children)
        result.numbers.push_back(static_cast<Index>(*item.value));
      if (entry.value) result.rank = static_cast<Index>(*entry.value);
    } else {
      result.is_bound = false;
    }
  }
  return result;
}

std::string axes_note(const Subscript& at) {
  return (at.numbers.size() == 1 ? "axis " : "axes ") + joined(at.numbers);
}

/// rowsum and rowmean keep the axes that they reduce; without a subscript, all.
CallName keeping(std::string_view reduction, const Subscript& at) {
  if (at.from_end() == -1) return {cat("row", reduction), ""};
  if (at.from_end() == -2) return {cat("col", reduction), ""};
  const bool is_all = at.is_all() || at.numbers.empty();
  return {std::string(reduction), (is_all ? "all" : axes_note(at)) + ", kept"};
}

}  // namespace

CallName call_name(const Formula& call) {
  static constexpr std::array<std::string_view, 2> kAlong{"softmax", "logsoftmax"};
  static constexpr std::array<std::string_view, 6> kOverAxes{
      "sum", "mean", "max", "logsumexp", "ismax", "broadcast"};
  static constexpr std::array<std::string_view, 2> kKeeping{"rowsum", "rowmean"};
  static constexpr std::array<std::string_view, 2> kJoins{"concat", "stack"};
  static constexpr std::array<std::string_view, 2> kRanges{"slice", "unslice"};

  const std::string& name = call.text;
  const Subscript at = read(call.subscript);
  const std::vector<Index>& numbers = at.numbers;
  if (call.subscript.empty() && !is_one_of(name, kKeeping)) return {name, ""};
  if (!at.is_bound) {
    std::string note;
    for (const Formula& entry : call.subscript)
      note += cat(note.empty() ? "" : ", ", to_text(entry));
    return {name, note};
  }
  if (name == "rowsum") return keeping("sum", at);
  if (name == "rowmean") return keeping("mean", at);
  if (is_one_of(name, kAlong)) return {name, at.from_end() == -1 ? "" : axes_note(at)};
  if (is_one_of(name, kOverAxes)) return {name, at.is_all() ? "" : axes_note(at)};
  if (is_one_of(name, kJoins)) return {name, axes_note(at)};
  if (is_one_of(name, kRanges) && numbers.size() == 3)
    return {name, cat("axis ", numbers[0], ", ", numbers[1], ":", numbers[2])};
  if (name == "select" && numbers.size() == 2)
    return {name, cat("axis ", numbers[0], ", ", numbers[1])};
  return {name, joined(numbers)};
}

}  // namespace microtape
