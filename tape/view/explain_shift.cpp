// The part of explain_cause.hpp about ops that see only differences.

#include <algorithm>
#include <cmath>
#include <map>

#include <microtape/core/random.hpp>
#include <microtape/tape/view/explain_cause.hpp>

namespace microtape {
namespace {

/// Their results stay the same if all entries of a row of the input move alike, so that each row of
/// what their rules return sums to 0.
constexpr std::string_view kDifferenceOps = "softmax standardize log_softmax cross_entropy var";
/// Of these, the ones whose rows have the same sum whatever the input is: an adjoint that is the
/// same along a row changes nothing.
constexpr std::string_view kFixedSumOps = "softmax standardize";

/// A few steps of rounding, relative to 1.
double rounding(DType dtype) { return dtype == float32 ? 0x1p-17 : 0x1p-46; }

double largest(const Array& a) {
  double out = 0;
  for (const double v : a.values) out = std::fmax(out, std::abs(v));
  return out;
}

/// One of those ops, and what its rule does.
struct DifferenceOp {
  Array part;  ///< what the rule passes if the adjoint has other weights: not 0 where it passes any
  std::vector<std::vector<Index>> rows;  ///< of `part`
  double size;                           ///< the largest number in it
  bool is_flat;  ///< what arrives is the same along each row, and the rule passes nothing of it
};

/// Whether each row of what the rule passes sums to 0.
bool has_zero_sums(const DifferenceOp& op, double g, double room) {
  for (const std::vector<Index>& row : op.rows) {
    double sum = 0, sizes = g;
    for (const Index i : row) {
      sum += op.part[i];
      sizes += std::abs(op.part[i]);
    }
    if (!(std::abs(sum) <= room * sizes)) return false;
  }
  return true;
}

/// Whether g is the same along each row, where something of the row passes.
bool is_same_along(const DifferenceOp& op, const Array& g, double room) {
  for (const std::vector<Index>& row : op.rows) {
    double low = INFINITY, high = -INFINITY;
    Index count = 0;
    for (const Index i : row) {
      if (op.part[i] == 0) continue;
      low = std::fmin(low, g[i]);
      high = std::fmax(high, g[i]);
      ++count;
    }
    // One entry is the same as itself, which proves nothing.
    if (count == 1 || high - low > room * largest(g)) return false;
  }
  return true;
}

/// The sweep of a trace once more, with random numbers for what those ops pass on.
class ShiftTest {
 public:
  enum class Sums : std::uint8_t { zero, free };  ///< of each row of random numbers

  explicit ShiftTest(const Trace& trace) : trace_(trace) {
    for (NodeId id = trace.x() + 1; id <= trace.y(); ++id)
      if (trace.is_between(id) && has_word(kDifferenceOps, trace.tape().node(id).op())) look_at(id);
  }

  const std::map<NodeId, DifferenceOp>& ops() const { return ops_; }

  /// The adjoint of x.
  Array run(Sums sums, std::uint64_t seed) const {
    std::vector<Array> adjoints(trace_.y() + 1);
    adjoints[trace_.y()] = trace_.adjoint(trace_.y());
    return sweep(std::move(adjoints), [&](NodeId id) { return random_parts(id, sums, seed + id); });
  }
  /// The adjoint of x by the ways around those ops; without numbers if there is none.
  Array run_around() const {
    std::vector<Array> adjoints(trace_.y() + 1);
    adjoints[trace_.y()] = trace_.adjoint(trace_.y());
    return sweep(std::move(adjoints), [](NodeId) { return std::vector<Flow>(); });
  }
  /// The adjoint of x if only one of those ops passes anything on.
  Array run_from(NodeId only) const {
    return sweep(std::vector<Array>(trace_.y() + 1), [&](NodeId id) {
      return id == only ? random_parts(id, Sums::free, 0) : std::vector<Flow>();
    });
  }

 private:
  void look_at(NodeId id) {
    const Node& node = trace_.tape().node(id);
    const Array& g = trace_.adjoint(id);
    const double room = rounding(node.dtype());
    const Array weighed =
        plain::combine(g, generic(g.shape, node.dtype()), [](double a, double b) { return a * b; });
    DifferenceOp op{trace_.pull(id, weighed).front().value, {}, 0, false};
    op.rows = rows_of(node, op.part.shape);
    // A name proves nothing: the op may be somebody's own.
    if (!has_zero_sums(op, largest(g), room)) return;
    // A mask that was repeated gets sums of what we want.
    if (op.part.size() < g.size()) {
      op.part = weighed;
      op.rows = rows_of(node, weighed.shape);
    }
    op.size = largest(op.part);
    op.is_flat = has_word(kFixedSumOps, node.op()) && op.size > 0 && is_same_along(op, g, room) &&
                 largest(trace_.pull(id, g).front().value) <= room * (op.size + largest(g));
    ops_.emplace(id, std::move(op));
  }

  Array sweep(std::vector<Array> adjoints, FunctionRef<std::vector<Flow>(NodeId)> replaced) const {
    for (NodeId id = trace_.y(); id > trace_.x(); --id) {
      if (!trace_.is_between(id)) continue;
      std::vector<Flow> parts;
      if (ops_.count(id) > 0)
        parts = replaced(id);
      else if (!adjoints[id].values.empty())
        parts = trace_.pull(id, adjoints[id]);
      for (Flow& part : parts) {
        Array& sum = adjoints[part.edge->input()];
        if (sum.values.empty())
          sum = std::move(part.value);
        else
          sum = plain::combine(sum, part.value, [](double a, double b) { return a + b; });
      }
    }
    return adjoints[trace_.x()];
  }

  std::vector<Flow> random_parts(NodeId id, Sums sums, std::uint64_t seed) const {
    const DifferenceOp& op = ops_.at(id);
    Array random = op.part;
    for (const std::vector<Index>& row : op.rows) {
      // The differences that a rule passes are between two entries or more.
      double sum = 0, count = 0;
      const auto is_passed = [&](Index i) { return random[i] != 0; };
      if (std::count_if(row.begin(), row.end(), is_passed) < 2) continue;
      for (const Index i : row) {
        if (random[i] == 0) continue;
        random[i] = op.size * (2 * random_uniform(seed, static_cast<std::uint64_t>(i)) - 1);
        sum += random[i];
        ++count;
      }
      for (const Index i : row)
        if (count > 0 && random[i] != 0 && sums == Sums::zero)
          random[i] = op.is_flat ? 0 : random[i] - sum / count;
    }
    std::vector<Flow> out;
    const MicroTape& tape = trace_.tape();
    for (const Edge& edge : tape.node(id).edges())
      if (edge.is_active() && trace_.is_between(edge.input()))
        out.push_back({id, &edge, plain::fitted(random, tape.node(edge.input()).shape())});
    return out;
  }

  const Trace& trace_;
  std::map<NodeId, DifferenceOp> ops_;
};

}  // namespace

Shift shift_of(const Trace& trace) {
  Shift out;
  out.entries.resize(trace.adjoint(trace.x()).values.size());
  const ShiftTest test(trace);
  if (test.ops().empty()) return out;

  // Find the entries to which rows that sum to 0 bring nothing, but others do.
  static constexpr std::uint64_t kDraws = 3;
  std::vector<double> zero(out.entries.size()), free(out.entries.size());
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    const Array a = test.run(ShiftTest::Sums::zero, split_seed(1, draw));
    const Array b = test.run(ShiftTest::Sums::free, split_seed(1, draw));
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      zero[i] = std::fmax(zero[i], std::abs(a.values[i]));
      free[i] = std::fmax(free[i], std::abs(b.values[i]));
    }
  }
  const double room = rounding(trace.dtype(trace.x()));
  const Array around = test.run_around();
  for (std::size_t i = 0; i < zero.size(); ++i) {
    // However little comes by another way, it is no rounding.
    const bool is_reached = !around.values.empty() && around.values[i] != 0;
    out.entries[i] = !is_reached && free[i] > 0 && zero[i] <= room * free[i];
    if (out.entries[i]) out.size = std::fmax(out.size, free[i]);
  }

  // Name the nearest op that the first of them reaches.
  const auto first = std::find(out.entries.begin(), out.entries.end(), true);
  if (first == out.entries.end()) return out;
  const Index entry = first - out.entries.begin();
  for (const auto& [id, op] : test.ops()) {
    const Array from = test.run_from(id);
    if (from.values.empty() || from[entry] == 0) continue;
    out.node = id;
    out.is_flat = op.is_flat;
    break;
  }
  return out;
}

bool arrives_flat(const Trace& trace, NodeId id) {
  const ShiftTest test(trace);
  const auto found = test.ops().find(id);
  return found != test.ops().end() && found->second.is_flat;
}

}  // namespace microtape
