// Every row of the derivative table, in every way in which it can be computed.

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <microtape/tape/gradcheck.hpp>

#include "tape/op_table.hpp"
#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

std::vector<Var> leaves_of(MicroTape& tape, const OpRow& row, DType dtype = float64) {
  std::vector<Var> leaves;
  for (const Tensor& x : row.inputs) leaves.push_back(tape.leaf(x.to(dtype)));
  return leaves;
}

/// The cotangent of every sweep here: no two numbers are equal.
Tensor seed_for(const Var& y) {
  return Tensor::uniform(y.shape(), -2, 2, 77, float64).to(y.dtype());
}

bool is_active(const Var& y) { return y.tape()->node(y.node()).is_active(); }

/// y, then the adjoint of each input; adjoints are left out where y is inactive.
std::vector<Tensor> value_and_adjoints(const OpRow& row, DType dtype, Keep keep) {
  MicroTape tape(keep);
  const std::vector<Var> x = leaves_of(tape, row, dtype);
  const Var y = row.f(x);
  std::vector<Tensor> out{y.value()};
  if (y.node() == kNoNode || !is_active(y)) return out;
  const Gradients gradients = backward(y, seed_for(y));
  for (const Var& leaf : x) out.push_back(gradients[leaf].value());
  return out;
}

/// The names of all ops that the sources record on the tapes that show everything. "attention"
/// stands for three of them on the others (attention_fused_test.cpp).
std::set<std::string> ops_in_sources() {
  std::set<std::string> names;
  const std::regex pattern(R"re(record\(\s*\{"([a-z_0-9]+)")re");
  for (const auto& file : std::filesystem::directory_iterator(tests_folder("../tape/ops"))) {
    if (file.path().extension() != ".cpp") continue;
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator at(source.begin(), source.end(), pattern), end; at != end; ++at)
      names.insert((*at)[1]);
  }
  names.erase("attention");
  return names;
}

}  // namespace

TEST_CASE("the first and second derivatives of every op agree with difference quotients") {
  for (const OpRow& row : op_table()) {
    INFO(row.name);
    const GradcheckReport report = gradcheck(row.f, row.inputs);
    INFO(report.str());
    CHECK(report.passed());
    CHECK(report.checked > 0);
  }
}

TEST_CASE("every op that the sources record has at least two rows in the derivative table") {
  std::map<std::string, int> rows;
  for (const OpRow& row : op_table()) {
    MicroTape tape;
    const Var y = row.f(leaves_of(tape, row));
    if (is_active(y)) backward(y, seed_for(y), Record::yes);
    bool uses_it = false;
    for (const Node& node : tape.nodes()) uses_it = uses_it || node.op() == row.op();
    INFO(row.name);
    CHECK(uses_it);
    ++rows[row.op()];
  }
  const std::set<std::string> sources = ops_in_sources();
  CHECK(sources.size() >= 40);
  for (const std::string& op : sources) {
    INFO("op " << op << " has " << rows[op] << " rows in tests/tape/op_table_*.cpp");
    CHECK(rows[op] >= 2);
  }
  for (const auto& [op, count] : rows) {
    INFO("rows of " << op << ", an op that no source records");
    CHECK(sources.count(op) == 1);
  }
}

TEST_CASE("a Keep::needed tape gives every op the same value and adjoints to the bit") {
  for (const OpRow& row : op_table()) {
    INFO(row.name);
    const auto everything = value_and_adjoints(row, float64, Keep::everything);
    const auto needed = value_and_adjoints(row, float64, Keep::needed);
    REQUIRE(everything.size() == needed.size());
    for (std::size_t i = 0; i < needed.size(); ++i) CHECK(identical(needed[i], everything[i]));
  }
}

TEST_CASE("every op works in float32 and is near its float64 self") {
  for (const OpRow& row : op_table()) {
    INFO(row.name);
    const auto doubles = value_and_adjoints(row, float64, Keep::everything);
    const auto floats = value_and_adjoints(row, float32, Keep::everything);
    REQUIRE(floats.size() == doubles.size());
    for (std::size_t i = 0; i < floats.size(); ++i) {
      CHECK(floats[i].dtype() == float32);
      CHECK(close(floats[i], doubles[i], 2e-5, i == 0 ? "y" : "adjoint"));
    }
  }
}

TEST_CASE("a second sweep over any op gives the same bits and neither grows the tape") {
  for (const OpRow& row : op_table()) {
    INFO(row.name);
    MicroTape tape;
    const std::vector<Var> x = leaves_of(tape, row);
    const Var y = row.f(x);
    if (!is_active(y)) continue;
    const NodeId size = tape.size();
    const Gradients first = backward(y, seed_for(y)), second = backward(y, seed_for(y));
    CHECK(tape.size() == size);
    for (const Var& leaf : x) {
      CHECK(identical(first[leaf], second[leaf].value()));
      CHECK(first[leaf].tape() == nullptr);
    }
  }
}

TEST_CASE("a recorded sweep over any op gives the same bits as one that is not recorded") {
  for (const OpRow& row : op_table()) {
    INFO(row.name);
    for (const Keep keep : {Keep::everything, Keep::needed}) {
      MicroTape tape(keep);
      const std::vector<Var> x = leaves_of(tape, row);
      const Var y = row.f(x);
      if (y.node() == kNoNode || !is_active(y)) continue;
      const Gradients plain = backward(y, seed_for(y));
      const Gradients recorded = backward(y, seed_for(y), Record::yes);
      for (const Var& leaf : x) CHECK(identical(recorded[leaf], plain[leaf].value()));
    }
  }
}
