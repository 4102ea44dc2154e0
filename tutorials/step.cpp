// Step through a tape: forward as it was computed, then backward as the gradients are found.
//
//     build/release/tutorials/step attention
//
// The arrow keys and Enter move; `help` lists what can be asked. Commands may also come from a
// file: step attention < commands.txt

#include <cstdlib>

#include <CLI/CLI.hpp>

#include "support/example_tapes.hpp"
#include "support/keyboard.hpp"

using namespace microtape;

namespace {

const std::map<std::string, example_tapes::Example (*)()> kExamples{
    {"attention", example_tapes::attention},
    {"diamond", example_tapes::diamond},
    {"linear", example_tapes::linear},
    {"softmax", example_tapes::softmax},
};

/// Colours for a person at a terminal, unless NO_COLOR asks for none (https://no-color.org).
Colour colour() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool is_dumb = term && std::string(term) == "dumb";
  const bool is_off = (no_color && *no_color) || is_dumb || !keyboard::is_terminal();
  return is_off ? Colour::no : Colour::yes;
}

void step_through(const std::string& name) {
  const example_tapes::Example example = kExamples.at(name)();
  Stepper stepper(*example.tape, example.y, example.seed, colour());
  std::printf("The tape of %s.\n%s", name.c_str(), stepper.show().c_str());
  keyboard::Lines lines;
  while (!stepper.has_quit()) {
    const std::optional<std::string> line = lines.next();
    if (!line) return;
    std::fputs(stepper.command(*line).c_str(), stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Steps through a small tape, forward and backward.");
  std::string name = "attention";
  app.add_option("tape", name, "attention, diamond, linear or softmax")
      ->check(CLI::IsMember(kExamples))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  step_through(name);
}
