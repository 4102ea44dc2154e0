#include "tape/random_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <microtape/core/error.hpp>

namespace microtape::testing {
namespace {

/// Two or three Tensors whose shapes broadcast to one of rank 0 .. 3.
std::vector<Tensor> random_inputs(Dice& dice) {
  const Index rank = (1 + dice.below(7)) / 2;  // 0 is rarer than 1, 2 and 3
  std::vector<Index> full;
  for (Index axis = 0; axis < rank; ++axis) full.push_back(1 + (1 + dice.below(5)) / 2);
  std::vector<Tensor> inputs;
  for (Index count = 2 + dice.below(2); count > 0; --count) {
    // Keep all axes of every other one, so that matrices and rows meet.
    Indices extents;
    for (Index axis = count % 2 ? 0 : dice.below(rank + 1); axis < rank; ++axis)
      extents.push_back(dice.below(4) ? full[static_cast<std::size_t>(axis)] : 1);
    inputs.push_back(dice.tensor(Shape(extents)));
  }
  return inputs;
}

/// Whether no two numbers of x are near each other, or near -1, 0 or 1: no kink is near.
bool are_apart(Vars x) {
  std::vector<double> numbers{-1, 0, 1};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Tensor t = x[i].value().contiguous();
    numbers.insert(numbers.end(), t.data<double>().begin(), t.data<double>().end());
  }
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] - numbers[i - 1] < 0.05) return false;
  return true;
}

/// Whether y is small enough to go on with.
bool is_moderate(const Var& y) {
  if (y.dtype() != float64 || y.size() > 36 || y.rank() > 4) return false;
  const Tensor t = y.value().contiguous();
  const auto numbers = t.data<double>();
  return std::all_of(numbers.begin(), numbers.end(), [](double v) { return std::abs(v) < 4; });
}

/// Tries one more step of this kind; an op that refuses the shapes leaves the graph as it was.
void try_step(RandomGraph& graph, std::vector<Var>& values, const StepKind& kind, Dice& dice) {
  RandomGraph::Step step;
  std::vector<Var> x;
  const auto count = static_cast<Index>(values.size());
  for (std::size_t i = 0; i < kind.arity; ++i) {
    // Half of the time go on from the last value, so that the graph becomes deep.
    const Index at = dice.coin() ? count - 1 : dice.below(count);
    step.from.push_back(static_cast<std::size_t>(at));
    x.push_back(values[step.from.back()]);
  }
  if (kind.has_kinks && !are_apart(x)) return;
  try {
    step.apply = kind.draw(dice, x);
    const Var y = step.apply(x);
    if (!is_moderate(y)) return;
    // Little happens among scalars: most of the time go on with the larger value.
    if (y.rank() == 0 && x[0].rank() > 0 && dice.below(4) > 0) return;
    values.push_back(y);
    graph.steps.push_back(std::move(step));
  } catch (const ShapeError&) {
  } catch (const IndexError&) {
  }
}

/// Whether the difference quotients of two steps agree along one line through the inputs. They do
/// not where a kink or a pole is near; no adjoint is asked.
bool is_smooth(const RandomGraph& graph, Dice& dice) {
  std::vector<Tensor> direction;
  for (const Tensor& x : graph.inputs) direction.push_back(dice.tensor(x.shape()));
  const std::vector<Var> here(graph.inputs.begin(), graph.inputs.end());
  const Tensor weights = dice.tensor(graph(here).shape());
  const auto at = [&](double t) {
    std::vector<Var> x;
    for (std::size_t i = 0; i < direction.size(); ++i)
      x.push_back((Var(graph.inputs[i]) + t * Var(direction[i])).value());
    return sum(graph(x) * weights).item();
  };
  const auto quotient = [&](double h) {
    return (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h);
  };
  const double wide = quotient(4e-3), narrow = quotient(2e-3);
  return std::abs(wide - narrow) < 1e-8 * std::max(1.0, std::abs(narrow));
}

}  // namespace

Var RandomGraph::operator()(Vars x) const {
  std::vector<Var> values(x.begin(), x.end());
  std::vector<bool> is_used(x.size() + steps.size());
  for (const Step& step : steps) {
    std::vector<Var> from;
    for (const std::size_t at : step.from) {
      from.push_back(values[at]);
      is_used[at] = true;
    }
    values.push_back(step.apply(from));
  }
  std::vector<Var> ends;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!is_used[i]) ends.push_back(reshape(values[i], {-1}));
  return concat(ends, 0);
}

RandomGraph random_graph(std::uint64_t seed) {
  static const std::vector<StepKind> kinds = step_kinds();
  for (std::uint64_t attempt = 0;; ++attempt) {
    Dice dice(split_seed(seed, attempt));
    RandomGraph graph{.inputs = random_inputs(dice), .steps = {}};
    std::vector<Var> values(graph.inputs.begin(), graph.inputs.end());
    const auto wanted = static_cast<std::size_t>(3 + dice.below(8));
    for (int tries = 0; tries < 400 && graph.steps.size() < wanted; ++tries)
      try_step(graph, values,
          kinds[static_cast<std::size_t>(dice.below(static_cast<Index>(kinds.size())))], dice);
    if (graph.steps.size() == wanted && is_smooth(graph, dice)) return graph;
  }
}

std::uint64_t first_seed() {
  const char* offset = std::getenv("MICROTAPE_TEST_SEED");
  return offset ? std::strtoull(offset, nullptr, 10) : 0;
}

}  // namespace microtape::testing
