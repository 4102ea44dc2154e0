#include <microtape/tape/view/profile.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

/// What all nodes of one op took.
struct Cost {
  std::size_t nodes = 0;
  double forward = 0, backward = 0;  ///< seconds
  std::size_t bytes = 0;

  double seconds() const { return forward + backward; }
  void add(const Cost& other) {
    nodes += other.nodes;
    forward += other.forward;
    backward += other.backward;
    bytes += other.bytes;
  }
};

/// Of the value, unless it is a view of an input's.
std::size_t saved_bytes(const MicroTape& tape, const Node& node) {
  for (const Edge& edge : node.edges())
    if (node.value().shares_memory_with(tape.node(edge.input()).value())) return 0;
  return static_cast<std::size_t>(node.value().size()) * size_of(node.dtype());
}

/// 1.5 KB: three digits, or a whole number of bytes.
std::string bytes_text(std::size_t bytes) {
  if (bytes < 1000) return cat(bytes, " B");
  const char* const units[] = {"KB", "MB", "GB"};
  double value = static_cast<double>(bytes) / 1e3;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit < 2; value /= 1e3) ++unit;
  return cat(number(value, 3), " ", units[unit]);
}

std::string milliseconds(double seconds) { return number(seconds * 1e3, 3); }

using Row = std::vector<std::string>;

Row row_of(const std::string& op, const Cost& cost, double all_seconds) {
  const double share = all_seconds > 0 ? cost.seconds() / all_seconds : 0;
  return {op, cat(cost.nodes), milliseconds(cost.forward), milliseconds(cost.backward),
      milliseconds(cost.seconds()), cat(number(share * 100, 3), " %"), bytes_text(cost.bytes)};
}

/// The first column to the left, the others to the right.
std::string lined_up(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], utf8::display_width(row[i]));
  std::string out;
  for (const Row& row : rows) {
    out += utf8::padded(row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i)
      out += cat("  ", std::string(widths[i] - row[i].size(), ' '), row[i]);
    out += "\n";
  }
  return out;
}

}  // namespace

std::string profile(const MicroTape& tape) {
  if (tape.keep() == Keep::needed)
    throw TapeError(
        "profile: the tape is Keep::needed: it has not taken the time; use Keep::everything");
  std::map<std::string, Cost> by_op;
  Cost total;
  for (const Node& node : tape.nodes()) {
    const Cost cost{1, node.forward_seconds(), node.backward_seconds(), saved_bytes(tape, node)};
    by_op[utf8::printable(node.op())].add(cost);
    total.add(cost);
  }
  std::vector<std::pair<std::string, Cost>> ranked(by_op.begin(), by_op.end());
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    if (a.second.seconds() != b.second.seconds()) return a.second.seconds() > b.second.seconds();
    if (a.second.bytes != b.second.bytes) return a.second.bytes > b.second.bytes;
    return a.first < b.first;
  });

  std::vector<Row> rows{{"op", "nodes", "forward ms", "backward ms", "sum ms", "share", "saved"}};
  for (const auto& [op, cost] : ranked) rows.push_back(row_of(op, cost, total.seconds()));
  rows.push_back(row_of("all", total, total.seconds()));
  return lined_up(rows);
}

}  // namespace microtape
