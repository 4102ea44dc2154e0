#include <microtape/tape/diagnose.hpp>

#include <algorithm>
#include <memory>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/diagnose_mistakes.hpp>
#include <microtape/tape/diagnose_sample.hpp>

namespace microtape {
namespace {

using namespace diagnosis;

void check_samples(
    std::span<const std::vector<Tensor>> samples, const std::vector<std::string>& names) {
  if (samples.empty()) throw ValueError("diagnose: no samples; it needs at least one");
  for (const std::vector<Tensor>& sample : samples) {
    if (sample.empty()) throw ValueError("diagnose: no inputs; it needs at least one");
    if (sample.size() != samples[0].size())
      throw ValueError(cat("diagnose: samples differ: ", samples[0].size(), " inputs and ",
          sample.size(), "; each must have as many"));
    if (names.size() > sample.size())
      throw ValueError(cat("diagnose: too many names: ", names.size(), " for ", sample.size(),
          " inputs; an input has one at most"));
    for (std::size_t k = 0; k < sample.size(); ++k)
      if (sample[k].dtype() == float32)
        throw DTypeError(cat("diagnose: needs float64: input ", k,
            " is float32; rounding looks like a mistake otherwise: convert it with to(float64)"));
  }
}

/// The numbers of the first sample that is wrong.
Diagnosis described(const std::vector<Evidence>& samples, const std::string& input) {
  Diagnosis out;
  out.right = false;
  out.input = input;
  while (is_right(samples[out.sample])) ++out.sample;
  const Evidence& e = samples[out.sample];
  if (e.found.shape != e.right.shape) {
    out.shapes =
        cat("d", input, " has shape ", e.found.shape, ", ", input, " has shape ", e.right.shape);
  } else {
    const Index worst = distance(e.found, e.right).place;
    out.index = unravel_index(worst, e.right.shape);
    out.adjoint = e.found[worst];
    out.expected = e.right[worst];
  }
  out.pattern = pattern_of(e);
  return out;
}

/// The first sample that is wrong, and why.
Diagnosis explained(const std::vector<Evidence>& samples, const std::string& input) {
  Diagnosis out = described(samples, input);
  out.broken = broken_invariants(samples, out.sample, input);
  if (const auto fact = cause_of(samples, input)) {
    out.cause = fact->cause;
    out.look = fact->look;
  }
  return out;
}

}  // namespace

Diagnosis diagnose(FunctionRef<Var(std::span<const Var>)> written,
    FunctionRef<Var(std::span<const Var>)> right, std::span<const std::vector<Tensor>> samples,
    const DiagnoseOptions& options) {
  check_samples(samples, options.names);
  std::vector<std::unique_ptr<Sample>> seen;
  for (const std::vector<Tensor>& inputs : samples)
    seen.push_back(
        std::make_unique<Sample>(written, right, inputs, options.names, seen.size() + 1));
  const auto all = [&](auto evidence) {
    std::vector<Evidence> out;
    for (const auto& sample : seen) out.push_back(evidence(*sample));
    return out;
  };

  // If the value is wrong already, no rule is to blame.
  const std::vector<Evidence> values = all([](Sample& sample) { return sample.value(); });
  if (!std::ranges::all_of(values, is_right)) {
    Diagnosis out = described(values, "");
    out.cause = "the value itself is wrong, before any rule runs";
    return out;
  }
  for (std::size_t k = 0; k < samples[0].size(); ++k) {
    const auto adjoints = all([k](Sample& sample) { return sample.adjoint(k); });
    if (seen[0]->has_adjoint(k) && !std::ranges::all_of(adjoints, is_right))
      return explained(
          all([k](Sample& sample) { return sample.evidence(k); }), seen[0]->names()[k]);
  }
  return {};
}

std::string Diagnosis::str() const {
  if (right) return "right: every adjoint agrees on every sample";
  const std::string what = input.empty() ? "y" : cat("d", input);
  std::string out = shapes;
  if (shapes.empty())
    out = cat(what, " is wrong", index.empty() ? "" : cat(" at ", index), " in sample ", sample,
        ": ", number(adjoint), ", right is ", number(expected));
  out += cat("\n", cause.empty() ? "no known mistake gives these numbers" : cause);
  if (!look.empty()) out += cat("\nlook at ", look);
  for (const std::string& invariant : broken) out += cat("\n", invariant);
  if (shapes.empty()) out += cat("\nwrong: ", pattern);
  return out;
}

}  // namespace microtape
