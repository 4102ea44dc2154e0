#pragma once

// Lines from a person at a terminal, who may also press an arrow key; or from a file or a pipe.

#include <cstdio>
#include <iostream>
#include <optional>
#include <string>

#if __has_include(<termios.h>)
#include <termios.h>
#include <unistd.h>
#define MICROTAPE_TERMIOS 1
#endif

namespace keyboard {

#ifdef MICROTAPE_TERMIOS

inline bool is_terminal() { return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO); }

/// Gives the program each key as it is pressed, for as long as it lives.
class KeyMode {
 public:
  KeyMode() {
    tcgetattr(STDIN_FILENO, &before_);
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  KeyMode(const KeyMode&) = delete;
  KeyMode& operator=(const KeyMode&) = delete;
  ~KeyMode() { tcsetattr(STDIN_FILENO, TCSANOW, &before_); }

 private:
  termios before_{};
};

/// The next byte; nothing at the end of the input.
inline std::optional<char> key() {
  char c = 0;
  if (read(STDIN_FILENO, &c, 1) != 1) return {};
  return c;
}

/// What the rest of an escape sequence means as a command; empty if nothing.
inline std::string arrow() {
  // ESC [ or ESC O, parameters, and a letter or ~ at the end.
  const std::optional<char> second = key();
  if (second != '[' && second != 'O') return "";
  std::optional<char> last = key();
  while (last && (*last < '@' || *last > '~')) last = key();
  switch (last.value_or(0)) {
    case 'A':
    case 'D':
      return "back";
    case 'B':
    case 'C':
      return "next";
    case 'H':
      return "start";
    case 'F':
      return "end";
    default:
      return "";
  }
}

/// A line typed at the prompt, or the command of an arrow key pressed at its beginning. Ctrl-C, and
/// Ctrl-D on an empty line, end the input.
inline std::optional<std::string> typed_line() {
  std::string line;
  const auto echo = [](const char* text) {
    std::fputs(text, stdout);
    std::fflush(stdout);
  };
  for (;;) {
    const std::optional<char> c = key();
    if (!c || *c == 3 || (*c == 4 && line.empty())) return echo("\n"), std::nullopt;
    if (*c == '\n' || *c == '\r') return echo("\n"), line;
    if (*c == 27) {
      const std::string command = arrow();
      if (line.empty() && !command.empty()) return echo((command + "\n").c_str()), command;
    } else if (*c == 127 || *c == 8) {
      // Take a whole character back, which in UTF-8 may be several bytes.
      while (!line.empty() && (line.back() & 0xc0) == 0x80) line.pop_back();
      if (!line.empty()) line.pop_back(), echo("\b \b");
    } else if (static_cast<unsigned char>(*c) >= 32) {
      line += *c;
      echo(std::string(1, *c).c_str());
    }
  }
}

#else

inline bool is_terminal() { return false; }
class KeyMode {};
inline std::optional<std::string> typed_line() { return {}; }

#endif

/// Asks for lines with a prompt. What comes from a file or a pipe is printed too, so that the
/// output reads like a dialogue.
class Lines {
 public:
  Lines() {
    if (is_terminal()) mode_.emplace();
  }
  std::optional<std::string> next() {
    std::fputs("> ", stdout);
    std::fflush(stdout);
    if (mode_) return typed_line();
    std::string line;
    if (!std::getline(std::cin, line)) return std::puts(""), std::nullopt;
    std::puts(line.c_str());
    return line;
  }

 private:
  std::optional<KeyMode> mode_;
};

}  // namespace keyboard
