#pragma once

// The losses of a training run as a picture.

#include <algorithm>
#include <string>
#include <vector>

#include "plot.hpp"

namespace loss_curve {

using Line = std::vector<plot::Point>;

/// The loss of each step, as about `parts` means: a point for each is too much to look at.
inline Line smoothed(const std::vector<double>& losses, std::size_t parts) {
  Line out;
  const std::size_t width = losses.size() / parts + 1;
  for (std::size_t i = 0; i + width <= losses.size(); i += width) {
    double sum = 0;
    for (std::size_t k = i; k < i + width; ++k) sum += losses[k];
    const auto n = static_cast<double>(width);
    out.push_back({static_cast<double>(i) + n / 2, sum / n});
  }
  return out;
}

/// The losses that were found every so many steps.
inline Line every(double steps, const std::vector<double>& losses) {
  Line out;
  for (const double loss : losses) out.push_back({static_cast<double>(out.size()) * steps, loss});
  return out;
}

/// An SVG of both losses, with the bigram entropy as a dashed line.
inline std::string draw(const Line& train, const Line& validation, double bigram) {
  double last = 1;
  for (const Line* line : {&train, &validation})
    for (const plot::Point& p : *line) last = std::max(last, p.x);
  return plot::draw(
      {
          {"training", train, R"(stroke="#9ab8d8" stroke-width="1.5")"},
          {"bigram entropy", {{0, bigram}, {last, bigram}},
              R"(stroke="#333" stroke-width="1.5" stroke-dasharray="6 4")"},
          {"validation", validation, R"(stroke="#c0392b" stroke-width="2")"},
      },
      {.title = "What a small GPT learns",
          .x_label = "step",
          .y_label = "loss (nats per character)"});
}

}  // namespace loss_curve
