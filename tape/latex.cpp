#include <microtape/tape/latex.hpp>

#include <algorithm>
#include <string>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape {
namespace {

constexpr std::string_view kRefused[] = {"begin", "catcode", "closein", "closeout", "csname", "def",
    "edef", "end", "endcsname", "expandafter", "futurelet", "gdef", "global", "immediate",
    "include", "input", "let", "loop", "newcommand", "openin", "openout", "par", "providecommand",
    "read", "renewcommand", "special", "usepackage", "verb", "write", "xdef"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The command that begins with the backslash at the start: its letters, or one other character.
std::string_view command_of(std::string_view latex) {
  std::size_t end = 1;
  while (end < latex.size() && is_letter(latex[end])) ++end;
  return latex.substr(1, std::max<std::size_t>(end - 1, 1));
}

/// Counts what opens and closes, one inside the other.
class Nesting {
 public:
  void open(char with) { open_ += with; }
  bool close(char with) {
    if (!open_.ends_with(with)) return false;
    open_.pop_back();
    return true;
  }
  std::string problem() const {
    if (open_.empty()) return "";
    return open_.back() == '{' ? "a { without its }" : R"(a \left without its \right)";
  }

 private:
  std::string open_;  ///< a { for a group, an l for a \left
};

/// What is wrong with a command; empty if nothing is.
std::string problem_of_command(std::string_view command, Nesting& nesting) {
  if (command.empty()) return R"(a \ at the end)";
  if (command == "\\") return R"(a \\)";
  if (std::ranges::find(kRefused, command) != std::end(kRefused))
    return cat("the command \\", command);
  if (command == "left") nesting.open('l');
  if (command == "right" && !nesting.close('l')) return R"(a \right without its \left)";
  return "";
}

/// What is wrong with the whole; empty if nothing is.
std::string problem_of(std::string_view latex) {
  Nesting nesting;
  bool wants_script = false;  // after a ^ or _
  for (; !latex.empty(); latex.remove_prefix(1)) {
    const char c = latex[0];
    if (c == ' ') continue;
    const bool is_script = c == '^' || c == '_';
    if (wants_script && (is_script || c == '}')) return "a ^ or _ of nothing";
    wants_script = is_script;
    if (c == '{') nesting.open('{');
    if (c == '}' && !nesting.close('{')) return "a } without its {";
    if (std::string_view("$%#&").find(c) != std::string_view::npos)
      return cat(std::string(1, c), " by itself");
    if (c != '\\') continue;
    const std::string_view command = command_of(latex);
    if (std::string problem = problem_of_command(command, nesting); !problem.empty())
      return problem;
    latex.remove_prefix(command.size());
  }
  return wants_script ? "a ^ or _ of nothing" : nesting.problem();
}

}  // namespace

void check_latex(std::string_view op, std::string_view name, std::string_view latex) {
  if (latex.empty() || latex == name) return;
  const std::string problem = problem_of(latex);
  if (problem.empty()) return;
  throw ValueError(cat(op, ": ", problem, ": LaTeX ", in_quotes(latex), " of ", in_quotes(name),
      R"(; it stands in math mode: {} and \left \right in pairs, no $ % # & by itself, no \\, and no )"
      "command that reads, writes or defines"));
}

}  // namespace microtape
