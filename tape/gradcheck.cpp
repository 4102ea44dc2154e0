#include <microtape/tape/gradcheck.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/backward.hpp>
#include <microtape/tape/diagnose_evidence.hpp>
#include <microtape/tape/gradcheck_notes.hpp>
#include <microtape/tape/ops.hpp>

namespace microtape {
namespace {

using diagnosis::cotangent;
using Vars = std::span<const Var>;
using ScalarFunction = FunctionRef<Var(Vars)>;

/// The step of the difference quotient, for x near 1. The quotient below errs by step^4 from the
/// series and by epsilon / step from rounding; this balances the two.
constexpr double kStep = 1e-3;
/// What may remain of both, relative to the largest derivative of the same input (at least 1).
constexpr double kTolerance = 1e-8;

double evaluate(ScalarFunction f, std::span<const Tensor> inputs) {
  const std::vector<Var> plain(inputs.begin(), inputs.end());
  return f(plain).item();
}

/// f' by five points: (f(x-2h) - 8 f(x-h) + 8 f(x+h) - f(x+2h)) / 12h.
double difference_quotient(
    ScalarFunction f, std::vector<Tensor>& inputs, std::size_t input, std::size_t i, double h) {
  const Tensor original = inputs[input];
  const auto at = [&](double offset) {
    inputs[input] = original;
    inputs[input].mutable_data<double>()[i] += offset;
    return evaluate(f, inputs);
  };
  const double quotient = (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h);
  inputs[input] = original;
  return quotient;
}

/// What the tape says: the adjoint of each input.
std::vector<Tensor> adjoints_of(ScalarFunction f, std::span<const Tensor> inputs) {
  MicroTape tape;
  std::vector<Var> leaves;
  for (const Tensor& x : inputs) leaves.push_back(tape.leaf(x.contiguous()));
  const Var y = f(leaves);
  std::optional<Gradients> found;
  if (y.is_active()) found = backward(y);
  std::vector<Tensor> adjoints;
  for (const Var& leaf : leaves)
    adjoints.push_back(
        found ? (*found)[leaf].value().contiguous() : Tensor::zeros(leaf.shape(), float64));
  return adjoints;
}

/// Compares one order of one scalar function, element by element, and adds what it finds to the
/// report.
/// @return  the first input that is wrong
std::optional<GradcheckMistake> check(ScalarFunction f, std::vector<Tensor> inputs,
    const std::vector<std::string>& names, int order, GradcheckReport& report) {
  std::optional<GradcheckMistake> first;
  const std::vector<Tensor> adjoints = adjoints_of(f, inputs);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    // Take the quotient at each element.
    inputs[k] = inputs[k].contiguous();
    const std::span<const double> adjoint = adjoints[k].data<double>();
    std::vector<double> differences, steps;
    double largest = 1;
    for (std::size_t i = 0; i < adjoint.size(); ++i) {
      steps.push_back(kStep * std::max(1.0, std::abs(inputs[k].data<double>()[i])));
      differences.push_back(difference_quotient(f, inputs, k, i, steps[i]));
      if (std::isfinite(differences[i])) largest = std::max(largest, std::abs(differences[i]));
    }
    // Keep the worst that is beyond the tolerance.
    const double allowed = kTolerance * largest;
    double worst = -1;
    GradcheckFailure failure;
    for (std::size_t i = 0; i < adjoint.size(); ++i) {
      ++report.checked;
      const double error = std::abs(adjoint[i] - differences[i]);
      if (error <= allowed) continue;  // a NaN is never right
      ++report.wrong;
      const double excess = std::isnan(error) ? INFINITY : error;
      if (excess <= worst) continue;
      worst = excess;
      failure = {order, names[k], unravel_index(static_cast<Index>(i), inputs[k].shape()),
          adjoint[i], differences[i], steps[i], allowed};
    }
    if (worst < 0) continue;
    report.failures.push_back(failure);
    if (!first)
      first = {k, adjoints[k], Tensor::of(inputs[k].shape(), differences, float64), allowed};
  }
  return first;
}

/// The derivative of each element of f's result by the element of an input in its own place.
Tensor own_quotients(FunctionRef<Var(Vars)> f, std::vector<Tensor> inputs, std::size_t k) {
  const Shape shape = inputs[k].shape();
  const std::vector<Var> plain(inputs.begin(), inputs.end());
  if (f(plain).shape() != shape) return {};
  inputs[k] = inputs[k].contiguous();
  std::vector<double> out;
  for (Index i = 0; i < shape.size(); ++i) {
    const auto element = [&](Vars x) { return slice(reshape(f(x), {-1}), 0, i, i + 1); };
    const auto at = static_cast<std::size_t>(i);
    const double step = kStep * std::max(1.0, std::abs(inputs[k].data<double>()[at]));
    out.push_back(difference_quotient(element, inputs, k, at, step));
  }
  return Tensor::of(shape, out, float64);
}

}  // namespace

GradcheckReport gradcheck(FunctionRef<Var(std::span<const Var>)> f, std::span<const Tensor> inputs,
    const GradcheckOptions& options) {
  if (options.order != 1 && options.order != 2)
    throw ValueError(cat("gradcheck: no such order: ", options.order, "; 1 or 2"));
  if (inputs.empty()) throw ValueError("gradcheck: no inputs; it needs at least one");
  std::vector<std::string> names = options.names;
  for (std::size_t k = names.size(); k < inputs.size(); ++k) names.push_back(cat("x", k));
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k].dtype() != float64)
      throw DTypeError(cat("gradcheck: needs float64: ", names[k], " is ", inputs[k].dtype(),
          "; differences drown in rounding otherwise: convert it with to(float64)"));

  // Order 1: f, turned into one number by a seed.
  GradcheckReport report;
  const std::vector<Var> plain(inputs.begin(), inputs.end());
  const Tensor seed = cotangent(f(plain).shape(), 1);
  const auto scalar = [&](Vars x) { return sum(f(x) * seed); };
  if (const auto wrong = check(scalar, {inputs.begin(), inputs.end()}, names, 1, report))
    report.notes = gradcheck_notes(f, inputs, names, seed, *wrong,
        own_quotients(f, {inputs.begin(), inputs.end()}, wrong->input));
  if (options.order == 1) return report;

  // Order 2: the pullback of f, a function of the inputs and the seed, turned into one number.
  const Index wrong_at_order_1 = report.wrong;
  const auto pullback = [&](Vars x) {
    MicroTape own;
    MicroTape& tape = x[0].tape() ? *x[0].tape() : own;
    std::vector<Var> at;
    for (const Var& input : x.first(inputs.size()))
      at.push_back(input.tape() ? input : tape.leaf(input.value()));
    const Var y = f(at);
    Var total = Tensor::zeros({}, float64);
    if (!y.is_active()) return total;  // y depends on no input: its pullback is 0
    const Gradients gradients = backward(y, x.back(), Record::yes);
    for (std::size_t k = 0; k < at.size(); ++k)
      total = total + sum(gradients[at[k]] * cotangent(at[k].shape(), 2 + k));
    return total;
  };
  std::vector<Tensor> with_seed(inputs.begin(), inputs.end());
  with_seed.push_back(seed);
  names.resize(inputs.size());
  names.push_back("seed");
  check(pullback, with_seed, names, 2, report);
  report.cut = wrong_at_order_1 == 0 && report.wrong > 0;
  return report;
}

std::string GradcheckReport::str() const {
  if (passed()) return cat("gradcheck: all ", checked, " derivatives agree with differences");
  std::string out = cat("gradcheck: ", wrong, " of ", checked, " derivatives are wrong");
  for (const GradcheckFailure& f : failures)
    out += cat("\n  order ", f.order, ", input ", f.input, ", element ", f.index, ": adjoint ",
        number(f.adjoint, 9), ", difference ", number(f.difference, 9), " (step ", number(f.step),
        ", allowed ", number(f.allowed), ")");
  for (const std::string& note : notes) out += cat("\n  ", note);
  if (cut)
    out +=
        "\n  right at order 1 but cut at order 2: a rule computes with Tensors; use Vars, not "
        "Tensors";
  return out;
}

}  // namespace microtape
