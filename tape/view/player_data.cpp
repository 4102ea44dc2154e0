#include <microtape/tape/view/player_data.hpp>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/view/array.hpp>
#include <microtape/tape/view/equation.hpp>

namespace microtape {
namespace {

using Json = nlohmann::ordered_json;

constexpr Index kMostNumbers = 4096;
constexpr Index kLeastNumbers = 64;
constexpr Index kMostInPage = 250'000;  ///< numbers, of some 20 bytes each; samples come on top

// --- samples -----------------------------------------------------------------------------------

/// `count` places, evenly spaced along an axis.
std::vector<Index> places_along(Index extent, Index count) {
  std::vector<Index> out;
  for (Index i = 0; i < count; ++i) out.push_back(i * extent / count);
  return out;
}

/// The places kept of each axis: the longest is halved until no more than `most` numbers are left.
std::vector<std::vector<Index>> places_kept(const Shape& shape, Index most) {
  std::vector<Index> counts(shape.begin(), shape.end());
  while (Shape(Indices(counts)).size() > most) {
    Index& longest = *std::max_element(counts.begin(), counts.end());
    longest = (longest + 1) / 2;
  }
  std::vector<std::vector<Index>> out;
  for (std::size_t axis = 0; axis < counts.size(); ++axis)
    out.push_back(places_along(shape[static_cast<Index>(axis)], counts[axis]));
  return out;
}

Json number_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
}

/// null if the Tensor is small enough to stand in the page whole.
Json sample_json(const Tensor& tensor, Index most) {
  if (!tensor.defined() || tensor.size() <= most) return nullptr;
  const std::vector<std::vector<Index>> kept = places_kept(tensor.shape(), most);
  const Array all = to_array(tensor);
  // Go through all combinations of places, the last axis fastest.
  std::vector<Index> offsets{0};
  for (std::size_t axis = 0; axis < kept.size(); ++axis) {
    std::vector<Index> next;
    for (const Index offset : offsets)
      for (const Index place : kept[axis])
        next.push_back(offset * all.shape[static_cast<Index>(axis)] + place);
    offsets = std::move(next);
  }
  Json numbers = Json::array();
  for (const Index offset : offsets) numbers.push_back(number_json(all[offset]));
  return {{"kept", kept}, {"numbers", numbers}};
}
Json sample_json(const Var& x, Index most) {
  return x.defined() ? sample_json(x.value(), most) : Json();
}

Json step_samples(const Sweep::Step& step, Index most) {
  Json parts = Json::array();
  for (const Sweep::Contribution& part : step.contributions)
    parts.push_back({{"value", sample_json(part.value, most)},
        {"before", sample_json(part.before, most)}, {"after", sample_json(part.after, most)}});
  return {{"adjoint", sample_json(step.adjoint, most)}, {"contributions", parts}};
}

// --- formulas ----------------------------------------------------------------------------------

/// Empty where there is no formula, or it cannot be read.
template <class Equation>
std::string mathml_or_nothing(std::string_view formula, const Equation& equation) {
  if (formula.empty()) return "";
  try {
    return to_mathml(equation());
  } catch (const Error&) {
    return "";
  }
}

Json mathml_json(const MicroTape& tape, NodeId id) {
  const Node& node = tape.node(id);
  Json rules = Json::array();
  for (const Edge& edge : node.edges())
    rules.push_back(
        mathml_or_nothing(edge.formula(), [&] { return rule_equation(tape, id, edge); }));
  return {{"name", to_mathml(node_formula(tape, id))},
      {"adjoint", to_mathml(node_formula(tape, id, NodeNames::given, "d"))},
      {"equation", mathml_or_nothing(node.formula(), [&] { return forward_equation(tape, id); })},
      {"rules", rules}};
}

// --- words -------------------------------------------------------------------------------------

void check_words(const MicroTape& tape, const std::string& name, const AxisWords& words) {
  bool is_known = false;
  for (const Node& node : tape.nodes()) {
    if (name.empty() || node.name() != name) continue;
    is_known = true;
    const Shape shape = node.shape();
    const auto fits = [&](const std::vector<std::string>& list, Index axis) {
      return list.empty() ||
             (shape.rank() >= -axis && shape[axis] == static_cast<Index>(list.size()));
    };
    if (!fits(words.rows, -2) || !fits(words.columns, -1))
      throw ShapeError(cat("to_html: the words do not fit: ", name, " ", shape, ", ",
          words.rows.size(), " words for rows, ", words.columns.size(),
          " for columns; an axis has none, or one for each place"));
  }
  if (!is_known)
    throw ValueError(
        cat("to_html: there are words for ", name, ", but the tape has no node of that name"));
}

}  // namespace

Index most_numbers(const MicroTape& tape, const std::vector<Sweep::Step>& steps) {
  const auto total = [&](Index most) {
    Index count = 0;
    for (const Node& node : tape.nodes()) count += std::min(most, node.shape().size());
    for (const Sweep::Step& step : steps) {
      count += std::min(most, step.adjoint.size());
      for (const Sweep::Contribution& part : step.contributions)
        count += 3 * std::min(most, part.value.size());
    }
    return count;
  };
  Index most = kMostNumbers;
  while (most > kLeastNumbers && total(most) > kMostInPage) most /= 2;
  return most;
}

std::string player_data(const MicroTape& tape, const Var& y, const std::vector<Sweep::Step>& steps,
    const HtmlOptions& options, const PlayerGraphs& graphs, Index most) {
  Json mathml = Json::array(), values = Json::array(), sums = Json::array(), words = Json::object();
  for (NodeId id = 0; id < tape.size(); ++id) {
    mathml.push_back(mathml_json(tape, id));
    values.push_back(sample_json(tape.node(id).value(), most));
  }
  for (const Sweep::Step& step : steps) sums.push_back(step_samples(step, most));
  for (const auto& [name, list] : options.words) {
    check_words(tape, name, list);
    words[name] = {{"rows", list.rows}, {"columns", list.columns}};
  }
  const Json out{{"y", y.node()}, {"mathml", mathml}, {"words", words},
      {"graphs", graphs.svg.size()}, {"graph_note", graphs.note},
      {"samples", {{"nodes", values}, {"steps", sums}}}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace microtape
