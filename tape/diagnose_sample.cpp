#include <microtape/tape/diagnose_sample.hpp>

#include <algorithm>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/backward.hpp>
#include <microtape/tape/ops/arithmetic.hpp>

namespace microtape::diagnosis {
namespace {

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

Array adjoint_or_zeros(const Var& adjoint, const Var& x) {
  return adjoint.defined() ? to_array(adjoint.value()) : Array::zeros(x.shape());
}

/// x0, x1, .. from first on.
std::vector<std::string> numbered(std::vector<std::string> names, std::size_t count) {
  for (std::size_t k = names.size(); k < count; ++k) names.push_back(cat("x", k));
  return names;
}

}  // namespace

Run::Run(Function f, const std::vector<Tensor>& inputs) {
  for (const Tensor& x : inputs)
    leaves_.push_back(x.dtype() == int64 ? tape_.constant(x) : tape_.leaf(x.contiguous()));
  y_ = f(leaves_);
}

std::vector<Var> Run::adjoints(const Tensor& g) {
  std::vector<Var> out(leaves_.size());
  if (!y_.tape() || !y_.is_active()) return out;
  try {
    const Gradients gradients = backward(y_, g);
    for (std::size_t k = 0; k < out.size(); ++k)
      if (gradients.reached(leaves_[k])) out[k] = gradients[leaves_[k]];
    return out;
  } catch (const ShapeError&) {
    if (!is_one_op()) throw;
    return adjoints_of_any_shape(g);
  }
}

std::vector<std::string> Run::names() const {
  if (y_.node() == kNoNode) return numbered({}, leaves_.size());
  const std::span<const Edge> edges = tape_.node(y_.node()).edges();
  std::vector<std::string> out;
  for (const Var& leaf : leaves_) {
    const auto used = std::find_if(
        edges.begin(), edges.end(), [&](const Edge& edge) { return edge.input() == leaf.node(); });
    if (used == edges.end() || std::ranges::count(out, used->name()) > 0)
      return numbered({}, leaves_.size());
    out.emplace_back(used->name());
  }
  return out;
}

bool Run::is_one_op() const {
  const std::span<const Edge> edges = tape_.node(y_.node()).edges();
  return std::all_of(edges.begin(), edges.end(), [&](const Edge& edge) {
    return !edge.is_joint() && tape_.node(edge.input()).kind() != NodeKind::op;
  });
}

/// What each rule returns, without a sweep, which refuses another shape.
std::vector<Var> Run::adjoints_of_any_shape(const Tensor& g) {
  std::vector<Var> out(leaves_.size());
  for (std::size_t k = 0; k < leaves_.size(); ++k)
    for (const Edge& edge : tape_.node(y_.node()).edges()) {
      if (edge.input() != leaves_[k].node() || !edge.is_active()) continue;
      const Var part = edge.pull(Var(g), y_).value();
      const bool fits = out[k].defined() && out[k].shape() == part.shape();
      out[k] = fits ? out[k] + part : part;
    }
  return out;
}

Sample::Sample(Function written, Function right, const std::vector<Tensor>& inputs,
    const std::vector<std::string>& names, std::uint64_t seed)
    : written_(written, inputs),
      right_(right, inputs),
      names_(numbered(names.empty() ? right_.names() : names, inputs.size())) {
  const Shape shape = right_.y().shape();
  if (written_.y().shape() != shape)
    throw ShapeError(cat("diagnose: the results have two shapes: written ", written_.y().shape(),
        ", right ", shape, "; both must compute the same"));
  g_ = cotangent(shape, seed);
  found_ = written_.adjoints(g_);
  adjoints_ = right_.adjoints(g_);
  recorded_ = recorded_adjoints(right_.tape(), right_.leaves(), names_, right_.y(), g_);
}

Evidence Sample::value() const {
  Evidence out;
  out.found = to_array(written_.y().value());
  out.right = to_array(right_.y().value());
  out.allowed = rounding_of(out.right);
  return out;
}

Evidence Sample::adjoint(std::size_t k) const {
  const Var& x = right_.leaves()[k];
  Evidence out;
  out.found = adjoint_or_zeros(found_[k], x);
  out.right = adjoint_or_zeros(adjoints_[k], x);
  out.allowed = rounding_of(out.right);
  out.is_reached = found_[k].defined() || !adjoints_[k].defined();
  return out;
}

Evidence Sample::evidence(std::size_t k) {
  Evidence out = adjoint(k);
  const Shape shape = right_.leaves()[k].shape();
  out.g = to_array(g_);
  out.diagonal = diagonal_of(right_, k);
  out.contributions = recorded_.contributions[k];
  out.formula = sum_of_contributions(out.contributions, shape);
  out.operands = recorded_.operands;
  for (std::size_t j = 0; j < names_.size(); ++j) {
    if (j == k) continue;
    const Shape own = right_.leaves()[j].shape();
    if (const auto sibling = sum_of_contributions(recorded_.contributions[j], own))
      out.siblings.emplace_back(names_[j], *sibling);
  }
  return out;
}

}  // namespace microtape::diagnosis
