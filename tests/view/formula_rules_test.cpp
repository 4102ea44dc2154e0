// The algebra of formulas: what each rule does, and that no rule changes a value.

#include <microtape/tape/view/formula_rules.hpp>

#include <microtape/core/random.hpp>
#include <microtape/tape/view/evaluate.hpp>
#include <microtape/tape/view/formula_shape.hpp>

#include "testing.hpp"
#include "view/read_text.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

using Kind = Formula::Kind;

/// Square matrices A, B, C; a batch D of two; a row r; a number of rank 0, s.
const std::map<std::string, Shape>& shapes() {
  static const std::map<std::string, Shape> all{
      {"A", {3, 3}}, {"B", {3, 3}}, {"C", {3, 3}}, {"D", {2, 3, 3}}, {"r", {3}}, {"s", {}}};
  return all;
}

Formula name(const std::string& text) {
  Formula out = name_formula(text);
  out.shape = shapes().at(text);
  return out;
}

Formula bound(std::string_view latex, const Shape& target = {3, 3}) {
  Bindings bindings;
  for (const auto& [text, shape] : shapes()) bindings[text] = {name(text)};
  Formula width = parse_formula(R"(\frac{1}{\sqrt{d}})");
  width.value = 0.5;
  bindings["c"] = {width};
  bindings["axis"] = {number_formula(-1)};
  bindings["first"] = {list_formula({0}, 3)};
  return substitute(with_target(parse_formula(latex), target), bindings);
}

std::string textbook(std::string_view latex, const Shape& target = {3, 3}) {
  return to_text(textbook_form(bound(latex, target)));
}
std::string literal(std::string_view latex, const Shape& target = {3, 3}) {
  return to_text(literal_form(bound(latex, target)));
}

}  // namespace

TEST_CASE("transposes move inward and cancel") {
  CHECK(textbook(R"((@A^\top)^\top)") == "A");
  CHECK(textbook(R"((@A @B)^\top)") == "B^T A^T");
  CHECK(textbook(R"((@A @B^\top @C)^\top)") == "C^T B A^T");
  CHECK(textbook(R"((@A \odot @B)^\top)") == "(A * B)^T");
  CHECK(textbook(R"((@A + @B)^\top)") == "(A + B)^T");
  CHECK(literal(R"((@A @B)^\top)") == "(A B)^T");
}

TEST_CASE("scalars move outward through all that is linear") {
  CHECK(textbook("(2 @A) @B") == "2 A B");
  CHECK(textbook("@A (2 @B)") == "2 A B");
  CHECK(textbook(R"(@A \odot (2 @B))") == "2 A * B");
  CHECK(textbook(R"((\frac{@A}{2})^\top @B)") == "A^T B / 2");
  CHECK(textbook(R"((@c @A)^\top @B)") == "A^T B / sqrt(d)");
  CHECK(textbook(R"(2 (\frac{@A}{3}))") == "2 A / 3");
  CHECK(textbook(R"(\frac{\frac{@A}{2}}{3})") == "A / 6");
  CHECK(textbook("2 (3 @A)") == "6 A");
  CHECK(textbook(R"(\frac{2 @A}{@B})") == "2 A / B");
  CHECK(textbook(R"((@s \odot @A) @B)") == "s * (A B)");
  CHECK(textbook(R"((\frac{@s}{4} \odot @A)^\top @B)") == "s * (A^T B) / 4");
  CHECK(textbook(R"(\operatorname{rowsum}_{@axis}(2 @A))") == "2 rowsum(A)");
  CHECK(textbook(R"(2 (@A @B \odot @C))") == "2 (A B) * C");
  CHECK(textbook(R"(\frac{2}{@A} @B)") == "(2 / A) B");
  // Not out of what is not linear.
  CHECK(textbook(R"(\operatorname{exp}(2 @A))") == "exp(2 A)");
  CHECK(textbook(R"(\frac{@A}{2 @B})") == "A / (2 B)");
  CHECK(textbook("(2 @A)^{2}") == "(2 A)^2");
  CHECK(literal("@A (2 @B)") == "A (2 B)");
}

TEST_CASE("signs move outward and into sums") {
  CHECK(textbook("(-@A) @B") == "-A B");
  CHECK(textbook("(-@A) (-@B)") == "A B");
  CHECK(textbook(R"((-@A)^\top)") == "-A^T");
  CHECK(textbook("@A + @B (-@C)") == "A - B C");
  CHECK(textbook("@A - (-2 @B)") == "A + 2 B");
  CHECK(textbook(R"(@A \odot (-\frac{@B}{2}))") == "-A * B / 2");
  CHECK(textbook("(0 - 2) @A") == "-2 A");
  CHECK(literal("@A - (-2 @B)") == "A + 2 B");  // the printer's doing
  CHECK(literal("(-@A) @B") == "-A B");
  CHECK(literal("@A (-@B)") == "A (-B)");
}

TEST_CASE("factors stand in a row") {
  CHECK(textbook("@A (@B @C)") == "A B C");
  CHECK(textbook(R"(@A \odot (@B \odot @C))") == "A * B * C");
  CHECK(textbook(R"(@A \odot (@B @C))") == "A * (B C)");
  CHECK(literal("@A (@B @C)") == "A (B C)");
}

TEST_CASE("a broadcast is left out where the value has the shape anyway") {
  CHECK(literal(R"(@A + \operatorname{broadcast}(@r))") == "A + r");
  CHECK(literal(R"(@A \odot (-\operatorname{broadcast}(\operatorname{exp}(@r))))") ==
        "A * (-exp(r))");
  CHECK(literal(R"(\operatorname{broadcast}(@A) @D)", {2, 3, 3}) == "A D");
  CHECK(literal(R"(@D (\operatorname{broadcast}(@A))^\top)", {2, 3, 3}) == "D A^T");
  CHECK(
      literal(R"(\operatorname{where}(@A, \operatorname{broadcast}(@r), 0))") == "where(A, r, 0)");
  CHECK(literal(R"(@r + \operatorname{broadcast}(@s))") == "r + broadcast(s)");
  CHECK(literal(R"(\operatorname{rowsum}_{@axis}(\operatorname{broadcast}(@r)))") ==
        "rowsum(broadcast(r))");
  // Along the rows, not the columns.
  CHECK(
      literal(R"(@D + \operatorname{broadcast}_{@first}(@r \odot @A))", {2, 3, 3}) == "D + r * A");
}

TEST_CASE("a sum to a shape becomes a sum over named axes") {
  CHECK(literal(R"(\operatorname{sumto}(@D))", {3, 3}) == "sum[axis 0](D)");
  CHECK(literal(R"(\operatorname{sumto}(@D))", {3}) == "sum[axes 0, 1](D)");
  CHECK(literal(R"(\operatorname{sumto}(@D))", {}) == "sum(D)");
  CHECK(literal(R"(\operatorname{sumto}(@A))", {3, 1}) == "rowsum(A)");
  CHECK(literal(R"(\operatorname{sumto}(@A))", {1, 3}) == "colsum(A)");
  CHECK(literal(R"(\operatorname{sumto}(@D))", {1, 3}) == "sum[axis 0](colsum(D))");
  CHECK(literal(R"(\operatorname{sumto}(@A))", {3, 3}) == "A");
}

TEST_CASE("a value gets another shape by the call that leads there") {
  CHECK(to_text(with_shape(name("D"), {3, 3})) == "sum[axis 0](D)");
  CHECK(to_text(with_shape(name("r"), {3, 3})) == "broadcast(r)");
  CHECK(to_text(with_shape(name("A"), {9})) == "reshape(A)");
  CHECK(to_text(with_shape(name("A"), {3, 3})) == "A");
  CHECK(to_text(with_shape(name_formula("unknown"), {3, 3})) == "unknown");
}

TEST_CASE("a line leaves out what a reader does anyway") {
  const auto line = [](const Formula& f, LineOf of = LineOf::value) {
    return to_text(line_form(f, of));
  };
  const Formula product = bound(R"(@D^\top @D)");
  CHECK(line(with_shape(product, {3, 3})) == "D^T D");
  CHECK(line(with_shape(bound("@D @D"), {3, 3})) == "sum[axis 0](D D)");
  CHECK(line(bound(R"(2 \operatorname{broadcast}(@r))")) == "2 r");
  CHECK(line(bound(R"(\operatorname{broadcast}(@r))")) == "broadcast(r)");
  CHECK(line(with_shape(bound("@D + 1"), {6, 3})) == "D + 1");
  CHECK(line(with_shape(bound("@D + 1"), {18})) == "reshape(D + 1)");
  const Formula split = with_shape(with_shape(name("D"), {6, 3}), {2, 3, 3});
  Formula twice = formula(Kind::product, {number_formula(2), split});
  CHECK(line(twice) == "2 reshape(reshape(D))");
  CHECK(line(twice, LineOf::adjoint) == "2 reshape(D)");
}

TEST_CASE("a long sum is not a deep tree") {
  const std::vector<Formula> terms(100'000, name("A"));
  const Formula sum = sum_of(terms);
  int depth = 0;
  for (const Formula* at = &sum; !at->children.empty(); at = &at->children[0]) ++depth;
  CHECK(depth == 17);
  CHECK(to_text(sum_of(std::vector<Formula>(5, name("A")))) == "A + A + A + A + A");
}

namespace {

/// A random tree whose value has the shape of a matrix, or of a batch of them.
Formula random_tree(std::uint64_t seed, std::uint64_t& counter, int depth) {
  const auto draw = [&](int n) { return static_cast<int>(random_uniform(seed, counter++) * n); };
  const auto child = [&] { return random_tree(seed, counter, depth - 1); };
  const auto call = [&](const char* function, Formula argument) {
    Formula out = formula(Kind::call, {std::move(argument)});
    out.text = function;
    return out;
  };
  if (depth == 0 || draw(7) == 0) return name(std::string(1, "ABCD"[draw(4)]));
  switch (draw(13)) {
    case 0:
      return formula(Kind::add, {child(), child()});
    case 1:
      return formula(Kind::subtract, {child(), child()});
    case 2:
      return formula(Kind::negate, {child()});
    case 3:
      return formula(Kind::hadamard, {child(), child()});
    case 4:
      if (draw(3) == 0) return formula(Kind::divide, {number_formula(2), name("B")});
      return formula(Kind::divide, {child(), number_formula(2 + draw(3))});
    case 5:
      return formula(Kind::hadamard, {name("s"), child()});
    case 6:
      return formula(Kind::transpose, {child()});
    case 7:
      return formula(Kind::product, {number_formula(draw(4) - 1), child()});
    case 8:
      return formula(Kind::product,
          {formula(Kind::divide, {number_formula(1 + draw(2)), number_formula(3)}), child()});
    case 9: {
      Formula sum = call("rowsum", child());
      sum.subscript = {number_formula(-1 - draw(2))};
      return formula(Kind::add, {name("A"), sum});
    }
    case 10:
      return formula(Kind::add, {child(), with_shape(name("r"), {3, 3})});
    case 11:
      return with_shape(with_shape(name("D"), {6, 3}), {2, 3, 3});
    default:
      return formula(Kind::product, {child(), child()});
  }
}

}  // namespace

TEST_CASE("3000 random formulas keep their values in both forms, and have nothing left to do") {
  Environment names;
  for (const auto& [text, shape] : shapes())
    names[text] =
        to_array(Tensor::uniform(shape, 0.5, 1.5, static_cast<std::uint64_t>(text[0]), float64));
  int changed = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    std::uint64_t counter = 0;
    const Formula tree = random_tree(seed, counter, 5);
    const Shape shape = shape_of(tree).value();
    const Tensor expected = to_tensor(evaluate(tree, names, shape));
    INFO("seed " << seed << ": " << to_text(tree));
    const Formula form = textbook_form(tree);
    INFO(to_text(form));
    CHECK(shape_of(form) == shape);
    CHECK(close(to_tensor(evaluate(form, names, shape)), expected, 1e-12));
    CHECK(close(to_tensor(evaluate(literal_form(tree), names, shape)), expected, 1e-12));
    CHECK(close(
        to_tensor(evaluate(line_form(form, LineOf::adjoint), names, shape)), expected, 1e-12));
    CHECK(textbook_form(form) == form);
    changed += to_text(form) != to_text(tree);
  }
  CHECK(changed > 1500);
}
