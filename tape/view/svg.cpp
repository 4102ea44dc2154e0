#include <microtape/tape/view/svg.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/io/file.hpp>
#include <microtape/tape/view/dot.hpp>
#include <microtape/tape/view/graph.hpp>

extern char** environ;

namespace microtape {
namespace {

constexpr std::size_t kMostNodes =
    1000;  ///< of a chain: dot takes 15 s, and four times that of 2000
constexpr std::chrono::seconds kMostTime{30};
constexpr int kNoProgram = 127, kNoTime = 126;

/// A file without a name that disappears with it; neither side waits for a full pipe.
class Scratch {
 public:
  explicit Scratch(const std::string& op) : op_(op), file_(std::tmpfile(), std::fclose) {
    if (!file_) fail();
  }
  int descriptor() const { return fileno(file_.get()); }

  void write(const std::string& text) {
    const bool is_written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
    if (!is_written || std::fflush(file_.get()) != 0) fail();
    std::rewind(file_.get());
  }
  std::string read() {
    std::rewind(file_.get());
    std::string text;
    char buffer[4096];
    while (const std::size_t bytes = std::fread(buffer, 1, sizeof buffer, file_.get()))
      text.append(buffer, bytes);
    if (std::ferror(file_.get())) fail();
    return text;
  }

 private:
  [[noreturn]] void fail() const {
    throw FileError(cat(op_, ": cannot use a temporary file: ", std::strerror(errno)));
  }

  std::string op_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

/// Waits for a program to end, and ends it if that takes too long.
/// @return its exit status, or kNoTime
int exit_status_of(pid_t child) {
  const auto deadline = std::chrono::steady_clock::now() + kMostTime;
  std::chrono::milliseconds pause{1};
  for (int status = 0;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (ended < 0 && errno != EINTR) return 1;
    if (std::chrono::steady_clock::now() > deadline) break;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(50));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return kNoTime;
}

/// Starts `dot -Tsvg`, its input and output joined to open files.
/// @return its exit status; kNoProgram if there is no such program, kNoTime if it does not end
int run_dot(int input, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  char program[] = "dot", svg[] = "-Tsvg";
  char* arguments[] = {program, svg, nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return kNoProgram;
  return exit_status_of(child);
}

/// @param op     whose errors they are
/// @param graph  where the graph can be found if there is no picture
std::string laid_out(const std::string& op, const std::string& dot, const std::string& graph) {
  Scratch input(op), output(op);
  input.write(dot);
  const int status = run_dot(input.descriptor(), output.descriptor());
  if (status == kNoProgram)
    throw FileError(cat(op,
        ": the program dot is missing; it is in the package graphviz: apt-get install graphviz, or "
        "brew install graphviz; ",
        graph));
  if (status == kNoTime)
    throw FileError(cat(op, ": dot did not finish within ", kMostTime.count(),
        " s; show less of the tape, by unfold, fold_repeats or hide; ", graph));
  if (status != 0)
    throw FileError(
        cat(op, ": dot could not lay out the graph (exit status ", status, "); ", graph));
  std::string svg = output.read();
  if (svg.find("</svg>") == std::string::npos)
    throw FileError(cat(op, ": dot wrote no picture; ", graph));
  return svg;
}

/// Refuses what would take dot minutes.
void check_size(const std::string& op, const MicroTape& tape, const GraphOptions& options,
    const std::string& graph) {
  const std::size_t nodes = graph_of(tape, options).items.size();
  if (nodes <= kMostNodes) return;
  throw ValueError(
      cat(op, ": too many nodes for dot: ", nodes, " are visible, at most ", kMostNodes,
          " are laid out; fold scopes by unfold or max_nodes, or open some to be folded; ", graph));
}

constexpr const char* kTextOfTape = "to_dot() is the graph as text";

/// Writes the graph beside the picture-to-be. @return where, for messages
std::string write_graph(const std::string& path, const std::string& dot) {
  std::filesystem::path beside = path;
  beside.replace_extension(".dot");
  if (beside == path)
    throw ValueError(cat("write_svg: the picture would replace its graph: file ", text_of(path),
        "; its extension must not be .dot"));
  write_text("write_svg", beside, dot);
  return "the graph is in " + text_of(beside);
}

}  // namespace

std::string to_svg(const std::string& dot) {
  return laid_out("to_svg", dot, "its text is what was given");
}

std::string to_svg(const MicroTape& tape, const Sweep* sweep, const GraphOptions& options) {
  check_size("to_svg", tape, options, kTextOfTape);
  return laid_out("to_svg", to_dot(tape, sweep, options), kTextOfTape);
}

void write_svg(const std::string& path, const std::string& dot) {
  const std::string graph = write_graph(path, dot);
  write_text("write_svg", path, laid_out("write_svg", dot, graph));
}

void write_svg(const std::string& path, const MicroTape& tape, const Sweep* sweep,
    const GraphOptions& options) {
  const std::string dot = to_dot(tape, sweep, options), graph = write_graph(path, dot);
  check_size("write_svg", tape, options, graph);
  write_text("write_svg", path, laid_out("write_svg", dot, graph));
}

}  // namespace microtape
