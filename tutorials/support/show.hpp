#pragma once

// How the tutorials print: headings, matrices as on a board, a sweep step by step, verdicts.

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <microtape/microtape.hpp>

namespace show {

using microtape::Index;
using microtape::Tensor;

inline void heading(const std::string& text) {
  std::printf("\n%s\n%s\n\n", text.c_str(), std::string(text.size(), '=').c_str());
}

/// The number as one would write it on a board: 3, -3/4, ln 3, 3/8 ln 3; else four digits.
inline std::string on_board(double x) {
  char text[32];
  for (const bool has_ln3 : {false, true}) {
    const double y = has_ln3 ? x / std::log(3.0) : x;
    for (int q = 1; q <= 8; ++q) {
      const double p = std::round(y * q);
      if (std::abs(y * q - p) > 1e-6 || std::abs(p) > 99) continue;
      const std::string ln3 = has_ln3 ? " ln 3" : "";
      if (q > 1)
        std::snprintf(text, sizeof text, "%.0f/%d%s", p, q, ln3.c_str());
      else if (has_ln3 && std::abs(p) == 1)
        std::snprintf(text, sizeof text, "%sln 3", p < 0 ? "-" : "");
      else
        std::snprintf(text, sizeof text, "%.0f%s", p == 0 ? 0.0 : p, ln3.c_str());
      return text;
    }
  }
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

/// `  P = softmax(S)              [ 3/4  1/4 ]`, each further row below.
inline void matrix(const std::string& equation, const Tensor& m) {
  std::vector<std::vector<std::string>> cells;
  std::size_t width = 0;
  for (Index i = 0; i < m.extent(0); ++i) {
    cells.emplace_back();
    for (Index j = 0; j < m.extent(1); ++j) {
      cells.back().push_back(on_board(m.at({i, j})));
      width = std::max(width, cells.back().back().size());
    }
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::printf("  %-36s[", i == 0 ? equation.c_str() : "");
    for (const std::string& cell : cells[i])
      std::printf(" %*s", static_cast<int>(width), cell.c_str());
    std::printf(" ]\n");
  }
}

/// "-0.75 .. 0.75, norm 1.5"; of a single number that number.
inline std::string summary(const Tensor& t) {
  const Tensor x = t.to(microtape::float64).contiguous();
  double least = INFINITY, most = -INFINITY, squares = 0;
  for (const double v : x.data<double>()) {
    least = std::min(least, v);
    most = std::max(most, v);
    squares += v * v;
  }
  char text[96];
  if (x.size() == 1)
    std::snprintf(text, sizeof text, "%.4g", most);
  else
    std::snprintf(text, sizeof text, "%.3g .. %.3g, norm %.4g", least, most, std::sqrt(squares));
  return text;
}

/// Sweeps to the end and says at every node which rule fires, and with what numbers.
inline void sweep_aloud(const microtape::MicroTape& tape, microtape::Sweep& sweep) {
  const auto name = [&](microtape::NodeId id) { return microtape::node_name(tape, id); };
  for (int count = 1; !sweep.done(); ++count) {
    const microtape::Sweep::Step step = sweep.step();
    const std::string node = name(step.node);
    std::printf("step %d: %s = %s\n", count, node.c_str(),
        microtape::forward_text(tape, step.node).c_str());
    std::printf("  d%s is complete: %s\n", node.c_str(), summary(step.adjoint.value()).c_str());
    for (const auto& c : step.contributions) {
      const std::string input = name(c.edge->input());
      std::printf("  -> d%s %s %s\n", input.c_str(), c.before.defined() ? "+=" : "=",
          microtape::rule_text(tape, step.node, *c.edge).c_str());
      std::printf("       %s", summary(c.value.value()).c_str());
      if (c.before.defined()) std::printf("; the sum is now %s", summary(c.after.value()).c_str());
      std::printf("%s\n", c.complete ? "; complete" : "");
    }
  }
}

/// Collects what a tutorial has checked.
class Verdict {
 public:
  void add(const std::string& claim, bool holds) {
    std::printf("  [%s] %s\n", holds ? "ok" : "WRONG", claim.c_str());
    ++checks_;
    wrong_ += !holds;
  }
  /// A claim that a number is zero to rounding.
  void zero(const std::string& claim, double value, double allowed) {
    char text[160];
    std::snprintf(text, sizeof text, "%-46s off by %.1e", claim.c_str(), value);
    add(text, value <= allowed);
  }
  void add(const std::vector<microtape::Comparison>& comparisons) {
    std::printf("%s", microtape::table(comparisons).c_str());
    for (const microtape::Comparison& c : comparisons) wrong_ += !c.agrees;
    checks_ += static_cast<int>(comparisons.size());
  }
  /// Prints the last line. @param so  what follows if all holds. @return the exit status
  int conclude(const char* so = "the tape's gradients are the textbook's") const {
    if (wrong_ == 0)
      std::printf("\nAll %d checks hold: %s.\n", checks_, so);
    else
      std::printf("\n%d of %d checks FAILED.\n", wrong_, checks_);
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  int checks_ = 0;
  int wrong_ = 0;
};

}  // namespace show
