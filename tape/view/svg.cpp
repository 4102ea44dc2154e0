#include <microtape/tape/view/svg.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

extern char** environ;

namespace microtape {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Starts `dot -Tsvg`, its input and output joined to open files.
/// @return its exit status; 127 if there is no such program
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
  if (failed) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

void write_svg(const std::filesystem::path& path, const std::string& dot) {
  // A temporary file holds the graph, so that neither side waits for a full pipe.
  const File graph(std::tmpfile(), std::fclose);
  if (!graph || std::fwrite(dot.data(), 1, dot.size(), graph.get()) != dot.size())
    throw FileError(cat("write_svg: cannot write a temporary file: ", std::strerror(errno)));
  std::rewind(graph.get());  // also flushes

  // The picture is drawn beside its place and then renamed: a failure leaves what was there before.
  const std::string name = path.string(), draft = name + ".tmp";
  File picture(std::fopen(draft.c_str(), "wb"), std::fclose);
  if (!picture) throw FileError(cat("write_svg: cannot write ", name, ": ", std::strerror(errno)));
  const int status = run_dot(fileno(graph.get()), fileno(picture.get()));
  picture.reset();
  if (status == 0 && std::rename(draft.c_str(), name.c_str()) == 0) return;
  const int why = errno;
  std::remove(draft.c_str());
  if (status == 0) throw FileError(cat("write_svg: cannot write ", name, ": ", std::strerror(why)));
  if (status == 127)
    throw FileError(
        "write_svg: the program dot is missing; it is in the package graphviz: "
        "apt-get install graphviz, or brew install graphviz");
  throw FileError(cat("write_svg: dot could not lay out the graph (exit status ", status, ")"));
}

}  // namespace microtape
