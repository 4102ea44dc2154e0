// Checks one exercise: main NAME FOLDER SEED. It leaves in FOLDER what the student is told (lines)
// and the points; run.sh prints the one and passes on the other.

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "exercise.hpp"

namespace {

/// In seconds of the processor; one that is right takes a tenth of one.
constexpr rlim_t kTimeLimit = 2;
/// In seconds, for one that waits; long, since others may keep the processor.
constexpr unsigned kWaitLimit = 20;

/// Before any other code of the program: a variable of the student's may be what does not end.
[[gnu::constructor(101)]] void limit_time() {
  const rlimit limit{kTimeLimit, RLIM_INFINITY};
  setrlimit(RLIMIT_CPU, &limit);
  alarm(kWaitLimit);
}

void write_points(const microtape::Verdict& verdict, std::ostream& out) {
  out << R"("points": )" << verdict.points() << R"(, "rules": [)";
  for (const microtape::RuleVerdict& rule : verdict.rules)
    out << (&rule == &verdict.rules[0] ? "" : ", ") << R"({"input": ")" << rule.input
        << R"(", "state": ")" << rule.state << R"(", "derivative": )" << rule.first
        << R"(, "second": )" << rule.second << R"(, "formula": )" << rule.formula << '}';
  out << ']';
}

}  // namespace

int main(int, char** arguments) {
  const std::string name = arguments[1];
  const std::filesystem::path folder = arguments[2];
  const std::uint64_t seed = std::stoull(arguments[3]);
  const microtape::Verdict verdict = microtape::check(make_exercise(seed));
  std::ofstream points(folder / "points");
  points << std::boolalpha;
  write_points(verdict, points);
  std::ofstream lines(folder / "lines");
  for (const std::string& line : verdict.lines(name)) lines << line << '\n';
  return verdict.is_right() ? 0 : 1;
}
