#include <microtape/tape/micro_tape.hpp>

#include <optional>

#include <microtape/core/format.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

const char* kGone =
    "Var: its tape is gone: the tape was cleared or destroyed after this Var was computed; compute "
    "it "
    "again";

std::vector<std::string> ops_of(const MicroTape& tape) {
  std::vector<std::string> names;
  for (const Node& node : tape.nodes()) names.emplace_back(node.op());
  return names;
}

}  // namespace

TEST_CASE("a Var is 24 bytes") { CHECK(sizeof(Var) == 24); }

TEST_CASE("without a tape ops are plain arithmetic and record nothing") {
  const Var x = f64({1, 2}), y = x * x + 1;
  CHECK(is(y, {2, 5}));
  CHECK(y.tape() == nullptr);
  CHECK(y.node() == kNoNode);
  CHECK(&y.named("y") == &y);  // nothing happens
}

TEST_CASE("a Var without a value says so when it is asked or used") {
  const Var none;
  CHECK_FALSE(none.defined());
  const auto text =
      says("Tensor: it has no value: it was default-constructed or moved from; give it one first");
  CHECK_THROWS_MATCHES(none.shape(), ValueError, text);
  CHECK_THROWS_MATCHES(none + f64(1), ValueError, text);
  MicroTape tape;
  CHECK_THROWS_MATCHES(tape.leaf(Tensor()), ValueError, text);
  CHECK_THROWS_MATCHES(tape.constant(Tensor()), ValueError, text);
  CHECK(tape.size() == 0);
}

TEST_CASE("a tape lists what was computed in order, inputs before their users") {
  MicroTape tape;
  const Var x = tape.leaf(f64({1, 2}), "x"), w = tape.watch(Parameter("w", f64({3, 4})));
  const Var y = (x + w) * f64({5, 6});
  CHECK(ops_of(tape) == std::vector<std::string>{"leaf", "parameter", "add", "constant", "mul"});
  CHECK(tape.node(0).kind() == NodeKind::leaf);
  CHECK(tape.node(1).kind() == NodeKind::parameter);
  CHECK(tape.node(2).kind() == NodeKind::op);
  CHECK(tape.node(3).kind() == NodeKind::constant);
  CHECK(tape.node(1).name() == "w");
  const Node& node = tape.node(y.node());
  REQUIRE(node.edges().size() == 2);
  CHECK(node.edges()[0].name() == "a");
  CHECK(node.edges()[0].input() == 2);
  CHECK(node.edges()[1].input() == 3);
  CHECK(node.edges()[0].is_active());
  CHECK_FALSE(node.edges()[1].is_active());  // a constant
  CHECK(node.formula() == R"(@a \odot @b)");
  CHECK(node.edges()[0].formula() == R"(@g \odot @b)");
  CHECK(identical(tape.var(y.node()), y.value()));
  for (NodeId id = 0; id < tape.size(); ++id)
    for (const Edge& edge : tape.node(id).edges()) CHECK(edge.input() < id);
}

TEST_CASE("a node is active if and only if a leaf or parameter reaches it") {
  MicroTape tape;
  const Var c = tape.constant(f64({1, 2})), x = tape.leaf(f64({3, 4}));
  const auto active = [&](const Var& v) { return tape.node(v.node()).is_active(); };
  CHECK_FALSE(active(c));
  CHECK_FALSE(active(c + c));
  CHECK(active(x));
  CHECK(active(c * x));
  CHECK_FALSE(active(detach(x) * c));
  CHECK(active(detach(x) * x));
}

TEST_CASE("leaves of int64 are refused and constants of int64 are not") {
  MicroTape tape;
  CHECK_THROWS_MATCHES(tape.leaf(i64({1, 2})), DTypeError,
      says("leaf: int64 has no derivative: value [2]; use constant(), or convert it with "
           "to(float32)"));
  // Bug: a parameter of int64 was active.
  CHECK_THROWS_MATCHES(tape.watch(Parameter("index", i64({1, 2}))), DTypeError,
      says("watch: int64 has no derivative: parameter index [2]; a parameter is float32 or "
           "float64"));
  CHECK(tape.size() == 0);
  CHECK(tape.watched().empty());
  CHECK(tape.constant(i64({1, 2})).dtype() == int64);
}

TEST_CASE("a tape that keeps what is needed stores no constants and no values that no rule takes") {
  MicroTape tape(Keep::needed);
  const Var c = tape.constant(f64({1, 2}), "c"), x = tape.leaf(f64({3, 4}));
  CHECK(c.node() == kNoNode);
  CHECK(c.tape() == &tape);
  CHECK((c + c).node() == kNoNode);
  CHECK((c + c).tape() == &tape);
  const Var shifted = x + c, e = exp(shifted);
  CHECK(ops_of(tape) == std::vector<std::string>{"leaf", "add", "exp"});
  CHECK_FALSE(tape.node(shifted.node()).has_value());
  CHECK(tape.node(shifted.node()).shape() == Shape{2});
  CHECK(tape.node(shifted.node()).dtype() == float64);
  CHECK(tape.node(e.node()).has_value());  // its rule takes y
  CHECK(tape.node(shifted.node()).edges().size() == 1);
  CHECK_THROWS_MATCHES(tape.var(shifted.node()), TapeError,
      says("var: the value of node 1 (add) was not kept; use a Keep::everything tape"));
}

TEST_CASE("asking for a node that does not exist is an IndexError") {
  MicroTape tape;
  tape.leaf(f64(1));
  CHECK_THROWS_MATCHES(tape.node(1), IndexError, says("node: there is no node 1: the tape has 1"));
  CHECK_THROWS_MATCHES(tape.var(7), IndexError, says("node: there is no node 7: the tape has 1"));
  CHECK_THROWS_MATCHES(
      tape.scope_path(1), IndexError, says("scope_path: there is no scope 1: the tape has 1"));
}

TEST_CASE("a Var of a cleared tape is refused by ops, names, watch-mates and sweeps") {
  MicroTape tape;
  const Var old = tape.leaf(f64(2));
  tape.clear();
  CHECK(tape.size() == 0);
  const Var fresh = tape.leaf(f64(3));
  CHECK(fresh.node() == old.node());  // the same place, so only the generation tells
  CHECK_THROWS_MATCHES(old.tape(), TapeError, says(kGone));
  CHECK_THROWS_MATCHES(old.named("x"), TapeError, says(kGone));
  CHECK_THROWS_MATCHES(exp(old), TapeError,
      says("exp: x is from a tape that was cleared or destroyed since; compute it again"));
  CHECK_THROWS_MATCHES(fresh * old, TapeError,
      says("mul: b is from a tape that was cleared or destroyed since; compute it again"));
  CHECK_THROWS_AS(old + f64({1, 2}), TapeError);  // where it would be repeated first
  CHECK_THROWS_AS(softmax(fresh, {.mask = old}), Error);
  CHECK_THROWS_MATCHES(backward(old), TapeError, says(kGone));
  CHECK_THROWS_MATCHES(backward(fresh, old), TapeError, says(kGone));
  CHECK_THROWS_MATCHES(tape.bind(Parameter("w", f64(1)), old), TapeError, says(kGone));
  CHECK_THROWS_AS(backward(fresh)[old], TapeError);
  CHECK_FALSE(backward(fresh).reached(old));
  CHECK(old.value().item() == 2);  // the number is still there
}

TEST_CASE("a Var of a destroyed tape is refused, also when its slot serves another tape") {
  std::optional<MicroTape> tape(std::in_place);
  const Var old = tape->leaf(f64(2));
  tape.reset();
  CHECK_THROWS_MATCHES(old.tape(), TapeError, says(kGone));
  // The next tapes take the slots that are free, and this one among them.
  std::vector<std::unique_ptr<MicroTape>> next;
  for (int i = 0; i < 4; ++i) {
    next.push_back(std::make_unique<MicroTape>());
    const Var x = next.back()->leaf(f64(3));
    CHECK_THROWS_MATCHES(old * x, TapeError,
        says("mul: a is from a tape that was cleared or destroyed since; compute it again"));
    CHECK_THROWS_AS(backward(x)[old], TapeError);
  }
}

TEST_CASE("two tapes in one op are refused, constants included") {
  MicroTape one, two;
  const Var x = one.leaf(f64({1, 2})), y = two.leaf(f64({3, 4})), c = two.constant(f64({5, 6}));
  const NodeId sizes[] = {one.size(), two.size()};
  const auto text = [](const std::string& op) {
    return says(op + ": the inputs stand on two tapes; put all of them on one");
  };
  CHECK_THROWS_MATCHES(x + y, TapeError, text("add"));
  CHECK_THROWS_MATCHES(x * c, TapeError, text("mul"));
  CHECK_THROWS_MATCHES(x - two.leaf(f64(1)), TapeError, text("sub"));  // broadcast
  CHECK_THROWS_MATCHES(concat({x, c}, 0), TapeError, text("concat"));
  CHECK_THROWS_MATCHES(where(two.constant(i64({1, 0})), x, 0), TapeError, text("where"));
  CHECK_THROWS_MATCHES(
      matmul(one.leaf(ramp({2, 1, 1, 1})), two.leaf(ramp({3, 1, 1}))), TapeError, text("matmul"));
  CHECK_THROWS_MATCHES(backward(sum(x), two.leaf(f64(1))), TapeError,
      says("backward: the seed stands on another tape than y; put both on one"));
  CHECK(one.size() == sizes[0] + 2);
  CHECK(two.size() == sizes[1] + 4);
  MicroTape training(Keep::needed);
  CHECK_THROWS_MATCHES(x * training.constant(f64({1, 2})), TapeError, text("mul"));
}

TEST_CASE("clear keeps a tape usable and the memory of Vars that are left over") {
  MicroTape tape;
  for (int round = 0; round < 3; ++round) {
    const Var x = tape.leaf(ramp({2}), "x");
    const Var y = sum(x * x);
    CHECK(tape.size() == 3);
    CHECK(is(backward(y)[x], {2, 4}));
    tape.clear();
  }
}

TEST_CASE("more nodes than fit in a chunk keep their places and their texts") {
  MicroTape tape;
  std::vector<const Node*> nodes;
  for (int i = 0; i < 5000; ++i) {
    const Var x = tape.leaf(f64(i), "x" + std::to_string(i));
    nodes.push_back(&tape.node(x.node()));
  }
  for (NodeId id = 0; id < 5000; ++id) {
    REQUIRE(&tape.node(id) == nodes[id]);
    REQUIRE(tape.node(id).name() == "x" + std::to_string(id));
  }
  // A text that is larger than a block of the arena.
  const std::string large(300000, 'a');
  CHECK(tape.node(tape.leaf(f64(0), large).node()).name() == large);
}

TEST_CASE("names are kept for text and for LaTeX, and may be given again") {
  MicroTape tape;
  const Var x = tape.leaf(f64(1), "x");
  const Var p = exp(x).named("P_drop", R"(\tilde P)");
  CHECK(tape.node(x.node()).latex() == "x");
  CHECK(tape.node(p.node()).name() == "P_drop");
  CHECK(tape.node(p.node()).latex() == R"(\tilde P)");
  p.named("P");
  CHECK(tape.node(p.node()).name() == "P");
  CHECK(tape.node(p.node()).latex() == "P");
  CHECK(tape.node(exp(x).node()).name().empty());
}

TEST_CASE("LaTeX that would break a formula is refused, and changes nothing") {
  MicroTape tape;
  const Var p = tape.leaf(f64(1), "P");
  const std::string rule =
      R"(; it stands in math mode: {} and \left \right in pairs, no $ % # & by itself, no \\, and no )"
      "command that reads, writes or defines";
  const std::pair<const char*, const char*> kWrong[] = {
      {R"(\input{x})", R"(the command \input)"},
      {R"(x\csname y\endcsname)", R"(the command \csname)"},
      {"x}{", "a } without its {"},
      {"{x", "a { without its }"},
      {R"(\{x})", "a } without its {"},
      {R"(\left(x)", R"(a \left without its \right)"},
      {R"(x\right))", R"(a \right without its \left)"},
      {R"({\left(x}\right))", "a } without its {"},
      {"x % y", "% by itself"},
      {"$x$", "$ by itself"},
      {R"(x\\y)", R"(a \\)"},
      {R"(x\)", R"(a \ at the end)"},
      {"x_", "a ^ or _ of nothing"},
      {"{x^ }", "a ^ or _ of nothing"},
      {"x_^2", "a ^ or _ of nothing"},
  };
  for (const auto& [latex, wrong] : kWrong) {
    const std::string end = cat(": ", wrong, ": LaTeX \"", latex, "\" of \"S\"", rule);
    CHECK_THROWS_MATCHES(p.named("S", latex), ValueError, says("named" + end));
    CHECK_THROWS_MATCHES(tape.leaf(f64(1), "S", latex), ValueError, says("leaf" + end));
    CHECK_THROWS_MATCHES(tape.constant(f64(1), "S", latex), ValueError, says("constant" + end));
  }
  CHECK(tape.size() == 1);
  CHECK(tape.node(p.node()).name() == "P");
  for (const char* right : {R"(\tilde P)", R"(\left\{x\right\})", R"(W^{(1)}_{\text{in}\%})", "ğ",
           "x'", R"(\mathcal{L}\,\#1)", R"(\left(\frac{a}{b}\right))"})
    CHECK(tape.node(p.named("P", right).node()).latex() == right);
}

TEST_CASE("a name is text, also of a recorded adjoint and when it is given twice") {
  MicroTape tape;
  const Var x = tape.leaf(f64(1), "}{", "}{");
  const Var dx = backward(square(x).named("$"), Record::yes)[x];
  CHECK(tape.node(dx.node()).name() == "d}{");
  CHECK(tape.node(dx.node()).latex() == "d}{");
}

TEST_CASE("values on a tape do not change when a Tensor that they came from is written to") {
  MicroTape tape;
  Tensor data = f64({1, 2});
  const Var x = tape.leaf(data), y = x * x;
  data.mutable_data<double>()[0] = 100;
  Tensor read = y.value();
  read.mutable_data<double>()[0] = 100;
  CHECK(is(x, {1, 2}));
  CHECK(is(tape.var(y.node()), {1, 4}));
  CHECK(is(backward(sum(y))[x], {2, 4}));
}
