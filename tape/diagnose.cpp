#include <microtape/tape/diagnose.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/backward.hpp>
#include <microtape/tape/diagnose_mistakes.hpp>
#include <microtape/tape/ops/arithmetic.hpp>

namespace microtape {
namespace {

using namespace diagnosis;
using Function = FunctionRef<Var(std::span<const Var>)>;

/// What may remain of rounding, relative to the largest derivative of the input (at least 1).
constexpr double kTolerance = 1e-10;

/// One function on one sample, on a tape of its own.
class Run {
 public:
  Run(Function f, const std::vector<Tensor>& sample) {
    for (const Tensor& x : sample)
      leaves_.push_back(x.dtype() == int64 ? tape_.constant(x) : tape_.leaf(x.contiguous()));
    y_ = f(leaves_);
  }

  const MicroTape& tape() const { return tape_; }
  const std::vector<Var>& leaves() const { return leaves_; }
  const Var& y() const { return y_; }

  /// An adjoint that did not arrive is not defined; one that a rule returned may have any shape.
  std::vector<Var> adjoints(const Tensor& g) {
    if (!y_.tape() || !y_.is_active()) return std::vector<Var>(leaves_.size());
    try {
      const Gradients gradients = backward(y_, g);
      std::vector<Var> out;
      for (const Var& leaf : leaves_)
        out.push_back(gradients.reached(leaf) ? gradients[leaf] : Var());
      return out;
    } catch (const ShapeError&) {
      if (!is_one_op()) throw;
      return adjoints_of_any_shape(g);
    }
  }

  /// As the op that computed y calls its operands; x0, x1 .. if it does not take each as it is.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const Var& leaf : leaves_) {
      const auto edges = y_.node() == kNoNode ? std::span<const Edge>() : node().edges();
      const auto used = std::find_if(edges.begin(), edges.end(),
          [&](const Edge& edge) { return edge.input() == leaf.node(); });
      if (used == edges.end() || std::ranges::count(out, used->name()) > 0) return numbered();
      out.emplace_back(used->name());
    }
    return out;
  }

 private:
  const Node& node() const { return tape_.node(y_.node()); }

  std::vector<std::string> numbered() const {
    std::vector<std::string> out;
    for (std::size_t k = 0; k < leaves_.size(); ++k) out.push_back(cat("x", k));
    return out;
  }

  bool is_one_op() const {
    const auto edges = node().edges();
    return std::all_of(edges.begin(), edges.end(), [&](const Edge& edge) {
      return !edge.is_joint() && tape_.node(edge.input()).kind() != NodeKind::op;
    });
  }

  /// What each rule returns, without a sweep, which refuses another shape.
  std::vector<Var> adjoints_of_any_shape(const Tensor& g) {
    std::vector<Var> out(leaves_.size());
    const NodeId y = y_.node();
    for (std::size_t k = 0; k < leaves_.size(); ++k)
      for (const Edge& edge : tape_.node(y).edges()) {
        if (edge.input() != leaves_[k].node() || !edge.is_active()) continue;
        const Var part = edge.pull(Var(g), y_).value();
        const bool fits = out[k].defined() && out[k].shape() == part.shape();
        out[k] = fits ? Var(out[k].value()) + part : part;
      }
    return out;
  }

  MicroTape tape_;
  std::vector<Var> leaves_;
  Var y_;
};

/// dy[i] / dx[i] of an op whose result has the shape of x.
std::optional<Array> diagonal_of(Run& run, std::size_t input) {
  constexpr Index kMost = 1024;
  const Shape shape = run.y().shape();
  if (shape != run.leaves()[input].shape() || shape.size() > kMost) return std::nullopt;
  Array out = Array::zeros(shape);
  for (Index i = 0; i < out.size(); ++i) {
    Array unit = Array::zeros(shape);
    unit[i] = 1;
    const Var adjoint = run.adjoints(to_tensor(unit))[input];
    if (adjoint.defined()) out[i] = to_array(adjoint.value())[i];
  }
  return out;
}

double largest_of(const Array& x) {
  double largest = 1;
  for (const double value : x.values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

Array adjoint_or_zeros(const Var& adjoint, const Var& x) {
  return adjoint.defined() ? to_array(adjoint.value()) : Array::zeros(x.shape());
}

/// All that is known of one sample: [input].
class Sample {
 public:
  Sample(Function written, Function right, const std::vector<Tensor>& inputs,
      const std::vector<std::string>& names, std::uint64_t seed)
      : written_(written, inputs), right_(right, inputs), names_(names) {
    if (written_.y().shape() != right_.y().shape())
      throw ShapeError(cat("diagnose: the results have two shapes: written ", written_.y().shape(),
          ", right ", right_.y().shape(), "; both must compute the same"));
    if (names_.empty()) names_ = right_.names();
    for (std::size_t k = names_.size(); k < inputs.size(); ++k) names_.push_back(cat("x", k));
    g_ = cotangent(right_.y().shape(), seed);
    found_ = written_.adjoints(g_);
    adjoints_ = right_.adjoints(g_);
    recorded_ = recorded_adjoints(right_.tape(), right_.leaves(), names_, right_.y(), g_);
  }

  const std::vector<std::string>& names() const { return names_; }
  bool has_adjoint(std::size_t k) const { return right_.leaves()[k].dtype() != int64; }

  /// Of the value, instead of an adjoint.
  Evidence value() const {
    Evidence out;
    out.found = to_array(written_.y().value());
    out.right = to_array(right_.y().value());
    out.allowed = kTolerance * largest_of(out.right);
    return out;
  }

  /// Of the adjoint of input k, without the formulas.
  Evidence adjoint(std::size_t k) const {
    const Var& x = right_.leaves()[k];
    Evidence out;
    out.found = adjoint_or_zeros(found_[k], x);
    out.right = adjoint_or_zeros(adjoints_[k], x);
    out.allowed = kTolerance * largest_of(out.right);
    out.is_reached = found_[k].defined() || !adjoints_[k].defined();
    return out;
  }

  /// All of it.
  Evidence evidence(std::size_t k) {
    Evidence out = adjoint(k);
    const Shape shape = right_.leaves()[k].shape();
    out.g = to_array(g_);
    out.diagonal = diagonal_of(right_, k);
    out.contributions = recorded_.contributions[k];
    out.formula = sum_of_contributions(out.contributions, shape);
    out.operands = recorded_.operands;
    out.values = recorded_.values;
    out.others = recorded_.others;
    for (std::size_t j = 0; j < names_.size(); ++j) {
      if (j == k || right_.leaves()[j].shape() != shape) continue;
      if (const auto sibling = sum_of_contributions(recorded_.contributions[j], shape))
        out.siblings.emplace_back(names_[j], *sibling);
    }
    return out;
  }

 private:
  Run written_, right_;
  std::vector<std::string> names_;
  Tensor g_;
  std::vector<Var> found_, adjoints_;
  Recorded recorded_;
};

void check_samples(std::span<const std::vector<Tensor>> samples) {
  if (samples.empty()) throw ValueError("diagnose: no samples; it needs at least one");
  for (const std::vector<Tensor>& sample : samples) {
    if (sample.empty()) throw ValueError("diagnose: no inputs; it needs at least one");
    if (sample.size() != samples[0].size())
      throw ValueError(cat("diagnose: samples differ: ", samples[0].size(), " inputs and ",
          sample.size(), "; each must have as many"));
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

}  // namespace

Diagnosis diagnose(Function written, Function right, std::span<const std::vector<Tensor>> samples,
    const DiagnoseOptions& options) {
  check_samples(samples);
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
    Diagnosis out = described(values, "y");
    out.cause = "the value itself is wrong, before any rule runs";
    return out;
  }
  for (std::size_t k = 0; k < samples[0].size(); ++k) {
    const auto adjoints = all([k](Sample& sample) { return sample.adjoint(k); });
    if (!seen[0]->has_adjoint(k) || std::ranges::all_of(adjoints, is_right)) continue;
    const std::string& input = seen[0]->names()[k];
    const auto evidence = all([k](Sample& sample) { return sample.evidence(k); });
    Diagnosis out = described(evidence, input);
    out.broken = broken_invariants(evidence, out.sample, input);
    if (const auto fact = cause_of(evidence, input)) {
      out.cause = fact->cause;
      out.look = fact->look;
    }
    return out;
  }
  return {};
}

std::string Diagnosis::str() const {
  if (right) return "right: every adjoint agrees on every sample";
  const std::string what = input == "y" ? "y" : cat("d", input);
  std::string out = shapes;
  if (shapes.empty())
    out = cat(what, " is wrong", index.empty() ? "" : cat(" at ", index), " of sample ", sample,
        ": ", number(adjoint), ", right is ", number(expected));
  out += cat("\n", cause.empty() ? "no known mistake gives these numbers" : cause);
  if (!look.empty()) out += cat("\nlook at this step: ", look);
  for (const std::string& invariant : broken) out += cat("\n", invariant);
  if (shapes.empty()) out += cat("\nwrong: ", pattern);
  return out;
}

}  // namespace microtape
