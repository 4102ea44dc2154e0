#pragma once

// One line that a terminal redraws while a loop runs; where the output goes into a file or a pipe,
// now and then a plain line, which says nothing of time, so that two runs print the same.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

namespace progress {

/// "1:05"
inline std::string clock(double seconds) {
  const auto s = static_cast<long long>(seconds + 0.5);
  char text[32];
  std::snprintf(text, sizeof text, "%lld:%02lld", s / 60, s % 60);
  return text;
}

class Bar {
 public:
  /// @param first  steps that were done before
  Bar(long long first, long long total, long long tokens_per_step)
      : first_(first), total_(total), tokens_per_step_(tokens_per_step) {}

  /// After step number `done`. A terminal's line is redrawn ten times a second at most; elsewhere
  /// there is a line only for a milestone.
  enum class Milestone { no, yes };
  void show(long long done, double loss, double validation, Milestone milestone) {
    const bool is_milestone = milestone == Milestone::yes;
    const double elapsed = seconds_since(start_);
    if (is_terminal_ ? seconds_since(drawn_) < 0.1 && done < total_ : !is_milestone) return;
    drawn_ = Clock::now();
    const double pace = elapsed / static_cast<double>(done - first_);
    std::printf("%s", is_terminal_ ? "\r\x1b[K" : "");
    if (is_terminal_) draw_bar(done);
    std::printf("step %lld/%lld  loss %.3f  validation %.3f", done, total_, loss, validation);
    if (is_terminal_)
      std::printf("  %.0f tokens/s  %s left", static_cast<double>(tokens_per_step_) / pace,
          clock(pace * static_cast<double>(total_ - done)).c_str());
    else
      std::printf("\n");
    std::fflush(stdout);
  }

  /// Leaves the line, so that what follows starts on its own.
  void finish() const {
    if (is_terminal_) std::printf("\nTrained for %s.\n", clock(seconds_since(start_)).c_str());
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kWidth = 20;

  static double seconds_since(Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  }

  void draw_bar(long long done) const {
    const auto filled = static_cast<std::size_t>(kWidth * done / total_);
    const std::string full(filled, '#'), empty(kWidth - filled, '.');
    std::printf("[%s%s] ", full.c_str(), empty.c_str());
  }

  long long first_, total_, tokens_per_step_;
  bool is_terminal_ = isatty(STDOUT_FILENO) != 0;
  Clock::time_point start_ = Clock::now(), drawn_{};
};

}  // namespace progress
