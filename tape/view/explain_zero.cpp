// The part of explain_cause.hpp about zeros.

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <microtape/tape/view/explain_cause.hpp>

namespace microtape {
namespace {

using Kind = Cause::Kind;
using Entries = std::vector<Index>;

Entries all_entries(Index size) {
  Entries out(static_cast<std::size_t>(size));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// Those of some entries where a is 0, or is not.
Entries zeros(const Array& a, const Entries& entries) {
  Entries out;
  std::copy_if(
      entries.begin(), entries.end(), std::back_inserter(out), [&](Index i) { return a[i] == 0; });
  return out;
}
Entries nonzeros(const Array& a, const Entries& entries) {
  Entries out;
  std::copy_if(
      entries.begin(), entries.end(), std::back_inserter(out), [&](Index i) { return a[i] != 0; });
  return out;
}

Array times(const Array& a, const Array& b) {
  return plain::combine(a, b, [](double u, double v) { return u * v; });
}

/// Follows zeros from x towards y, from each node to its users, until an adjoint is not 0.
class ZeroSearch {
 public:
  explicit ZeroSearch(const Trace& trace) : trace_(trace) {}

  std::vector<Cause> run(const Entries& of_x) {
    questions_[trace_.x()].insert(of_x.begin(), of_x.end());
    // Users stand after their inputs: when a node's turn comes, all questions about it are in.
    while (!questions_.empty()) {
      const auto first = questions_.begin();
      const NodeId id = first->first;
      const Entries entries(first->second.begin(), first->second.end());
      questions_.erase(first);
      if (!entries.empty()) answer(id, entries);
    }
    std::sort(causes_.begin(), causes_.end(), [](const Cause& a, const Cause& b) {
      return a.node != b.node ? a.node > b.node : a.edge < b.edge;  // edges of a node are an array
    });
    // An op that takes other entries cuts no way; that is the cause only if there is no way at all.
    const auto is_elsewhere = [&](const Cause& cause) {
      return cause.kind == Kind::stops &&
             has_word("slice gather embedding", trace_.tape().node(cause.node).op());
    };
    if (!std::all_of(causes_.begin(), causes_.end(), is_elsewhere))
      std::erase_if(causes_, is_elsewhere);
    return std::move(causes_);
  }

 private:
  static constexpr std::size_t kMostTried = 128;  ///< entries of a user that are tried one by one

  /// Finds out why the adjoint of a node is 0 in these entries.
  void answer(NodeId id, const Entries& entries) {
    for (const Flow& part : trace_.parts(id))
      if (Entries live = nonzeros(part.value, entries); !live.empty()) {
        // What is not 0 has cancelled.
        causes_.push_back({Kind::meets, id, nullptr, std::move(live)});
        return;
      }
    for (const Flow& part : trace_.parts(id)) {
      const std::size_t before = causes_.size();
      if (!is_zero(trace_.adjoint(part.user)) && !is_rule_open(part, entries)) continue;
      const Entries more = reached_by(part, entries);
      questions_[part.user].insert(more.begin(), more.end());
      // A rule that is not linear may mislead all questions.
      if (more.empty() && causes_.size() == before)
        causes_.push_back({Kind::stops, part.user, part.edge, entries});
    }
  }

  /// Whether a rule passes nothing only because nothing arrives; if not, says why.
  bool is_rule_open(const Flow& part, const Entries& entries) {
    const Array& g = trace_.adjoint(part.user);
    const Array weights = generic(g.shape, trace_.dtype(part.user));
    // Would the same adjoint pass with other weights? Would it if it were larger?
    const Array one = plain::map(g, [](double v) { return v == 0 ? 0.0 : 1.0; });
    for (const auto& [kind, adjoint] : {std::pair{Kind::cancels, &g}, {Kind::underflows, &one}}) {
      Entries passed = nonzeros(trace_.pull(part, times(*adjoint, weights)), entries);
      if (passed.empty()) continue;
      causes_.push_back({kind, part.user, part.edge, std::move(passed)});
      return false;
    }
    // Would anything?
    const Array most = trace_.pull(part, weights);
    Entries stopped = zeros(most, entries);
    if (is_elementwise(part)) stopped = nonzeros(g, stopped);
    if (is_zero(most)) stopped = all_entries(most.size());
    if (!stopped.empty())
      causes_.push_back({Kind::stops, part.user, part.edge, std::move(stopped)});
    return !is_zero(most);
  }

  /// The entries of a user's adjoint, all 0, that pass on to these of its input.
  Entries reached_by(const Flow& part, const Entries& entries) const {
    const Array& g = trace_.adjoint(part.user);
    if (is_elementwise(part)) return zeros(g, entries);
    const DType dtype = trace_.dtype(part.user);
    const Array weights = generic(g.shape, dtype, 0), others = generic(g.shape, dtype, 1);
    const Array passed = trace_.pull(part, weights), passed_others = trace_.pull(part, others);
    const Entries open = nonzeros(passed, entries);
    // A rule that only moves numbers returns the very weights.
    std::map<std::pair<double, double>, Index> place;
    for (Index i = 0; i < g.size(); ++i) place[{weights[i], others[i]}] = i;
    Entries found;
    for (const Index i : open) {
      const auto moved = place.find({passed[i], passed_others[i]});
      if (moved == place.end()) break;
      found.push_back(moved->second);
    }
    // Of other rules, try which entries pass something.
    if (open.empty() || found.size() < open.size()) {
      if (is_zero(g) && (open.empty() || g.values.size() > kMostTried))
        return all_entries(g.size());
      found.clear();
      collect(part, weights, open, 0, g.size(), found);
    }
    return zeros(g, found);
  }

  /// Adds those entries of the user's adjoint, from begin to end, that reach one of `entries`.
  void collect(const Flow& part, const Array& weights, const Entries& entries, Index begin,
      Index end, Entries& found) const {
    if (entries.empty() || begin == end || found.size() >= kMostTried) return;
    Array g = weights;
    for (Index i = 0; i < g.size(); ++i)
      if (i < begin || i >= end) g[i] = 0;
    if (nonzeros(trace_.pull(part, g), entries).empty()) return;
    if (end - begin == 1) return found.push_back(begin);
    const Index middle = begin + (end - begin) / 2;
    collect(part, weights, entries, begin, middle, found);
    collect(part, weights, entries, middle, end, found);
  }

  bool is_elementwise(const Flow& part) const {
    return microtape::is_elementwise(trace_.tape(), trace_.tape().node(part.user));
  }

  const Trace& trace_;
  std::map<NodeId, std::set<Index>> questions_;
  std::vector<Cause> causes_;
};

}  // namespace

std::vector<Cause> causes_of_zero(const Trace& trace, const std::vector<Index>& entries) {
  return ZeroSearch(trace).run(entries);
}

}  // namespace microtape
