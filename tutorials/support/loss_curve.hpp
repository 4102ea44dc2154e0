#pragma once

// The losses of a training run as a picture.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace loss_curve {

struct Point {
  double step, loss;
};
using Line = std::vector<Point>;

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

/// Where things stand, in pixels.
struct Frame {
  double left = 64, right = 610, top = 44, bottom = 330;
  double last_step, least, most;

  double x(double step) const { return left + (right - left) * step / last_step; }
  double y(double loss) const { return bottom - (bottom - top) * (loss - least) / (most - least); }
};

template <class... Numbers>
std::string format(const char* pattern, Numbers... numbers) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, numbers...);
  return text;
}

/// 1, 2 or 5 times a power of ten, so that about `count` of them fill `range`.
inline double round_step(double range, int count) {
  const double unit = std::pow(10.0, std::floor(std::log10(range / count)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (range / (factor * unit) <= count) return factor * unit;
  return 10 * unit;
}

inline std::string polyline(const Frame& frame, const Line& line, const char* style) {
  std::string out = "<polyline fill=\"none\" points=\"";
  for (const Point& p : line) out += format("%.1f,%.1f ", frame.x(p.step), frame.y(p.loss));
  return out + "\" " + style + "/>\n";
}

inline std::string axes(const Frame& frame) {
  std::string out;
  const double losses = round_step(frame.most - frame.least, 6);
  for (double v = std::ceil(frame.least / losses) * losses; v <= frame.most; v += losses)
    out += format(
        "<path d=\"M%.0f %.1fH%.0f\" stroke=\"#ddd\"/>"
        "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n",
        frame.left, frame.y(v), frame.right, frame.left - 8, frame.y(v) + 4, v);
  const double steps = round_step(frame.last_step, 6);
  for (double v = 0; v <= frame.last_step; v += steps)
    out += format("<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%.6g</text>\n", frame.x(v),
        frame.bottom + 18, v);
  out += format("<path d=\"M%.0f %.0fV%.0fH%.0f\" fill=\"none\" stroke=\"#444\"/>\n", frame.left,
      frame.top, frame.bottom, frame.right);
  out += format("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">step</text>\n",
      (frame.left + frame.right) / 2, frame.bottom + 40);
  out += format(
      "<text transform=\"translate(18 %.0f) rotate(-90)\" text-anchor=\"middle\">"
      "loss (nats per character)</text>\n",
      (frame.top + frame.bottom) / 2);
  return out;
}

/// The lines' names with a sample of each, in the corner where a falling loss leaves room.
inline std::string legend(
    const Frame& frame, const std::vector<std::pair<const char*, const char*>>& entries) {
  std::string out;
  double y = frame.top + 14;
  for (const auto& [name, style] : entries) {
    out += format("<path d=\"M%.0f %.0fh28\" %s/><text x=\"%.0f\" y=\"%.0f\">%s</text>\n",
        frame.right - 190, y, style, frame.right - 154, y + 4, name);
    y += 20;
  }
  return out;
}

/// An SVG of both losses, with the bigram entropy as a dashed line.
inline std::string draw(const Line& train, const Line& validation, double bigram) {
  Frame frame{.last_step = 1, .least = bigram, .most = bigram};
  for (const Line* line : {&train, &validation})
    for (const Point& p : *line) {
      frame.last_step = std::max(frame.last_step, p.step);
      frame.least = std::min(frame.least, p.loss);
      frame.most = std::max(frame.most, p.loss);
    }
  const double margin = 0.05 * std::max(frame.most - frame.least, 0.1);
  frame.least -= margin;
  frame.most += margin;

  const char* train_style = "stroke=\"#9ab8d8\" stroke-width=\"1.5\"";
  const char* validation_style = "stroke=\"#c0392b\" stroke-width=\"2\"";
  const char* bigram_style = "stroke=\"#333\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"";
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"390\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"64\" y=\"26\" font-size=\"15\">What a small GPT learns</text>\n";
  out += axes(frame) + polyline(frame, train, train_style);
  out += polyline(frame, {{0, bigram}, {frame.last_step, bigram}}, bigram_style);
  out += polyline(frame, validation, validation_style);
  out += legend(frame, {{"training", train_style}, {"validation", validation_style},
                           {"bigram entropy", bigram_style}});
  return out + "</svg>\n";
}

}  // namespace loss_curve
