#include <algorithm>
#include <cmath>
#include <utility>

#include <microtape/core/format.hpp>
#include <microtape/tape/diagnose_mistakes.hpp>

// Mistakes that numbers tell without a formula.

namespace microtape::diagnosis {
namespace {

using Samples = std::vector<Evidence>;

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

/// The numbers in the shape that was found.
std::optional<Array> reshaped(std::optional<Array> x, const Evidence& e) {
  if (x && x->size() == e.found.size()) x->shape = e.found.shape;
  return x;
}

bool has_nonfinite(const Evidence& e) {
  return std::ranges::any_of(e.found.values, [](double x) { return !std::isfinite(x); }) &&
         std::ranges::all_of(e.right.values, [](double x) { return std::isfinite(x); });
}

}  // namespace

bool is_diagonal(const std::vector<Evidence>& samples) {
  return is_everywhere(samples, [](const Evidence& e) -> std::optional<Array> {
    if (!e.diagonal) return std::nullopt;
    return plain::combine(*e.diagonal, e.g, [](double x, double y) { return x * y; });
  });
}

std::optional<Fact> plain_fact(const Samples& samples, const std::string& input) {
  const std::string d = cat("d", input);
  const auto has = [&](auto what) { return std::any_of(samples.begin(), samples.end(), what); };
  if (has([](const Evidence& e) { return !e.is_reached; }))
    return Fact{cat(input, " gets no adjoint at all"),
        cat("the inputs in record(): ", input, " needs a rule there")};
  if (has(has_nonfinite))
    return Fact{cat(d, " is not finite where the right one is"),
        "a division by 0, a log or a sqrt outside of its range, or an overflow"};
  if (is_times(samples, 0))
    return Fact{cat(d, " is 0 everywhere"),
        "the adjoint of the result, which must take part, and terms that cancel"};
  const bool has_shape = std::ranges::all_of(
      samples, [](const Evidence& e) { return e.found.shape == e.right.shape; });
  if (has_shape && is_everywhere(samples, [](const Evidence& e) { return std::optional(e.g); }))
    return Fact{"the adjoint of the result is passed on unchanged",
        "the derivative of the result, by which it must be multiplied"};
  if (is_times(samples, -1))
    return Fact{
        cat("the sign of ", d, " is wrong"), "the signs: a minus is missing, or one is too many"};
  if (is_everywhere(samples, transposed))
    return Fact{cat(d, " is transposed"), "the shapes below the factors: they must fit"};
  if (is_everywhere(samples, [](const Evidence& e) { return reshaped(e.right, e); }))
    return Fact{"the numbers are right, only the shape is wrong",
        cat("the shape: an adjoint has that of its input, ", input)};
  if (is_everywhere(samples, [](const Evidence& e) { return reshaped(transposed(e), e); }))
    return Fact{cat(d, " is transposed, then reshaped"),
        "the reshape, which leaves the numbers in their order"};
  return std::nullopt;
}

}  // namespace microtape::diagnosis
