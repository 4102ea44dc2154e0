#include <microtape/tape/view/formula.hpp>

#include <microtape/core/error.hpp>
#include <microtape/core/random.hpp>
#include <microtape/tape/view/evaluate.hpp>

#include "catch.hpp"
#include "view/read_text.hpp"

using namespace microtape;
using microtape::testing::says;
using microtape::testing::TextReader;

namespace {

using Kind = Formula::Kind;

Formula list(std::vector<double> items, double rank) {
  Formula out = formula(Kind::list, {});
  for (const double item : items) out.children.push_back(number_formula(item));
  if (rank > 0) out.value = rank;
  return out;
}

/// What an op would bind: names for inputs, c = 1/sqrt(d), k = -2, n = 3.
Bindings bindings() {
  Bindings out;
  for (const char* name : {"a", "b", "g", "m", "x", "y", "M"}) out[name] = {name_formula(name)};
  Formula c = parse_formula(R"(\frac{1}{\sqrt{d}})");
  c.value = 0.5;
  out["c"] = {c};
  out["k"] = {number_formula(-2)};
  out["n"] = {number_formula(3)};
  out["two"] = {number_formula(2)};
  out["one"] = {number_formula(1)};
  out["parts"] = {name_formula("x"), name_formula("y"), name_formula("z")};
  return out;
}

std::string printed(std::string_view latex) {
  return to_text(substitute(parse_formula(latex), bindings()));
}

std::string printed(std::string_view latex, const std::string& subscript, const Formula& value) {
  Bindings all = bindings();
  all[subscript] = {value};
  return to_text(substitute(parse_formula(latex), all));
}

}  // namespace

TEST_CASE("the equations of attention print as the textbook has them") {
  CHECK(printed(R"(@c @a @b^\top)") == "a b^T / sqrt(d)");
  CHECK(printed(R"(@c @g @b)") == "g b / sqrt(d)");
  CHECK(printed(R"(@y \odot (@g - \operatorname{rowsum}_{@axis}(@g \odot @y)))", "axis",
            number_formula(-1)) == "y * (g - rowsum(g * y))");
  CHECK(printed(R"(\operatorname{softmax}_{@axis}(@x + @M))", "axis", number_formula(-1)) ==
        "softmax(x + M)");
}

TEST_CASE("matrix and elementwise products never mix without parentheses") {
  CHECK(printed(R"(@a @b \odot @g)") == "(a b) * g");
  CHECK(printed(R"(@a \odot @b @g)") == "(a * b) g");
  CHECK(printed(R"(@a (@b \odot @g))") == "a (b * g)");
  CHECK(printed(R"(@a \odot (@b @g))") == "a * (b g)");
  CHECK(printed(R"(\frac{@a @b}{@g})") == "(a b) / g");
  CHECK(printed(R"(\frac{@a}{@g} @b)") == "(a / g) b");
  CHECK(printed(R"(2 @a \odot @b)") == "2 a * b");
  CHECK(printed(R"(2 @a @b \odot @g)") == "(2 a b) * g");
  CHECK(printed(R"(\frac{1}{2} @a @b \odot @g)") == "(a b) * g / 2");
}

TEST_CASE("parentheses stand where the order of reading needs them, and only there") {
  CHECK(printed("@a @b @g") == "a b g");
  CHECK(printed("@a (@b @g)") == "a (b g)");
  CHECK(printed("@a - @b - @g") == "a - b - g");
  CHECK(printed("@a - (@b - @g)") == "a - (b - g)");
  CHECK(printed(R"(@a + @b \odot @g)") == "a + b * g");
  CHECK(printed(R"((@a + @b) \odot @g)") == "(a + b) * g");
  CHECK(printed(R"((@a @b)^\top)") == "(a b)^T");
  CHECK(printed(R"(@a @b^\top)") == "a b^T");
  CHECK(printed(R"((@a^\top)^{2})") == "(a^T)^2");
  CHECK(printed(R"(\frac{@a + @b}{2})") == "(a + b) / 2");
  CHECK(printed(R"(\frac{@a}{2 @b})") == "a / (2 b)");
  CHECK(printed(R"(\frac{\frac{@a}{@b}}{@g})") == "(a / b) / g");
  CHECK(printed(R"(\sqrt{@a + @b})") == "sqrt(a + b)");
  CHECK(printed("[@x > 0]") == "[x > 0]");
  CHECK(printed(R"(@g \odot [@x = @y])") == "g * [x = y]");
}

TEST_CASE("minus signs merge with sums and are kept apart from products") {
  CHECK(printed("@a + @k") == "a - 2");
  CHECK(printed("@a - @k") == "a + 2");
  CHECK(printed("@k @a") == "-2 a");
  CHECK(printed("@x + @k @a") == "x - 2 a");
  CHECK(printed("@a - (-@b)") == "a + b");
  CHECK(printed(R"(-@a \odot @b)") == "-a * b");
  CHECK(printed(R"(@a \odot (-@b))") == "a * (-b)");
  CHECK(printed("-(@a + @b)") == "-(a + b)");
  CHECK(printed("-(-@a)") == "-(-a)");
  CHECK(printed("(-@a)^{2}") == "(-a)^2");
  CHECK(printed("@a^{-1}") == "a^(-1)");
  CHECK(printed(R"(-\frac{@g \odot @y}{@b})") == "-g * y / b");
}

TEST_CASE("a leading fraction of numbers moves behind the product") {
  CHECK(printed(R"(\frac{1}{2} @x)") == "x / 2");
  CHECK(printed(R"(\frac{1}{@n} \operatorname{exp}(@x))") == "exp(x) / 3");
  CHECK(printed(R"(\frac{2}{3} @x)") == "2 x / 3");
  CHECK(printed(R"(\frac{2}{\sqrt{\pi}} @g \odot \operatorname{exp}(-@x^{2}))") ==
        "2 g * exp(-x^2) / sqrt(pi)");
  CHECK(printed(R"(\frac{1}{2} @x \odot (1 + \operatorname{tanh}(\sqrt{\frac{2}{\pi}} )"
                R"((@x + 0.044715 @x^{3}))))") ==
        "x * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2");
  // Not so if a matrix stands below: 1/b a would be another thing.
  CHECK(printed(R"(\frac{1}{@b} @a)") == "(1 / b) a");
}

TEST_CASE("numbers that are put in for names are added up, and ones vanish") {
  CHECK(printed(R"(@n @g \odot @x^{@n - 1})") == "3 g * x^2");
  CHECK(printed(R"(@two @g \odot @x^{@two - 1})") == "2 g * x");
  CHECK(printed("@one @a @b") == "a b");
  CHECK(printed("@x^{@n + 1}") == "x^4");
}

TEST_CASE("functions are named as people name them, with axes only where they must be told") {
  const Formula last = number_formula(-1), before_last = number_formula(-2);
  CHECK(printed(R"(\operatorname{softmax}_{@at}(@x))", "at", before_last) == "softmax[axis -2](x)");
  CHECK(printed(R"(\operatorname{logsoftmax}_{@at}(@x))", "at", last) == "logsoftmax(x)");
  CHECK(printed(R"(\operatorname{rowsum}_{@at}(@x))", "at", before_last) == "colsum(x)");
  CHECK(printed(R"(\operatorname{rowmean}_{@at}(@x))", "at", list({2}, 3)) == "rowmean(x)");
  CHECK(printed(R"(\operatorname{rowmean}_{@at}(@x))", "at", list({1}, 3)) == "colmean(x)");
  CHECK(
      printed(R"(\operatorname{rowsum}_{@at}(@x))", "at", list({0}, 3)) == "sum[axis 0, kept](x)");
  CHECK(
      printed(R"(\operatorname{rowsum}_{@at}(@x))", "at", list({0, 1}, 2)) == "sum[all, kept](x)");
  // Without a subscript it has the value of a sum over all, so it must not look like one of rows.
  CHECK(to_text(parse_formula(R"(\operatorname{rowsum}(x))")) == "sum[all, kept](x)");
  CHECK(printed(R"(\operatorname{sum}_{@at}(@x))", "at", list({0, 1}, 2)) == "sum(x)");
  CHECK(printed(R"(\operatorname{sum}_{@at}(@x))", "at", list({0}, 2)) == "sum[axis 0](x)");
  CHECK(printed(R"(\operatorname{max}_{@at}(@x))", "at", list({0, 2}, 3)) == "max[axes 0, 2](x)");
  CHECK(printed(R"(\operatorname{broadcast}_{@at}(@g))", "at", list({0}, 2)) ==
        "broadcast[axis 0](g)");
  CHECK(printed(R"(\operatorname{broadcast}_{@at}(@g))", "at", list({0, 1}, 2)) == "broadcast(g)");
  CHECK(printed(R"(\operatorname{slice}_{@at}(@x))", "at", list({1, 0, 4}, 0)) ==
        "slice[axis 1, 0:4](x)");
  CHECK(printed(R"(\operatorname{select}_{@at}(@g))", "at", list({0, 2}, 0)) ==
        "select[axis 0, 2](g)");
  CHECK(printed(R"(\operatorname{permute}_{@at}(@x))", "at", list({0, 2, 1}, 0)) ==
        "permute[0, 2, 1](x)");
  CHECK(printed(R"(\operatorname{where}(@m, @g, 0))") == "where(m, g, 0)");
}

TEST_CASE("a name of several inputs expands inside concat and stack only") {
  CHECK(printed(R"(\operatorname{concat}_{@at}(@parts))", "at", number_formula(0)) ==
        "concat[axis 0](x, y, z)");
  CHECK(printed(R"(\operatorname{stack}_{@at}(@g, @parts))", "at", number_formula(1)) ==
        "stack[axis 1](g, x, y, z)");
  CHECK(printed(R"(\operatorname{exp}(@parts))") == "exp(x)");
}

TEST_CASE("the parser builds products from the left, at one level") {
  const Formula a = name_formula("a"), b = name_formula("b"), g = name_formula("g");
  const Bindings all = bindings();
  CHECK(substitute(parse_formula(R"(@a @b \odot @g)"), all) ==
        formula(Kind::hadamard, {formula(Kind::product, {a, b}), g}));
  CHECK(substitute(parse_formula(R"(@a\,@b^\top)"), all) ==
        formula(Kind::product, {a, formula(Kind::transpose, {b})}));
  CHECK(substitute(parse_formula("-@a @b + @g"), all) ==
        formula(Kind::add, {formula(Kind::negate, {formula(Kind::product, {a, b})}), g}));
  CHECK(parse_formula(R"(d_{model})").kind == Kind::symbol);
  CHECK(to_text(parse_formula(R"(\sqrt{d_{model}} \tau)")) == "sqrt(d_model) * tau");
}

TEST_CASE("the parser refuses whatever lies outside the subset") {
  for (const char* text : {"", " ", "@", "@a +", "(@a", "@a)", R"(\frac{@a})", R"(\foo @a)",
           "@a * @b", "@a / @b", "@a_b", "@a^2", R"(\operatorname{f})", R"(\operatorname{}(@a))",
           R"(\operatorname{f}_{axis}(@a))", "[@a]", "@a; @b", R"(\odot @a)", R"(@a \odot)", "1.",
           "@ a", R"(\sqrt @a)", R"(\pie)", R"(@a^{\top})", "ğ", "@a^", "a,b"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_formula(text), ValueError);
  }
}

TEST_CASE("what is wrong with a formula is told with its position") {
  CHECK_THROWS_MATCHES(parse_formula("(@a + @b"), ValueError,
      says("parse_formula: outside the subset: \"(@a + @b\"; expected \")\" at the end"));
  CHECK_THROWS_MATCHES(parse_formula("@a * @b"), ValueError,
      says("parse_formula: outside the subset: \"@a * @b\"; expected nothing more at position 3"));
  CHECK_THROWS_MATCHES(parse_formula(std::string(1001, '(')), ValueError,
      says("parse_formula: too long: 1001 characters; at most 1000"));
  CHECK_THROWS_MATCHES(substitute(parse_formula("@a + @q"), bindings()), ValueError,
      says("substitute: no such name: @q; a formula names inputs, attributes, y and g"));
}

namespace {

/// A random tree over matrices A, B, C and small numbers.
Formula random_tree(std::uint64_t seed, std::uint64_t& counter, int depth) {
  const auto draw = [&](int n) { return static_cast<int>(random_uniform(seed, counter++) * n); };
  if (depth == 0 || draw(6) == 0) {
    const int leaf = draw(5);
    if (leaf < 3) return name_formula(std::string(1, static_cast<char>('A' + leaf)));
    if (leaf == 3) return number_formula(2 + draw(3));
    return formula(Kind::divide, {number_formula(1 + draw(2)), number_formula(3)});
  }
  const auto child = [&] { return random_tree(seed, counter, depth - 1); };
  switch (draw(8)) {
    case 0:
      return formula(Kind::add, {child(), child()});
    case 1:
      return formula(Kind::subtract, {child(), child()});
    case 2:
      return formula(Kind::negate, {child()});
    case 3:
      return formula(Kind::hadamard, {child(), child()});
    case 4:
      return formula(Kind::divide, {child(), child()});
    case 5:
      return formula(Kind::power, {child(), number_formula(2)});
    case 6:
      return formula(Kind::transpose, {formula(Kind::hadamard, {name_formula("A"), child()})});
    default:
      return formula(Kind::product, {child(), child()});
  }
}

}  // namespace

TEST_CASE("a printed formula, read as a person reads it, has the value of the tree") {
  const Shape shape{2, 2};
  Environment names;
  for (const char* name : {"A", "B", "C"})
    names[name] =
        to_array(Tensor::uniform(shape, 0.5, 2, static_cast<std::uint64_t>(name[0]), float64));
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    std::uint64_t counter = 0;
    const Formula tree = random_tree(seed, counter, 4);
    const std::string text = to_text(tree);
    TextReader reader(text);
    const Formula read = reader.sum();
    INFO(text);
    REQUIRE(reader.is_done());
    const Array expected = evaluate(tree, names, shape), actual = evaluate(read, names, shape);
    for (Index i = 0; i < 4; ++i) {
      if (!std::isfinite(expected[i])) continue;
      ++compared;
      REQUIRE(actual[i] == Approx(expected[i]).epsilon(1e-8));
    }
  }
  CHECK(compared > 10000);
}
