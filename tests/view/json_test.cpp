#include <microtape/tape/view/json.hpp>

#include <bit>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include <microtape/tape/ops.hpp>
#include <microtape/tape/view/dot.hpp>

#include "core/file_testing.hpp"
#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;
using Json = nlohmann::ordered_json;

namespace {

std::vector<Sweep::Step> steps_of(Sweep& sweep) {
  std::vector<Sweep::Step> steps;
  while (!sweep.done()) steps.push_back(sweep.step());
  return steps;
}

/// The numbers of a constant, read back.
Json numbers_of(const Tensor& x, const JsonOptions& options = {}) {
  MicroTape tape;
  tape.constant(x);
  return Json::parse(to_json(tape, nullptr, options)).at("nodes")[0].at("value");
}

}  // namespace

TEST_CASE("the JSON of a small tape, to the letter") {
  MicroTape tape;
  const Var x = tape.leaf(f64(3), "x");
  const Parameter w("w", f64(0.5));
  const Scope scope = tape.scope("model", "@x", "@g");
  const Var y = (x * tape.watch(w)).named("y", R"(\hat y)");
  Sweep sweep(y, f64(1));
  const std::vector<Sweep::Step> steps = steps_of(sweep);
  CHECK(to_json(tape, &sweep, {.steps = steps}) == R"json({
"format": "MicroTape",
"version": 1,
"keep": "everything",
"sweep": {"done":true,"at":null},
"note": "",
"scopes": [
{"id":0,"parent":null,"name":"","formula":"","rule":""},
{"id":1,"parent":0,"name":"model","formula":"@x","rule":"@g"}],
"nodes": [
{"id":0,"item":"n0","kind":"leaf","op":"leaf","name":"x","latex":"x","label":"x","scope":0,"backward":false,"active":true,"shape":[],"dtype":"float64","formula":"","equation":"","attributes":[],"inputs":[],"value":{"size":1,"stride":1,"numbers":[3.0],"min":3.0,"max":3.0,"norm":3.0},"adjoint_state":"computed","adjoint":{"size":1,"stride":1,"numbers":[0.5],"min":0.5,"max":0.5,"norm":0.5}},
{"id":1,"item":"n1","kind":"parameter","op":"parameter","name":"w","latex":"w","label":"w","scope":1,"backward":false,"active":true,"shape":[],"dtype":"float64","formula":"","equation":"","attributes":[],"inputs":[],"value":{"size":1,"stride":1,"numbers":[0.5],"min":0.5,"max":0.5,"norm":0.5},"adjoint_state":"computed","adjoint":{"size":1,"stride":1,"numbers":[3.0],"min":3.0,"max":3.0,"norm":3.0}},
{"id":2,"item":"n2","kind":"op","op":"mul","name":"y","latex":"\\hat y","label":"y","scope":1,"backward":false,"active":true,"shape":[],"dtype":"float64","formula":"@a \\odot @b","equation":"x * w","attributes":[],"inputs":[{"name":"a","node":0,"position":0,"active":true,"formula":"@g \\odot @b","rule":"dy * w","attribute":null},{"name":"b","node":1,"position":1,"active":true,"formula":"@g \\odot @a","rule":"dy * x","attribute":null}],"value":{"size":1,"stride":1,"numbers":[1.5],"min":1.5,"max":1.5,"norm":1.5},"adjoint_state":"computed","adjoint":{"size":1,"stride":1,"numbers":[1.0],"min":1.0,"max":1.0,"norm":1.0}}],
"frames": [
{"id":"c1","parent":null,"scope":1,"backward":false,"open":true,"name":"model","detail":"","repeats":1,"first":1,"end":3}],
"arrows": [
{"id":"e2_0","from":"n0","to":"n2","node":2,"position":0,"count":1,"active":true},
{"id":"e2_1","from":"n1","to":"n2","node":2,"position":1,"count":1,"active":true}],
"steps": [
{"node":2,"adjoint":{"size":1,"stride":1,"numbers":[1.0],"min":1.0,"max":1.0,"norm":1.0},"contributions":[{"position":0,"input":0,"value":{"size":1,"stride":1,"numbers":[0.5],"min":0.5,"max":0.5,"norm":0.5},"before":null,"after":{"size":1,"stride":1,"numbers":[0.5],"min":0.5,"max":0.5,"norm":0.5},"complete":true},{"position":1,"input":1,"value":{"size":1,"stride":1,"numbers":[3.0],"min":3.0,"max":3.0,"norm":3.0},"before":null,"after":{"size":1,"stride":1,"numbers":[3.0],"min":3.0,"max":3.0,"norm":3.0},"complete":true}]}]
}
)json");
}

TEST_CASE("every number reads back as the same bits") {
  const std::vector<double> hard{0.1, 1.0 / 3, -0.0, 5e-324, 1.7976931348623157e308, 2e-310, 1e22};
  const Json doubles = numbers_of(Tensor::of({7}, hard, float64)).at("numbers");
  for (std::size_t i = 0; i < hard.size(); ++i)
    CHECK(std::bit_cast<std::uint64_t>(doubles[i].get<double>()) ==
          std::bit_cast<std::uint64_t>(hard[i]));
  const float third = 1.0f / 3, least = 1e-45f;
  const Json floats = numbers_of(Tensor::of({2}, {third, least}, float32)).at("numbers");
  CHECK(floats[0].get<double>() == double{third});
  CHECK(floats[1].get<double>() == double{least});
  Tensor whole = Tensor::zeros({2}, int64);
  whole.mutable_data<std::int64_t>()[0] = 9007199254740993;  // 2^53 + 1 is no double
  whole.mutable_data<std::int64_t>()[1] = std::numeric_limits<std::int64_t>::min();
  const Json integers = numbers_of(whole).at("numbers");
  CHECK(integers[0].get<std::int64_t>() == 9007199254740993);
  CHECK(integers[1].get<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("NaN and the infinities are strings, in values and in attributes") {
  const Json value = numbers_of(f64({kNan, kInfinity, -kInfinity, 2}));
  CHECK(value.at("numbers") == Json({"NaN", "Infinity", "-Infinity", 2.0}));
  CHECK(value.at("min") == "-Infinity");
  CHECK(value.at("max") == "Infinity");
  CHECK(value.at("norm") == "NaN");
  MicroTape tape;
  clamp(tape.leaf(f64(1)), -kInfinity, 2);
  const Json attributes = Json::parse(to_json(tape)).at("nodes")[1].at("attributes");
  CHECK(attributes[0] == Json({{"name", "low"}, {"value", "-Infinity"}, {"symbol", ""}}));
  CHECK(attributes[1].at("value") == 2.0);
}

TEST_CASE("of many numbers some are written, evenly spaced, with what tells of all") {
  const Tensor x = ramp({2, 5});
  CHECK(numbers_of(x, {.max_numbers = 10}).at("stride") == 1);
  const Json some = numbers_of(x, {.max_numbers = 9});
  CHECK(some == Json::parse(R"({"size": 10, "stride": 2, "numbers": [1.0, 3.0, 5.0, 7.0, 9.0],
      "min": 1.0, "max": 10.0, "norm": 19.621416870348583})"));
  CHECK(numbers_of(x, {.max_numbers = 0}).at("numbers") == Json({1.0}));
  CHECK(numbers_of(transpose(x).value()).at("numbers")[1] == 6.0);  // row-major, of the transpose
  const Json none = numbers_of(Tensor::zeros({0, 3}));
  CHECK(none.at("numbers").empty());
  CHECK(none.at("min") == "Infinity");
  CHECK(none.at("norm") == 0.0);
}

TEST_CASE("an adjoint is computed, not computed, dropped, or none is due") {
  MicroTape tape, training(Keep::needed);
  const Var x = tape.leaf(f64(1), "x"), unused = tape.leaf(f64(2), "u");
  tape.constant(f64(3));
  const Var y = x * 0.0;
  Sweep sweep(y, f64(1));
  const auto state = [&](NodeId id, const MicroTape& on, const Sweep* s) {
    const Json node = Json::parse(to_json(on, s)).at("nodes")[id];
    CHECK(node.at("adjoint").is_null() == (node.at("adjoint_state") != "computed"));
    return node.at("adjoint_state").get<std::string>();
  };
  CHECK(state(0, tape, &sweep) == "not computed");
  CHECK(Json::parse(to_json(tape, &sweep)).at("sweep") == Json({{"done", false}, {"at", 3}}));
  sweep.advance();
  CHECK(state(0, tape, &sweep) == "computed");
  CHECK(state(1, tape, &sweep) == "not computed");
  CHECK(state(2, tape, &sweep) == "none");
  CHECK(state(0, tape, nullptr) == "none");
  CHECK(Json::parse(to_json(tape)).at("sweep").is_null());

  Sweep trained(neg(exp(training.leaf(f64(1)))), f64(1));
  while (!trained.done()) trained.advance();
  CHECK(state(0, training, &trained) == "computed");
  CHECK(state(1, training, &trained) == "not kept");
  const Json parsed = Json::parse(to_json(training));
  CHECK(parsed.at("keep") == "needed");
  CHECK(parsed.at("nodes")[2].at("value").is_null());
}

TEST_CASE("every node is there, and says what is drawn for it") {
  MicroTape tape;
  Var h = tape.leaf(f64(1), "x");
  tape.constant(f64(2));
  for (int i = 0; i < 2; ++i) {
    const Scope scope = tape.scope(cat("block", i));
    h = sin(exp(h));
  }
  {
    const Scope scope = tape.scope("head");
    h = exp(exp(h));
  }
  const auto drawn_as = [&](const GraphOptions& options) {
    std::string out;
    const Json parsed = Json::parse(to_json(tape, nullptr, {.graph = options}));
    for (const Json& node : parsed.at("nodes"))
      out += node.at("item").is_null() ? "- " : node.at("item").get<std::string>() + " ";
    return out;
  };
  CHECK(drawn_as({}) == "n0 n1 n2 n3 n4 n5 n6 n7 ");
  CHECK(drawn_as({.hide = {Hide::constants}}) == "n0 - n2 n3 n4 n5 n6 n7 ");
  CHECK(drawn_as({.unfold = 0}) == "n0 n1 b1 b1 b2 b2 b3 b3 ");
  CHECK(drawn_as({.fold_repeats = Fold::yes}) == "n0 n1 n2 n3 n2 n3 n6 n7 ");
  const Json parsed = Json::parse(
      to_json(tape, nullptr, {.graph = {.unfold = 0, .fold_repeats = Fold::yes, .max_nodes = 2}}));
  CHECK(parsed.at("frames")[0] == Json::parse(R"({"id": "b1", "parent": null, "scope": 1,
      "backward": false, "open": false, "name": "block x 2", "detail":
      "block0 to block1, one after the other; each 2 nodes, result []",
      "repeats": 2, "first": 2, "end": 4})"));
  CHECK(parsed.at("note") == "4 nodes are more than max_nodes = 2; there are no scopes to fold");
}

TEST_CASE("ids in JSON are those in DOT, without the prefix") {
  MicroTape tape;
  const Var x = tape.leaf(f64(1), "x");
  {
    const Scope outer = tape.scope("a"), inner = tape.scope("b");
    exp(x) * x;
  }
  backward(tape.var(tape.size() - 1), Record::yes);
  for (const std::size_t unfold : {std::size_t{0}, std::size_t{1}, kAllScopes}) {
    const GraphOptions options{.unfold = unfold, .id_prefix = "p"};
    const std::string dot = to_dot(tape, nullptr, options);
    const Json parsed = Json::parse(to_json(tape, nullptr, {.graph = options}));
    std::size_t known = 1;  // the graph itself
    std::set<std::string> ids;
    for (const Json& node : parsed.at("nodes")) ids.insert(node.at("item"));
    for (const char* list : {"frames", "arrows"})
      for (const Json& item : parsed.at(list)) ids.insert(item.at("id"));
    for (const std::string& id : ids) known += dot.find("id=\"p_" + id + "\"") != std::string::npos;
    std::size_t all = 0;
    for (std::size_t at = 0; (at = dot.find("id=\"p", at)) != std::string::npos; ++at) ++all;
    CHECK(known == all);
    CHECK(ids.size() + 1 == all);
  }
}

TEST_CASE("steps are played back in order, with the sum before and after each contribution") {
  MicroTape tape;
  const Var x = tape.leaf(f64(3), "x"), y = x * x;
  Sweep sweep(y, f64(2));
  const std::vector<Sweep::Step> steps = steps_of(sweep);
  const Json parsed = Json::parse(to_json(tape, &sweep, {.steps = steps}));
  REQUIRE(parsed.at("steps").size() == 1);
  const Json& parts = parsed.at("steps")[0].at("contributions");
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].at("before").is_null());
  CHECK(parts[0].at("complete") == false);
  CHECK(parts[1].at("position") == 1);
  CHECK(parts[1].at("input") == 0);
  CHECK(parts[1].at("value").at("numbers")[0] == 6.0);
  CHECK(parts[1].at("before").at("numbers")[0] == 6.0);
  CHECK(parts[1].at("after").at("numbers")[0] == 12.0);
  CHECK(parts[1].at("complete") == true);
  CHECK(Json::parse(to_json(tape, &sweep)).at("steps").empty());
}

TEST_CASE("steps of another tape are refused") {
  MicroTape tape, other;
  const Var x = tape.leaf(f64(3));
  Sweep sweep(exp(exp(x)), f64(1));
  const std::vector<Sweep::Step> steps = steps_of(sweep);
  const auto refused = [&](int node) {
    return says(cat("to_json: a step is not of this tape: step of node ", node,
        "; give what step() of a Sweep over this tape returned"));
  };
  CHECK_THROWS_MATCHES(to_json(other, nullptr, {.steps = steps}), ValueError, refused(2));
  exp(exp(other.leaf(f64(3))));
  CHECK_THROWS_MATCHES(to_json(other, nullptr, {.steps = steps}), ValueError, refused(2));
}

TEST_CASE("texts of any bytes are read back, what is no UTF-8 as U+FFFD") {
  MicroTape tape;
  const std::string name = "a\"b\\<c>&\n\t\x07 ğ🙂";
  tape.leaf(f64(1), name + "\xff");
  const Scope scope = tape.scope("s\xff\"");
  tape.leaf(f64(1), "x", R"(\tilde{x}_"1")");
  const Json parsed = Json::parse(to_json(tape));
  CHECK(parsed.at("nodes")[0].at("name") == name + "\uFFFD");
  CHECK(parsed.at("nodes")[1].at("latex") == R"(\tilde{x}_"1")");
  CHECK(parsed.at("scopes")[1].at("name") == "s\uFFFD\"");
}

TEST_CASE("an empty tape is JSON, and a file holds what the string does") {
  const Folder folder;
  const MicroTape empty;
  const Json parsed = Json::parse(to_json(empty));
  CHECK(parsed.at("nodes").empty());
  CHECK(parsed.at("scopes").size() == 1);
  MicroTape tape;
  exp(tape.leaf(f64(1)));
  write_json(folder / "a.json", tape, nullptr, {.max_numbers = 1});
  CHECK(bytes_of(folder / "a.json") == to_json(tape, nullptr, {.max_numbers = 1}));
  CHECK(folder.count() == 1);
  CHECK_THROWS_MATCHES(write_json("/no such folder/a.json", tape), FileError,
      says("write_json: cannot write: file \"/no such folder/a.json\": No such file or directory"));
}
