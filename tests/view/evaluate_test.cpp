#include <microtape/tape/view/evaluate.hpp>

#include <cmath>

#include <microtape/core/error.hpp>

#include "catch.hpp"

using namespace microtape;
using microtape::testing::says;

namespace {

Environment names() {
  return {
      {"a", {{2, 3}, {1, 2, 3, 4, 5, 6}}},
      {"b", {{3, 2}, {1, 0, 0, 1, 1, 1}}},
      {"r", {{3}, {10, 20, 30}}},
      {"s", {{}, {7}}},
      {"v", {{3}, {1, 3, 3}}},
      {"w", {{2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}},
      {"z", {{2}, {0, 1}}},
  };
}

/// Every name is bound to itself; `at` is the subscript.
std::vector<double> value(std::string_view latex, const Shape& target, const Indices& at = {}) {
  Bindings bindings;
  for (const auto& [name, array] : names()) bindings[name] = {name_formula(name)};
  Formula list = formula(Formula::Kind::list, {});
  for (const Index item : at) list.children.push_back(number_formula(static_cast<double>(item)));
  bindings["at"] = {list};
  bindings["n"] = {number_formula(3)};
  const Array out = evaluate(substitute(parse_formula(latex), bindings), names(), target);
  CHECK(out.shape == target);
  return out.values;
}

using Values = std::vector<double>;

void check_near(const Values& actual, const Values& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    CHECK(actual[i] == Approx(expected[i]).epsilon(1e-14).margin(1e-15));
}

}  // namespace

TEST_CASE("a space is the matrix product, and scaling beside a number") {
  CHECK(value("@a @b", {2, 2}) == Values{4, 5, 10, 11});
  CHECK(value(R"(@b @a)", {3, 3}) == Values{1, 2, 3, 4, 5, 6, 5, 7, 9});
  CHECK(value(R"(@a @a^\top)", {2, 2}) == Values{14, 32, 32, 77});
  CHECK(value("2 @a", {2, 3}) == Values{2, 4, 6, 8, 10, 12});
  CHECK(value(R"(\frac{1}{2} @n @a @b)", {2, 2}) == Values{6, 7.5, 15, 16.5});
  CHECK(value(R"(@w @w^\top)", {2, 2, 2}) == Values{5, 11, 11, 25, 61, 83, 83, 113});
  CHECK_THROWS_MATCHES(value("@a @a", {2, 2}), ShapeError,
      says("evaluate: no matrix product: [2, 3] times [2, 3]; a [.., m, k] needs b [.., k, n]"));
  // A value of rank 0 is no number of the formula.
  CHECK_THROWS_AS(value("@s @a", {2, 3}), ShapeError);
}

TEST_CASE("elementwise arithmetic broadcasts") {
  CHECK(value(R"(@a \odot @r)", {2, 3}) == Values{10, 40, 90, 40, 100, 180});
  CHECK(value("@a - @s + 1", {2, 3}) == Values{-5, -4, -3, -2, -1, 0});
  CHECK(value(R"(\frac{@r}{@a})", {2, 3}) == Values{10, 10, 10, 2.5, 4, 5});
  CHECK(value("-@v^{@n - 1}", {3}) == Values{-1, -9, -9});
  CHECK(value("[@v > 1]", {3}) == Values{0, 1, 1});
  CHECK(value("[@v = 1]", {3}) == Values{1, 0, 0});
  check_near(value(R"(\sqrt{@v} \pi)", {3}), {M_PI, M_PI * std::sqrt(3.), M_PI * std::sqrt(3.)});
}

TEST_CASE("functions of one number have the values that tables give") {
  check_near(value(R"(\operatorname{exp}(@z))", {2}), {1, 2.718281828459045});
  check_near(value(R"(\operatorname{ln}(@v))", {3}), {0, 1.0986122886681098, 1.0986122886681098});
  check_near(value(R"(\operatorname{sin}(@z))", {2}), {0, 0.8414709848078965});
  check_near(value(R"(\operatorname{cos}(@z))", {2}), {1, 0.5403023058681398});
  check_near(value(R"(\operatorname{tanh}(@z))", {2}), {0, 0.7615941559557649});
  check_near(value(R"(\operatorname{sigmoid}(@z))", {2}), {0.5, 0.7310585786300049});
  check_near(value(R"(\operatorname{erf}(@z))", {2}), {0, 0.8427007929497149});
  check_near(value(R"(\operatorname{Phi}(@z))", {2}), {0.5, 0.8413447460685429});
  check_near(value(R"(\operatorname{phi}(@z))", {2}), {0.3989422804014327, 0.24197072451914337});
  CHECK(value(R"(\operatorname{abs}(@z - 1))", {2}) == Values{1, 0});
  CHECK(value(R"(\operatorname{sign}(@z - 1))", {2}) == Values{-1, 0});
  CHECK(value(R"(\operatorname{relu}(@z - 0.5))", {2}) == Values{0, 0.5});
}

TEST_CASE("reductions drop their axes, rowsum and rowmean keep them") {
  CHECK(value(R"(\operatorname{sum}_{@at}(@a))", {3}, {0}) == Values{5, 7, 9});
  CHECK(value(R"(\operatorname{sum}(@a))", {}) == Values{21});
  CHECK(value(R"(\operatorname{mean}_{@at}(@a))", {2}, {-1}) == Values{2, 5});
  CHECK(value(R"(\operatorname{max}_{@at}(@w))", {2}, {0, 2}) == Values{6, 8});
  CHECK(value(R"(\operatorname{rowsum}_{@at}(@a))", {2, 1}, {-1}) == Values{6, 15});
  CHECK(value(R"(@a - \operatorname{rowmean}_{@at}(@a))", {2, 3}, {0}) ==
        Values{-1.5, -1.5, -1.5, 1.5, 1.5, 1.5});
  check_near(value(R"(\operatorname{logsumexp}_{@at}(@z))", {}, {0}), {1.3132616875182228});
  CHECK(value(R"(\operatorname{ismax}_{@at}(@v))", {3}, {0}) == Values{0, 0.5, 0.5});
}

TEST_CASE("softmax runs along its axis and sums to 1") {
  const double e = std::exp(1.);
  check_near(value(R"(\operatorname{softmax}_{@at}(@z))", {2}, {-1}), {1 / (1 + e), e / (1 + e)});
  check_near(value(R"(\operatorname{softmax}_{@at}(@a))", {2, 3}, {-2}),
      {1 / (1 + e * e * e), 1 / (1 + e * e * e), 1 / (1 + e * e * e), e * e * e / (1 + e * e * e),
          e * e * e / (1 + e * e * e), e * e * e / (1 + e * e * e)});
  check_near(value(R"(\operatorname{logsoftmax}_{@at}(@z))", {2}, {-1}),
      {-1.3132616875182228, -0.3132616875182228});
}

TEST_CASE("broadcast puts dropped axes back before it repeats") {
  CHECK(value(R"(\operatorname{broadcast}_{@at}(@z))", {2, 3}, {1}) == Values{0, 0, 0, 1, 1, 1});
  CHECK(value(R"(\operatorname{broadcast}_{@at}(@z))", {3, 2}, {0}) == Values{0, 1, 0, 1, 0, 1});
  CHECK(value(R"(\operatorname{broadcast}(@z))", {3, 2}) == Values{0, 1, 0, 1, 0, 1});
  CHECK(value(R"(\operatorname{sumto}(@a))", {3}) == Values{5, 7, 9});
  CHECK(value(R"(\operatorname{sumto}(@a))", {2, 1}) == Values{6, 15});
}

TEST_CASE("functions that move numbers put each in its place") {
  CHECK(value(R"(\operatorname{permute}_{@at}(@w))", {2, 2, 2}, {2, 0, 1}) ==
        Values{1, 3, 5, 7, 2, 4, 6, 8});
  CHECK_THROWS_AS(value(R"(\operatorname{permute}_{@at}(@a))", {3, 2}, {1, 1}), ValueError);
  CHECK(value(R"(\operatorname{reshape}(@a))", {6}) == Values{1, 2, 3, 4, 5, 6});
  CHECK(value(R"(\operatorname{slice}_{@at}(@a))", {2, 2}, {1, 1, 3}) == Values{2, 3, 5, 6});
  CHECK(value(R"(\operatorname{unslice}_{@at}(@z))", {4}, {0, 1, 3}) == Values{0, 0, 1, 0});
  CHECK(value(R"(\operatorname{select}_{@at}(@a))", {2}, {1, 2}) == Values{3, 6});
  CHECK(value(R"(\operatorname{concat}_{@at}(@r, @z))", {5}, {0}) == Values{10, 20, 30, 0, 1});
  CHECK(
      value(R"(\operatorname{stack}_{@at}(@r, @v))", {3, 2}, {-1}) == Values{10, 1, 20, 3, 30, 3});
  CHECK(value(R"(\operatorname{where}([@a > 3], @a, 0))", {2, 3}) == Values{0, 0, 0, 4, 5, 6});
}

TEST_CASE("heads and merge move between rows of all features and a matrix for each head") {
  const Array x{{1, 2, 6}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  const Environment one{{"x", x}};
  Formula heads = formula(Formula::Kind::call, {name_formula("x")}), merge = heads;
  heads.text = "heads";
  merge.text = "merge";
  const Array apart = evaluate(heads, one, {1, 3, 2, 2});
  CHECK(apart.values == Values{1, 2, 7, 8, 3, 4, 9, 10, 5, 6, 11, 12});
  CHECK(evaluate(merge, {{"x", apart}}, x.shape).values == x.values);
  CHECK_THROWS_AS(evaluate(heads, one, {6, 2}), ValueError);
  CHECK_THROWS_AS(evaluate(merge, {{"x", {{6, 2}, x.values}}}, {12}), ValueError);
}

TEST_CASE("a call that has a shape leads there, wherever it stands") {
  Formula wide =
      substitute(parse_formula(R"(\operatorname{broadcast}(@z))"), {{"z", {name_formula("z")}}});
  const Formula total = [&] {
    Formula out = formula(Formula::Kind::call, {wide});
    out.text = "sum";
    return out;
  }();
  CHECK_THROWS_AS(evaluate(total, names(), {}), ShapeError);  // z [2] leads nowhere
  wide.shape = Shape{3, 2};
  Formula sum_of_wide = total;
  sum_of_wide.children = {wide};
  CHECK(evaluate(sum_of_wide, names(), {}).values == Values{3});
}

TEST_CASE("a result is summed or repeated to what the formula defines") {
  CHECK(value("@w", {2, 2}) == Values{6, 8, 10, 12});
  CHECK(value("@s", {2}) == Values{7, 7});
  CHECK(value("@a", {3, 2}) == Values{1, 2, 3, 4, 5, 6});
  CHECK_THROWS_AS(value("@a", {4}), ShapeError);
}

TEST_CASE("a formula with parts of unknown value is an error that names them") {
  CHECK_THROWS_MATCHES(value("d @a", {2, 3}), ValueError,
      says("evaluate: unknown value: d; every part of a formula must have a value"));
  CHECK_THROWS_MATCHES(evaluate(name_formula("q"), names(), {}), ValueError,
      says("evaluate: unknown name: q; every part of a formula must have a value"));
  CHECK_THROWS_MATCHES(evaluate(parse_formula("@a"), names(), {}), ValueError,
      says("evaluate: unknown value: @a; every part of a formula must have a value"));
  CHECK_THROWS_AS(value(R"(\operatorname{sinc}(@a))", {2, 3}), ValueError);
  CHECK_THROWS_AS(value(R"(\operatorname{exp}(@a, @b))", {2, 3}), ValueError);
  // It said that clip had the wrong number of arguments, as if another number were right.
  CHECK_THROWS_MATCHES(value(R"(\operatorname{clip}(@a, 0, 6))", {2, 3}), ValueError,
      says("evaluate: unknown function: clip of 3 arguments; formulas may call exp, ln, sin, cos, "
           "tanh, sigmoid, erf, abs, sign, relu, Phi, phi, detach, sum, mean, max, logsumexp, "
           "rowsum, rowmean, softmax, logsoftmax, ismax, each of one, where of three, and what ops "
           "of shapes and indices record"));
}

TEST_CASE("a symbol with a number has that number's value") {
  Formula c = parse_formula(R"(\frac{1}{\sqrt{d}})");
  c.value = 0.25;
  const Array out = evaluate(formula(Formula::Kind::product, {c, name_formula("z")}), names(), {2});
  CHECK(out.values == Values{0, 0.25});
}
