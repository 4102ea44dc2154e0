#include <microtape/tape/view/regions.hpp>

#include <algorithm>
#include <map>

namespace microtape {
namespace {

/// How many scopes each scope lies in, itself included.
std::vector<std::uint32_t> depths_of(const std::vector<ScopeInfo>& scopes) {
  std::vector<std::uint32_t> depths(scopes.size());
  for (std::size_t i = 1; i < scopes.size(); ++i) depths[i] = depths[scopes[i].parent] + 1;
  return depths;
}

/// Opens and closes regions along the tape.
class Cutter {
 public:
  explicit Cutter(const MicroTape& tape) : tape_(tape), depths_(depths_of(tape.scopes())) {}

  std::vector<Region> run() {
    open(0, 0);
    for (NodeId id = 0; id < tape_.size(); ++id) {
      if (tape_.node(id).is_backward() != is_backward_) turn(id);
      move_to(tape_.node(id).scope(), id);
    }
    while (!open_.empty()) close(tape_.size());
    return std::move(regions_);
  }

 private:
  void open(std::uint32_t scope, NodeId id) {
    Region region;
    region.scope = scope;
    region.parent = open_.empty() ? 0 : open_.back();
    region.depth = depths_[scope];
    region.first = id;
    region.copy_of = static_cast<std::uint32_t>(regions_.size());
    open_.push_back(region.copy_of);
    regions_.push_back(region);
  }

  void close(NodeId id) {
    regions_[open_.back()].end = id;
    regions_[open_.back()].next = static_cast<std::uint32_t>(regions_.size());
    open_.pop_back();
  }

  /// From forward to backward, or back.
  void turn(NodeId id) {
    is_backward_ = !is_backward_;
    while (open_.size() > 1) close(id);
    if (is_backward_) open(0, id);
  }

  void move_to(std::uint32_t scope, NodeId id) {
    const auto here = [this] { return regions_[open_.back()].scope; };
    // Climb from both sides to the scope that they share.
    std::vector<std::uint32_t> inward;
    while (depths_[here()] > depths_[scope]) close(id);
    for (; depths_[scope] > depths_[here()]; scope = tape_.scopes()[scope].parent)
      inward.push_back(scope);
    for (; scope != here(); scope = tape_.scopes()[scope].parent) {
      inward.push_back(scope);
      close(id);
    }
    for (std::size_t i = inward.size(); i-- > 0;) open(inward[i], id);
  }

  const MicroTape& tape_;
  std::vector<std::uint32_t> depths_;  // [scope]
  std::vector<Region> regions_;
  std::vector<std::uint32_t> open_;
  bool is_backward_ = false;
};

bool is_equal(const Attribute& a, const Attribute& b) {
  return a.name() == b.name() && a.is_list() == b.is_list() && a.number() == b.number() &&
         a.list() == b.list() && a.symbol() == b.symbol();
}

bool is_equal(const Node& a, const Node& b) {
  return a.op() == b.op() && a.formula() == b.formula() && a.dtype() == b.dtype() &&
         a.shape() == b.shape() && a.edges().size() == b.edges().size() &&
         without_number(a.name()) == without_number(b.name()) &&
         std::equal(a.attributes().begin(), a.attributes().end(), b.attributes().begin(),
             b.attributes().end(),
             [](const Attribute& x, const Attribute& y) { return is_equal(x, y); });
}

/// Whether two neighbours compute the same from whatever they are given.
class Comparer {
 public:
  Comparer(const MicroTape& tape, const std::vector<Region>& regions, std::uint32_t a)
      : tape_(tape), regions_(regions), a_(a), b_(regions[a].next) {}

  bool is_repeat() {
    const Region &a = regions_[a_], &b = regions_[b_];
    if (a.end - a.first != b.end - b.first || b_ - a_ != b.next - b_) return false;
    for (std::uint32_t i = a_; i < b_; ++i)
      if (!has_equal_frame(regions_[i], regions_[i + (b_ - a_)])) return false;
    for (NodeId id = a.first; id < a.end; ++id)
      if (!has_equal_node(id, id + (b.first - a.first))) return false;
    return true;
  }

 private:
  bool has_equal_frame(const Region& x, const Region& y) const {
    const auto name = [&](const Region& r) { return without_number(tape_.scopes()[r.scope].name); };
    const NodeId nodes = regions_[b_].first - regions_[a_].first;
    const bool is_outer = x.parent == y.parent;
    return name(x) == name(y) && y.first - x.first == nodes && y.end - x.end == nodes &&
           (is_outer || y.parent - x.parent == b_ - a_);
  }

  bool has_equal_node(NodeId a, NodeId b) {
    const Node &x = tape_.node(a), &y = tape_.node(b);
    if (!is_equal(x, y)) return false;
    for (std::size_t i = 0; i < x.edges().size(); ++i) {
      const Edge &p = x.edges()[i], &q = y.edges()[i];
      if (p.name() != q.name() || p.is_active() != q.is_active()) return false;
      if (!corresponds(p.input(), q.input())) return false;
    }
    return true;
  }

  /// Whether both lie at the same place inside; from outside, each always goes with the other.
  bool corresponds(NodeId p, NodeId q) {
    const NodeId a = regions_[a_].first, b = regions_[b_].first;
    if (p >= a || q >= b) return p >= a && q >= b && p - a == q - b;
    return outside_.emplace(p, q).first->second == q && back_.emplace(q, p).first->second == p;
  }

  const MicroTape& tape_;
  const std::vector<Region>& regions_;
  std::uint32_t a_, b_;
  std::map<NodeId, NodeId> outside_, back_;
};

}  // namespace

std::vector<Region> regions_of(const MicroTape& tape) { return Cutter(tape).run(); }

void find_repeats(const MicroTape& tape, std::vector<Region>& regions) {
  for (std::uint32_t a = 1; a < regions.size(); ++a) {
    const std::uint32_t b = regions[a].next;
    if (b == regions.size() || regions[b].parent != regions[a].parent) continue;
    if (regions[b].first != regions[a].end || regions[a].scope == 0 || regions[b].scope == 0)
      continue;
    if (!Comparer(tape, regions, a).is_repeat()) continue;
    regions[b].copy_of = regions[a].copy_of;
    ++regions[regions[b].copy_of].repeats;
  }
}

std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == name.size()) return name;
  const std::string_view stem = name.substr(0, last + 1);
  const std::size_t end = stem.find_last_not_of("_-. ");
  return end == std::string_view::npos ? name : stem.substr(0, end + 1);
}

}  // namespace microtape
