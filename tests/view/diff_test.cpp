#include <microtape/tape/view/diff.hpp>

#include <microtape/layers/transformer.hpp>
#include <microtape/tape/ops.hpp>
#include <microtape/tape/view/svg.hpp>

#include "testing.hpp"
#include "view/dot_program.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

using Make = void (*)(MicroTape&);

std::string compare_tapes(Make expected, Make actual) {
  MicroTape a, b;
  expected(a);
  actual(b);
  return to_text(diff(a, b));
}

void attention(MicroTape& tape, const Scale& scale, bool is_fused) {
  const auto leaf = [&](const char* name) { return tape.leaf(f64({{1, 2}, {3, 4}}), name); };
  const Var q = leaf("Q"), k = leaf("K"), v = leaf("V");
  const Var s = matmul_nt(q, k, scale).named("S");
  const Var e = is_fused ? Var() : exp(s);
  const Var p = is_fused ? softmax(s) : e / sum(e, {-1}, KeepAxes::yes);
  matmul(p.named("P"), v).named("C");
}

const Scale kByWidth{0.5, R"(\frac{1}{\sqrt{d}})"};
void fused(MicroTape& tape) { attention(tape, kByWidth, true); }
void composed(MicroTape& tape) { attention(tape, kByWidth, false); }
void unscaled(MicroTape& tape) { attention(tape, {}, true); }

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("equal graphs are the same, in whatever order and under whatever number") {
  CHECK(compare_tapes(fused, fused) == "the graphs are the same: 6 nodes\n");
  CHECK(compare_tapes(
            [](MicroTape& tape) {
              const Var x = tape.leaf(f64(1), "x");
              sin(x);
              exp(x) * cos(x);
            },
            [](MicroTape& tape) {
              const Var x = tape.leaf(f64(7), "x"), c = cos(x);
              exp(x) * c;
              sin(x);
            }) == "the graphs are the same: 5 nodes\n");
  MicroTape a, b;
  TransformerBlock block(4, 2);
  for (MicroTape* tape : {&a, &b}) block(tape->leaf(Tensor::randn({1, 3, 4}, 1)));
  CHECK(diff(a, b).is_same());
  CHECK(diff(MicroTape(), MicroTape()).is_same());
}

TEST_CASE("numbers of ops differ when they differ in the last bit, and are written out then") {
  // Bug: four digits were compared, and these graphs were called the same.
  MicroTape a, b;
  exp(2.00001 * a.leaf(f64(1), "x"));
  exp(2.00002 * b.leaf(f64(1), "x"));
  CHECK(to_text(diff(a, b)) ==
        "2 the same, 0 missing, 0 extra, 1 changed\n"
        "changed  #1 = 2.00002 x  (scale [], c = 2): c = 2.00002, not c = 2.00001\n");
}

TEST_CASE("a student's graph against the reference: a scale that was forgotten") {
  CHECK(compare_tapes(fused, unscaled) ==
        "5 the same, 0 missing, 0 extra, 1 changed\n"
        "changed  S = Q K^T  (matmul_nt [2, 2], c = 1): c = 1, not c = 0.5\n");
}

TEST_CASE("fused against composed: what stands in place of one op is extra, and back missing") {
  CHECK(compare_tapes(fused, composed) ==
        "5 the same, 0 missing, 3 extra, 1 changed\n"
        "extra    #4 = exp(S)  (exp [2, 2])\n"
        "extra    #5 = rowsum(#4)  (sum [2, 1], axes = [1])\n"
        "extra    #6 = broadcast(#5)  (broadcast_to [2, 2], shape = [2, 2])\n"
        "changed  P = #4 / #6  (div [2, 2]): div, not softmax\n");
  CHECK(compare_tapes(composed, fused) ==
        "5 the same, 3 missing, 0 extra, 1 changed\n"
        "missing  #4 = exp(S)  (exp [2, 2])\n"
        "missing  #5 = rowsum(#4)  (sum [2, 1], axes = [1])\n"
        "missing  #6 = broadcast(#5)  (broadcast_to [2, 2], shape = [2, 2])\n"
        "changed  P = softmax(S)  (softmax [2, 2], axis = -1): softmax, not div\n");
}

TEST_CASE("an op too many is extra, and its user has another input") {
  CHECK(compare_tapes([](MicroTape& tape) { sin(exp(tape.leaf(f64(1), "x"))); },
            [](MicroTape& tape) { sin(abs(exp(tape.leaf(f64(1), "x")))); }) ==
        "2 the same, 0 missing, 1 extra, 1 changed\n"
        "extra    #2 = abs(#1)  (abs [])\n"
        "changed  #3 = sin(#2)  (sin []): x is #2; x is not #1\n");
}

TEST_CASE("of inputs that share a name, each corresponds to that in its place") {
  CHECK(compare_tapes(
            [](MicroTape& tape) {
              const Var x = tape.leaf(f64({1}), "x");
              concat({x, sin(abs(x))}, 0);
            },
            [](MicroTape& tape) {
              const Var x = tape.leaf(f64({1}), "x");
              concat({x, sin(cos(x))}, 0);
            }) ==
        "2 the same, 1 missing, 1 extra, 1 changed\n"
        "missing  #1 = abs(x)  (abs [1])\n"
        "extra    #1 = cos(x)  (cos [1])\n"
        "changed  #2 = sin(#1)  (sin [1]): x is #1; x is not #1\n");
}

TEST_CASE("an op that leads nowhere is found by what it was made from") {
  CHECK(compare_tapes(
            [](MicroTape& tape) {
              const Var x = tape.leaf(f64(1), "x");
              x * 2.0;
              exp(x);
            },
            [](MicroTape& tape) {
              const Var x = tape.leaf(f64(1), "x");
              x * 3.0;
              exp(x);
            }) ==
        "2 the same, 0 missing, 0 extra, 1 changed\n"
        "changed  #1 = 3 x  (scale [], c = 3): c = 3, not c = 2\n");
}

TEST_CASE("an op in the middle of another kind is missing there, and its users are found below") {
  CHECK(compare_tapes([](MicroTape& tape) { sum(exp(sin(tape.leaf(f64(1), "x")))); },
            [](MicroTape& tape) { sum(exp(cos(tape.leaf(f64(1), "x")))); }) ==
        "2 the same, 1 missing, 1 extra, 1 changed\n"
        "missing  #1 = sin(x)  (sin [])\n"
        "extra    #1 = cos(x)  (cos [])\n"
        "changed  #2 = exp(#1)  (exp []): x is #1; x is not #1\n");
}

TEST_CASE("shapes, dtypes, names, formulas and kinds that differ are told") {
  CHECK(compare_tapes([](MicroTape& tape) { exp(tape.leaf(f64({1, 2}), "x")).named("y"); },
            [](MicroTape& tape) { exp(tape.leaf(Tensor::of({1, 2, 3}), "x")).named("y"); }) ==
        "0 the same, 0 missing, 0 extra, 2 changed\n"
        "changed  x  (leaf [3]): shape [3], not [2]; float32, not float64\n"
        "changed  y = exp(x)  (exp [3]): shape [3], not [2]; float32, not float64\n");
  CHECK(compare_tapes([](MicroTape& tape) { exp(tape.leaf(f64(1), "x")); },
            [](MicroTape& tape) { exp(tape.leaf(f64(1), "z")); }) ==
        "1 the same, 0 missing, 0 extra, 1 changed\n"
        "changed  z  (leaf []): named z, not x\n");
  CHECK(compare_tapes(
            [](MicroTape& tape) {
              tape.leaf(f64(1), "x");
              tape.leaf(f64(1), "y");
            },
            [](MicroTape& tape) {
              tape.leaf(f64(1), "z");
              tape.leaf(f64(1), "y");
            }) ==
        "1 the same, 0 missing, 0 extra, 1 changed\n"
        "changed  z  (leaf []): named z, not x\n");
  CHECK(compare_tapes([](MicroTape& tape) { tape.leaf(f64(1), "x"); },
            [](MicroTape& tape) { tape.constant(f64(1), "x"); }) ==
        "0 the same, 0 missing, 0 extra, 1 changed\n"
        "changed  x  (constant []): constant, not leaf\n");
  const Make op[] = {[](MicroTape& tape) {
                       const Var x = tape.leaf(f64(1), "x");
                       record({"op", "@x"}, [&] { return x.value(); }, {{"x", x}});
                     },
      [](MicroTape& tape) {
        const Var x = tape.leaf(f64(1), "x");
        record({"op", "-@x", {{"n", 1.0}}}, [&] { return x.value(); }, {{"x", x}});
      }};
  CHECK(compare_tapes(op[0], op[1]) ==
        "1 the same, 0 missing, 0 extra, 1 changed\n"
        "changed  #1 = -x  (op [], n = 1): formula -@x, not @x; n = 1, not nothing\n");
}

TEST_CASE("a name is not asked of a student, and does not keep alike nodes apart") {
  CHECK(
      compare_tapes([](MicroTape& tape) { exp(tape.leaf(f64(1), "x")).named("y"); },
          [](MicroTape& tape) { exp(tape.leaf(f64(1))); }) == "the graphs are the same: 2 nodes\n");
  CHECK(compare_tapes([](MicroTape& tape) { exp(tape.leaf(f64(1))); },
            [](MicroTape& tape) { exp(tape.leaf(f64(1), "x")).named("y"); }) ==
        "the graphs are the same: 2 nodes\n");
  // Of two that are alike, the name tells which is missing.
  CHECK(compare_tapes(
            [](MicroTape& tape) {
              const Var x = tape.leaf(f64(1), "x");
              exp(x).named("u");
              exp(x).named("v");
            },
            [](MicroTape& tape) { exp(tape.leaf(f64(1), "x")).named("v"); }) ==
        "2 the same, 1 missing, 0 extra, 0 changed\n"
        "missing  u = exp(x)  (exp [])\n");
}

TEST_CASE("operands in another order, and one more or less of the same, are other edges") {
  CHECK(compare_tapes(
            [](MicroTape& tape) {
              const Var x = tape.leaf(f64(1), "x"), z = tape.leaf(f64(1), "z");
              (x - z).named("y");
            },
            [](MicroTape& tape) {
              const Var x = tape.leaf(f64(1), "x"), z = tape.leaf(f64(1), "z");
              (z - x).named("y");
            }) ==
        "2 the same, 0 missing, 0 extra, 1 changed\n"
        "changed  y = z - x  (sub []): a is z; b is x; a is not x; b is not z\n");
  CHECK(contains(compare_tapes(
                     [](MicroTape& tape) {
                       const Var x = tape.leaf(f64({1}), "x");
                       concat({x, x}, 0).named("y");
                     },
                     [](MicroTape& tape) {
                       const Var x = tape.leaf(f64({1}), "x");
                       concat({x, x, x}, 0).named("y");
                     }),
      "shape [3], not [2]; "));
}

TEST_CASE("a difference is drawn with lines, colours and words of its own") {
  MicroTape a, b, c;
  fused(a);
  composed(b);
  unscaled(c);
  const std::string dot = to_dot(diff(b, a)), extra = to_dot(diff(a, b));
  CHECK(contains(dot, "style=\"filled,dashed\", fillcolor=\"#fdeee2\", color=\"#a03c00\""));
  CHECK(contains(dot, "<b>missing</b>"));
  CHECK(contains(dot, "n3 -> n4 [id="));
  CHECK(contains(dot, ">, style=dashed, color=\"#a03c00\"];"));
  CHECK(contains(extra, "style=filled, fillcolor=\"#cfe6f7\", color=\"#0072b2\", penwidth=3.5"));
  CHECK(contains(extra, "<b>extra</b>"));
  CHECK(contains(extra, ">, penwidth=3, color=\"#0072b2\"];"));
  CHECK(contains(to_dot(diff(a, c)), "peripheries=2"));
  CHECK(contains(to_dot(diff(a, c)), "<tr><td>c = 1, not c = 0.5</td></tr>"));
  const std::string same = to_dot(diff(a, a));
  CHECK_FALSE(contains(same, "dashed"));
  CHECK_FALSE(contains(same, "penwidth=3"));
  CHECK_FALSE(contains(same, "peripheries"));
  CHECK(to_dot(diff(b, a)) == dot);
  if (has_dot()) CHECK(contains(to_svg(dot), "</svg>"));
}

TEST_CASE("of two large graphs only what differs is drawn, with its neighbours") {
  const auto chain = [](MicroTape& tape, bool is_wrong) {
    Var x = tape.leaf(f64(1), "x");
    for (int i = 0; i < 300; ++i) x = is_wrong && i == 150 ? x * 3.0 : x * 2.0;
  };
  MicroTape a, b;
  chain(a, false);
  chain(b, true);
  const GraphDiff found = diff(a, b);
  CHECK(found.items.size() == 301);
  CHECK(found.count(Fate::changed) == 1);
  const std::string dot = to_dot(found);
  CHECK(contains(dot, "of 301 nodes, those that differ, and their neighbours"));
  CHECK(contains(dot, "  n150 [id="));
  CHECK(contains(dot, "  n151 [id="));
  CHECK(contains(dot, "  n152 [id="));
  CHECK_FALSE(contains(dot, "  n149 [id="));
  CHECK_FALSE(contains(dot, "  n153 [id="));
  CHECK(contains(dot, "n150 -> n151 [id="));
}

TEST_CASE("a difference outlives the tapes") {
  GraphDiff found;
  {
    MicroTape a, b;
    fused(a);
    unscaled(b);
    found = diff(a, b);
  }
  CHECK(contains(to_text(found), "c = 1, not c = 0.5"));
}
