#include <microtape/tape/view/profile.hpp>

#include <chrono>
#include <sstream>

#include <microtape/tape/checkpoint.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

/// Lets time go by.
void wait(double milliseconds) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start <
         std::chrono::duration<double, std::milli>(milliseconds)) {
  }
}

/// x, slowly: forward and back.
Var slow(const Var& x, double forward_ms, double backward_ms) {
  const auto forward = [&] {
    wait(forward_ms);
    return Tensor(x.value().to(float32).to(float64));
  };
  return record({"slow", "@x"}, forward, {{"x", x, "@g", [backward_ms](const Var& g) {
                                             wait(backward_ms);
                                             return g;
                                           }}});
}

/// The words of each line.
std::vector<std::vector<std::string>> words(const std::string& text) {
  std::vector<std::vector<std::string>> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    out.emplace_back();
    for (std::string word; in >> word;) out.back().push_back(word);
  }
  return out;
}

}  // namespace

TEST_CASE("profile ranks ops by the time of their values and rules") {
  MicroTape tape;
  const Var x = tape.leaf(ramp({10, 10}));
  const Var y = sum(slow(slow(exp(x), 4, 8), 4, 8));
  auto table = words(profile(tape));
  REQUIRE(table.size() == 6);  // the heading, slow, exp and sum, leaf, all
  CHECK(table[1][0] == "slow");
  CHECK(table[1][1] == "2");
  CHECK(std::stod(table[1][2]) >= 8);
  CHECK(table[1][3] == "0");
  backward(y);
  table = words(profile(tape));
  CHECK(table[1][0] == "slow");
  CHECK(std::stod(table[1][3]) >= 16);
  CHECK(std::stod(table[1][4]) >= 24);
  const double share = std::stod(table[1][5]);
  CHECK((share > 50 && share <= 100));
  // A second sweep adds up.
  backward(y);
  CHECK(std::stod(words(profile(tape))[1][3]) >= 32);
}

TEST_CASE("the time of a checkpoint is that of its function") {
  MicroTape tape;
  const Var y = sum(checkpoint(
      [](std::span<const Var> in) { return slow(in[0], 4, 8); }, {tape.leaf(ramp({2}))}));
  backward(y);
  const auto row = words(profile(tape))[1];
  CHECK(row[0] == "checkpoint");
  CHECK(std::stod(row[2]) >= 4);
  CHECK(std::stod(row[3]) >= 12);
}

TEST_CASE("profile counts the bytes of each value once: a view saves none") {
  MicroTape tape;
  const Var x = tape.leaf(ramp({30, 50}));                // 12,000 bytes
  const Var z = tape.leaf(ramp({1, 50}, 1, 1, float32));  // 200
  transpose(x);
  reshape(x, {1500});
  exp(z + Tensor::zeros({3, 50}));  // a constant, a broadcast, two values: 600 each
  std::map<std::string, std::string> saved;
  for (const auto& row : words(profile(tape)))
    if (row.size() > 2) saved[row[0]] = row[row.size() - 2] + " " + row.back();
  CHECK(saved.at("leaf") == "12.2 KB");
  CHECK(saved.at("transpose") == "0 B");
  CHECK(saved.at("reshape") == "0 B");
  CHECK(saved.at("broadcast_to") == "0 B");
  CHECK(saved.at("constant") == "600 B");
  CHECK(saved.at("add") == "600 B");
  CHECK(saved.at("exp") == "600 B");
  CHECK(saved.at("all") == "14 KB");
}

TEST_CASE("an empty tape has a profile, and a training tape says that it has none") {
  const MicroTape empty;
  CHECK(profile(empty) ==
        "op   nodes  forward ms  backward ms  sum ms  share  saved\n"
        "all      0           0            0       0    0 %    0 B\n");
  MicroTape training(Keep::needed);
  exp(training.leaf(f64(1)));
  CHECK_THROWS_MATCHES(profile(training), TapeError,
      says("profile: the tape is Keep::needed: it has not taken the time; use Keep::everything"));
}
