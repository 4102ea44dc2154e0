#pragma once

// Lines in a frame with two axes, as an SVG.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace plot {

struct Point {
  double x, y;
};

struct Line {
  std::string name;
  std::vector<Point> points;
  std::string style;  ///< attributes of SVG: `stroke="#c0392b" stroke-width="2"`
};

enum class Scale { linear, logarithmic };
enum class Corner { top_right, top_left, bottom_left };

struct Options {
  std::string title, x_label, y_label;
  Scale scale = Scale::linear;  ///< of both axes
  Corner legend = Corner::top_right;
};

namespace detail {

template <class... Numbers>
std::string format(const char* pattern, Numbers... numbers) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, numbers...);
  return text;
}

/// An axis: from numbers to pixels, and the numbers that are written beside it.
struct Axis {
  double least = INFINITY, most = -INFINITY;
  double from = 0, to = 0;  ///< in pixels
  Scale scale = Scale::linear;

  double of(double v) const { return scale == Scale::logarithmic ? std::log10(v) : v; }
  void include(double v) {
    least = std::min(least, of(v));
    most = std::max(most, of(v));
  }
  void widen(double share) {
    const double margin = share * std::max(most - least, 1e-9);
    least -= margin;
    most += margin;
  }
  double pixel(double v) const { return from + (to - from) * (of(v) - least) / (most - least); }

  /// 1, 2 or 5 times a power of ten apart, about six of them; powers of ten on a logarithmic axis.
  std::vector<double> ticks() const {
    const double range = most - least;
    double step = std::pow(10.0, std::floor(std::log10(range / 6)));
    if (scale == Scale::logarithmic) step = std::max(step, 1.0);
    for (const double factor : {2.0, 2.5, 2.0})
      if (range / step > 7) step *= factor;
    if (scale == Scale::logarithmic) step = std::round(step);
    std::vector<double> out;
    for (double v = std::ceil(least / step) * step; v <= most; v += step)
      out.push_back(scale == Scale::logarithmic ? std::pow(10.0, v) : std::abs(v) < 1e-9 ? 0 : v);
    return out;
  }
};

inline std::string axes(const Axis& x, const Axis& y, const Options& options) {
  std::string out;
  for (const double v : y.ticks())
    out += format(
        "<path d=\"M%.0f %.1fH%.0f\" stroke=\"#ddd\"/>"
        "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n",
        x.from, y.pixel(v), x.to, x.from - 8, y.pixel(v) + 4, v);
  for (const double v : x.ticks())
    out += format("<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%.6g</text>\n", x.pixel(v),
        y.from + 18, v);
  out += format("<path d=\"M%.0f %.0fV%.0fH%.0f\" fill=\"none\" stroke=\"#444\"/>\n", x.from, y.to,
      y.from, x.to);
  out += format("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n",
      (x.from + x.to) / 2, y.from + 40, options.x_label.c_str());
  return out + format(
                   "<text transform=\"translate(18 %.0f) rotate(-90)\" text-anchor=\"middle\">"
                   "%s</text>\n",
                   (y.from + y.to) / 2, options.y_label.c_str());
}

/// The lines' names, with a sample of each.
inline std::string legend(
    const Axis& x, const Axis& y, const std::vector<Line>& lines, Corner corner) {
  std::string out;
  const double left = corner != Corner::top_right ? x.from + 16 : x.to - 190;
  double at =
      corner == Corner::bottom_left ? y.from - 20 * static_cast<double>(lines.size()) : y.to + 14;
  for (const Line& line : lines) {
    out += format("<path d=\"M%.0f %.0fh28\" %s/><text x=\"%.0f\" y=\"%.0f\">%s</text>\n", left, at,
        line.style.c_str(), left + 36, at + 4, line.name.c_str());
    at += 20;
  }
  return out;
}

}  // namespace detail

/// An SVG of 640 x 390 pixels. Points at which a logarithmic axis has no place are left out.
inline std::string draw(const std::vector<Line>& lines, const Options& options) {
  detail::Axis x{.from = 74, .to = 610, .scale = options.scale};
  detail::Axis y{.from = 330, .to = 44, .scale = options.scale};
  const auto has_place = [&](const Point& p) {
    return options.scale == Scale::linear || (p.x > 0 && p.y > 0);
  };
  for (const Line& line : lines)
    for (const Point& p : line.points)
      if (has_place(p)) {
        x.include(p.x);
        y.include(p.y);
      }
  y.widen(0.05);

  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"390\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  out += "<text x=\"74\" y=\"26\" font-size=\"15\">" + options.title + "</text>\n";
  out += detail::axes(x, y, options);
  for (const Line& line : lines) {
    out += "<polyline fill=\"none\" points=\"";
    for (const Point& p : line.points)
      if (has_place(p)) out += detail::format("%.1f,%.1f ", x.pixel(p.x), y.pixel(p.y));
    out += "\" " + line.style + "/>\n";
  }
  return out + detail::legend(x, y, lines, options.legend) + "</svg>\n";
}

}  // namespace plot
