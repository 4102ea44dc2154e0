#include <cstdlib>
#include <filesystem>

#include <microtape/layers/transformer.hpp>
#include <microtape/tape/checkpoint.hpp>
#include <microtape/tape/view/json.hpp>

#include "core/file_testing.hpp"
#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

/// 0: all files of the folder fit the schema; 77: there is nothing to check them with.
int check(const Folder& folder) {
  const auto quoted = [](const std::string& text) { return "'" + text + "' "; };
  std::string command = "python3 " + quoted(tests_folder("view/check_schema.py").string()) +
                        quoted(tests_folder("../docs/tape.schema.json").string());
  for (const auto& file : std::filesystem::directory_iterator(folder.path))
    command += quoted(file.path().string());
  const int status = std::system(command.c_str()) / 256;
  return status == 127 ? 77 : status;  // there is no python3
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// Leaves, parameters, constants, scopes and attributes, swept and recorded.
std::string json_of_everything() {
  MicroTape tape;
  TransformerBlock block(4, 2, 0.5, true);
  const Var x = tape.leaf(Tensor::randn({1, 3, 4}, 1), "x\"\xff\n", R"(\tilde x)");
  tape.leaf(f64({kNan, kInfinity}), "unused");
  gather(tape.constant(f64({1, 2})), 0, i64({1, 0}));
  const Var y = block(x), loss = sum(y);
  backward(loss, Record::yes);
  Sweep sweep(loss, Tensor::full({}, 1));
  std::vector<Sweep::Step> steps;
  while (!sweep.done()) steps.push_back(sweep.step());
  return to_json(tape, &sweep, {.max_numbers = 4, .steps = steps});
}

}  // namespace

TEST_CASE("the JSON of every kind of tape fits docs/tape.schema.json") {
  const Folder folder;
  put(folder / "everything.json", json_of_everything());
  write_json(folder / "empty.json", MicroTape());
  {
    MicroTape tape(Keep::needed);
    const Var x = tape.leaf(f64(1));
    const Var y = checkpoint([](std::span<const Var> in) { return neg(exp(in[0])); }, {{x}});
    Sweep sweep(neg(y) * tape.constant(f64(2)), f64(1));
    write_json(folder / "begun.json", tape, &sweep);
    while (!sweep.done()) sweep.advance();
    write_json(folder / "needed.json", tape, &sweep);
  }
  {
    MicroTape tape;
    Gpt gpt({.vocabulary = 5, .context = 4, .width = 4, .num_heads = 2, .depth = 3});
    gpt(tape.constant(i64({{1, 2, 3}})));
    const GraphOptions graph{
        .hide = {Hide::constants}, .unfold = 1, .fold_repeats = Fold::yes, .max_nodes = 3};
    write_json(folder / "folded.json", tape, nullptr, {.graph = graph});
  }
  const int status = check(folder);
  if (status == 77) WARN("the schema was not checked: python3 lacks the package jsonschema");
  CHECK((status == 0 || status == 77));
}

TEST_CASE("the schema refuses a field too many, too few, and of another type") {
  const std::string json = json_of_everything();
  const std::pair<const char*, const char*> mistakes[] = {{"\"version\": 1", "\"version\": 2"},
      {"\"note\": \"\",\n", ""}, {"\"active\":true,", ""}, {"\"active\":true,", "\"active\":1,"},
      {"\"op\":\"leaf\"", "\"op\":\"leaf\",\"operator\":1"}, {"\"NaN\"", "\"nan\""},
      {"\"stride\":1", "\"stride\":0"}, {"\"kind\":\"op\"", "\"kind\":\"node\""},
      {"\"complete\":true", "\"complete\":null"}};
  for (const auto& [from, to] : mistakes) {
    const Folder folder;
    put(folder / "wrong.json", replaced(json, from, to));
    const int status = check(folder);
    if (status == 77) return;
    INFO(from << " -> " << to);
    CHECK(status == 1);
  }
}
