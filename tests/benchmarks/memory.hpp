#pragma once

#include <fstream>
#include <string>

/// What the process holds of the machine's memory, in bytes; 0 where the system does not tell.
namespace memory {

inline double status(const std::string& field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(field + ':', 0) == 0) return std::stod(line.substr(field.size() + 1)) * 1024;
  return 0;
}

inline double resident() { return status("VmRSS"); }
/// The most since reset_peak().
inline double peak() { return status("VmHWM"); }
inline void reset_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

/// By how much the second call of step lifts the peak above what the process held before the first.
template <class Step>
double growth_of(Step step) {
  const double before = resident();
  step();
  reset_peak();
  step();
  return peak() - before;
}

}  // namespace memory
