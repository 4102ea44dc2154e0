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
  const auto numbers = value_of(f, e.values, e.found.shape);
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
    const auto x = value_of(a.formulas[s], e.others, e.found.shape);
    const auto y = value_of(b.formulas[s], e.others, e.found.shape);
    if (!x || !y || !(distance(*x, *y).value <= kTolerance)) return false;
  }
  return true;
}

/// An axis of extent 1 makes a sum, a mean and a transpose vanish.
bool has_single_extent(const Evidence& e) {
  return std::any_of(e.operands.begin(), e.operands.end(),
      [](const Formula& name) { return std::ranges::find(*name.shape, 1) != name.shape->end(); });
}

std::optional<Fact> told(const std::vector<Match>& found, const Samples& samples) {
  if (found.empty()) return std::nullopt;
  const bool is_narrow = std::all_of(samples.begin(), samples.end(), has_single_extent);
  std::vector<const Match*> different{&found[0]};
  for (const Match& match : found) {
    const bool is_told = std::any_of(different.begin(), different.end(), [&](const Match* other) {
      return match.mistake.cause == other->mistake.cause ||
             (!is_narrow && are_equal(match, *other, samples));
    });
    if (!is_told) different.push_back(&match);
  }
  const Mistake& first = found[0].mistake;
  if (different.size() == 1) return Fact{first.cause, first.look};
  if (!first.unsure.empty()) return Fact{first.unsure, first.look};
  constexpr std::size_t kMost = 3;
  if (different.size() > kMost) return std::nullopt;
  std::string cause = "these samples do not tell which: ";
  for (const Match* match : different)
    cause += cat(match == different[0] ? "" : "; or ", match->mistake.cause);
  return Fact{std::move(cause), ""};
}

/// Without the formulas of all samples, what is right stands for itself.
Samples with_formulas(Samples samples) {
  if (std::ranges::all_of(samples, [](const Evidence& e) { return e.formula.has_value(); }))
    return samples;
  for (Evidence& e : samples) {
    Formula right = name_formula("right");
    right.shape = e.right.shape;
    e.contributions.clear();
    e.operands.clear();
    e.siblings.clear();
    e.formula = right;
    e.values = e.others = {{right.text, e.right}};
  }
  return samples;
}

}  // namespace

std::optional<Fact> cause_of(const Samples& samples, const std::string& input) {
  if (auto fact = plain_fact(samples, input)) return fact;
  const Samples explained = with_formulas(samples);
  auto fact = told(matches(explained, input), explained);
  if (!is_diagonal(samples)) return fact;
  const std::string cause = "only the diagonal of the Jacobian is there";
  if (fact) return Fact{cat(cause, ": ", fact->cause), fact->look};
  return Fact{cat(cause, ", as if each result depended only on the element of ", input,
                  " in its own place"),
      "the other elements on which each result depends"};
}

}  // namespace microtape::diagnosis
