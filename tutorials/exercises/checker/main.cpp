// Checks one exercise: main NAME FOLDER. It leaves in FOLDER what the student is told (lines) and
// the points; run.sh prints the one and passes on the other.

#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "exercise.hpp"

namespace {

/// In seconds; one that is right takes a tenth of one.
constexpr rlim_t kTimeLimit = 2;

std::uint64_t seed() {
  const char* text = std::getenv("MICROTAPE_EXERCISE_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
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
  const std::filesystem::path folder = arguments[2];
  const rlimit limit{kTimeLimit, RLIM_INFINITY};
  setrlimit(RLIMIT_CPU, &limit);
  const microtape::Verdict verdict = microtape::check(make_exercise(seed()));
  std::ofstream points(folder / "points");
  points << std::boolalpha;
  write_points(verdict, points);
  std::ofstream lines(folder / "lines");
  for (const std::string& line : verdict.lines(arguments[1])) lines << line << '\n';
  return verdict.is_right() ? 0 : 1;
}
