#include <algorithm>
#include <map>
#include <utility>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/diagnose_mistakes.hpp>
#include <microtape/tape/view/formula_shape.hpp>

// Which of the known mistakes it was.

namespace microtape::diagnosis {
namespace {

using Samples = std::vector<Evidence>;

/// A mistake that gives the numbers that were found, made in the formula of each sample.
struct Match {
  Mistake mistake;
  std::vector<Formula> formulas;  // [sample]
};

using Known = std::map<std::string, Formula>;  // [key of the mistake]

std::optional<Array> value_of(const Formula& f, const Environment& values, const Shape& shape) {
  try {
    return evaluate(f, values, shape);
  } catch (const Error&) {
    return std::nullopt;  // a mistake may leave shapes that do not fit
  }
}

bool reproduces(const Formula& f, const Evidence& e) {
  const auto shape = shape_of(f);
  // evaluate() would make another shape fit.
  if (shape ? *shape != e.found.shape : shape_of(*e.formula).has_value()) return false;
  const auto numbers = value_of(f, e.operands.values, e.found.shape);
  return numbers && reproduces(*numbers, e);
}

/// The formulas of a mistake on all samples, if it gives what was found on each. A mistake that a
/// sample cannot show (over all instead of each row, of a single row) is none there.
std::optional<std::vector<Formula>> on_all(
    const Mistake& mistake, const Samples& samples, const std::vector<Known>& known) {
  std::vector<Formula> out;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto same = known[s].find(mistake.key);
    if (same == known[s].end() && !is_right(samples[s])) return std::nullopt;
    out.push_back(same == known[s].end() ? *samples[s].formula : same->second);
    if (!reproduces(out.back(), samples[s])) return std::nullopt;
  }
  return out;
}

std::vector<Match> matches(const Samples& samples, const std::string& input) {
  std::vector<Known> known(samples.size());
  for (std::size_t s = 0; s < samples.size(); ++s)
    for (Mistake& mistake : known_mistakes(samples[s], input))
      known[s].emplace(std::move(mistake.key), std::move(mistake.formula));
  std::vector<Match> out;
  const auto wrong = std::find_if_not(samples.begin(), samples.end(), is_right);
  for (const Mistake& mistake : known_mistakes(*wrong, input))
    if (auto formulas = on_all(mistake, samples, known))
      out.push_back({mistake, *std::move(formulas)});
  return out;
}

/// Whether two come to the same, not only on the numbers of the samples.
bool are_equal(const Match& a, const Match& b, const Samples& samples) {
  constexpr double kTolerance = 1e-9;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const Evidence& e = samples[s];
    const auto x = value_of(a.formulas[s], e.operands.others, e.found.shape);
    const auto y = value_of(b.formulas[s], e.operands.others, e.found.shape);
    if (!x || !y || !(distance(*x, *y).value <= kTolerance)) return false;
  }
  return true;
}

/// Whether an input has an axis of extent 1, which makes a sum and a transpose vanish.
bool has_single_extent(const Evidence& e) {
  constexpr std::size_t kOthers = 2;  // y and g, which follow the inputs
  const std::vector<Formula>& names = e.operands.names;
  for (std::size_t i = 0; i + kOthers < names.size(); ++i)
    if (std::ranges::find(*names[i].shape, 1) != names[i].shape->end()) return true;
  return false;
}

bool is_by_extents(const Match& match) {
  return match.mistake.kind == wrong_sum || match.mistake.kind == wrong_matrix;
}

/// Those that are not the same mistake in other words; the simplest of each.
std::vector<const Mistake*> different(const std::vector<Match>& found, const Samples& samples) {
  const bool is_narrow = std::ranges::all_of(samples, has_single_extent);
  std::vector<const Match*> out;
  for (const Match& match : found) {
    const bool is_known = std::ranges::any_of(out, [&](const Match* other) {
      const bool is_blind = is_narrow && (is_by_extents(match) || is_by_extents(*other));
      return match.mistake.cause == other->mistake.cause ||
             (!is_blind && are_equal(match, *other, samples));
    });
    if (!is_known) out.push_back(&match);
  }
  std::vector<const Mistake*> mistakes;
  for (const Match* match : out) mistakes.push_back(&match->mistake);
  return mistakes;
}

/// Whether a mistake lies in the part that another one leaves out.
bool is_inside(const Mistake& mistake, const Mistake& left_out) {
  return mistake.place.starts_with(cat(left_out.place, left_out.part, "."));
}

std::optional<Fact> told(const std::vector<const Mistake*>& mistakes) {
  if (mistakes.empty()) return std::nullopt;
  const Mistake& first = *mistakes[0];
  const std::span rest(mistakes.begin() + 1, mistakes.end());
  if (rest.empty()) return Fact{first.cause, first.look};
  const bool is_part = !first.unsure.empty() && !first.place.empty();
  if (is_part && std::ranges::all_of(rest, [&](const Mistake* m) { return is_inside(*m, first); }))
    return Fact{first.unsure, first.look};
  constexpr std::size_t kMost = 3;
  if (mistakes.size() > kMost) return std::nullopt;
  std::string cause = cat("these samples do not tell which: ", first.cause);
  for (const Mistake* mistake : rest) cause += cat("; or ", mistake->cause);
  return Fact{std::move(cause), ""};
}

/// Without the formulas of all samples, what is right stands for itself.
Samples with_formulas(Samples samples) {
  if (std::ranges::all_of(samples, [](const Evidence& e) { return e.formula.has_value(); }))
    return samples;
  for (Evidence& e : samples) {
    Formula right = name_formula("right");
    right.shape = e.right.shape;
    const Environment value{{right.text, e.right}};
    e.formula = right;
    e.contributions.clear();
    e.siblings.clear();
    e.operands = {{}, value, value};
  }
  return samples;
}

}  // namespace

std::optional<Fact> cause_of(const Samples& samples, const std::string& input) {
  if (std::ranges::all_of(samples, is_right)) return std::nullopt;
  if (auto fact = plain_fact(samples, input)) return fact;
  const Samples explained = with_formulas(samples);
  const std::vector<Match> found = matches(explained, input);
  const auto fact = told(different(found, explained));
  if (!is_diagonal(samples)) return fact;
  const std::string cause = "only the diagonal of the Jacobian is there";
  if (fact) return Fact{cat(cause, ": ", fact->cause), fact->look};
  return Fact{cat(cause, ", as if each result depended only on the element of ", input,
                  " in its own place"),
      "the other elements on which each result depends"};
}

}  // namespace microtape::diagnosis
