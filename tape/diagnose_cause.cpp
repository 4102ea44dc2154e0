#include <algorithm>
#include <cmath>
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
  std::string cause;
  std::string look;
  std::vector<Formula> formulas;  // [sample]
};

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

std::vector<Match> matches(const Samples& samples, const std::string& input) {
  std::vector<Match> out;
  std::vector<std::map<std::string, Formula>> known(samples.size());
  for (std::size_t s = 1; s < samples.size(); ++s)
    for (Mistake& mistake : known_mistakes(samples[s], input))
      known[s].emplace(std::move(mistake.key), std::move(mistake.formula));
  for (const Mistake& mistake : known_mistakes(samples[0], input)) {
    Match match{mistake.cause, mistake.look, {mistake.formula}};
    bool is_found = reproduces(mistake.formula, samples[0]);
    for (std::size_t s = 1; is_found && s < samples.size(); ++s) {
      const auto same = known[s].find(mistake.key);
      is_found = same != known[s].end() && reproduces(same->second, samples[s]);
      if (is_found) match.formulas.push_back(same->second);
    }
    if (is_found) out.push_back(std::move(match));
  }
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
      return match.cause == other->cause || (!is_narrow && are_equal(match, *other, samples));
    });
    if (!is_told) different.push_back(&match);
  }
  constexpr std::size_t kMost = 3;
  if (different.size() > kMost) return std::nullopt;
  if (different.size() == 1) return Fact{found[0].cause, found[0].look};
  std::string cause = "these samples do not tell which: ";
  for (const Match* match : different)
    cause += cat(match == different[0] ? "" : "; or ", match->cause);
  return Fact{std::move(cause), ""};
}

// --- what numbers tell without a formula ---------------------------------------------------------

/// Whether some numbers that each sample has give what was found on all of them.
template <class F>
bool is_everywhere(const Samples& samples, F&& numbers) {
  return std::all_of(samples.begin(), samples.end(), [&](const Evidence& e) {
    const std::optional<Array> value = numbers(e);
    return value && reproduces(*value, e);
  });
}

bool is_times(const Samples& samples, double c) {
  return is_everywhere(samples, [c](const Evidence& e) -> std::optional<Array> {
    return plain::map(e.right, [c](double x) { return c * x; });
  });
}

std::optional<Array> transposed(const Evidence& e) {
  if (e.right.shape.rank() < 2) return std::nullopt;
  return plain::transposed(e.right);
}

bool has_nonfinite(const Evidence& e) {
  return std::ranges::any_of(e.found.values, [](double x) { return !std::isfinite(x); }) &&
         std::ranges::all_of(e.right.values, [](double x) { return std::isfinite(x); });
}

/// The number of elements, or an extent, that all samples have in the same place: n.
std::optional<Fact> times_an_extent(const Samples& samples, const std::string& input) {
  const Shape& first = samples[0].right.shape;
  for (Index axis = -first.rank(); axis <= 0; ++axis)
    for (const double power : {1, -1}) {
      const bool holds = is_everywhere(samples, [&](const Evidence& e) -> std::optional<Array> {
        const Shape& shape = e.right.shape;
        if (axis < -shape.rank()) return std::nullopt;
        const double n = static_cast<double>(axis == 0 ? shape.size() : shape[axis]);
        return plain::map(e.right, [&](double x) { return x * std::pow(n, power); });
      });
      const Index n = axis == 0 ? first.size() : first[axis];
      if (holds && n > 2)
        return Fact{cat("d", input, " is ", power > 0 ? "" : "1/", n, power > 0 ? " times" : " of",
                        " the right one, ", n, " being ",
                        axis == 0 ? "the number of elements" : "an extent"),
            "is it a sum or a mean?"};
    }
  return std::nullopt;
}

}  // namespace

std::optional<Fact> plain_fact(const Samples& samples, const std::string& input) {
  const std::string d = cat("d", input);
  const auto has = [&](auto what) { return std::any_of(samples.begin(), samples.end(), what); };
  if (has([](const Evidence& e) { return !e.is_reached; }))
    return Fact{cat(input, " gets no adjoint at all"),
        cat("was ", input, " recorded as an input with a rule?")};
  if (has(has_nonfinite))
    return Fact{cat(d, " is not finite where the right one is"),
        "a division by 0, a log or a sqrt outside of its range, or an overflow"};
  if (is_times(samples, 0))
    return Fact{cat(d, " is 0, whatever the adjoint of the result is"), "multiply by that adjoint"};
  if (is_everywhere(samples, [](const Evidence& e) { return std::optional(e.g); }))
    return Fact{"the adjoint of the result is passed on unchanged",
        "multiply it by the derivative of the result"};
  if (is_times(samples, -1))
    return Fact{cat("the sign of ", d, " is wrong"), "a minus is missing, or one is too many"};
  if (is_everywhere(samples, transposed))
    return Fact{cat(d, " is transposed"), "write the shapes below each factor: they must fit"};
  return std::nullopt;
}

std::optional<Fact> last_fact(const Samples& samples, const std::string& input) {
  const auto diagonal = [](const Evidence& e) -> std::optional<Array> {
    if (!e.diagonal) return std::nullopt;
    return plain::combine(*e.diagonal, e.g, [](double x, double y) { return x * y; });
  };
  if (is_everywhere(samples, diagonal))
    return Fact{cat("only the diagonal of the Jacobian is there, as if each result depended only "
                    "on the element of ",
                    input, " in its own place"),
        "each result depends on other elements too: add their terms"};
  if (is_times(samples, 2)) return Fact{cat("d", input, " is twice the right one"), ""};
  if (is_times(samples, 0.5)) return Fact{cat("d", input, " is half of the right one"), ""};
  return times_an_extent(samples, input);
}

std::optional<Fact> cause_of(const Samples& samples, const std::string& input) {
  if (auto fact = plain_fact(samples, input)) return fact;
  const bool has_formulas = std::all_of(
      samples.begin(), samples.end(), [](const Evidence& e) { return e.formula.has_value(); });
  if (has_formulas)
    if (const auto found = matches(samples, input); !found.empty()) return told(found, samples);
  return last_fact(samples, input);
}

}  // namespace microtape::diagnosis
