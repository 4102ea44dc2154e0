// The shape of a formula, told from its names, is that of its value.

#include <microtape/tape/view/formula_shape.hpp>

#include <microtape/tape/view/evaluate.hpp>

#include "catch.hpp"

using namespace microtape;

namespace {

Formula name(const std::string& text, const Shape& shape) {
  Formula out = name_formula(text);
  out.shape = shape;
  return out;
}

Formula bound(std::string_view latex, const Indices& at) {
  Bindings bindings;
  bindings["a"] = {name("a", {2, 3, 4})};
  bindings["b"] = {name("b", {4, 5})};
  bindings["r"] = {name("r", {4})};
  bindings["s"] = {name("s", {})};
  bindings["i"] = {name("i", {2, 3})};
  bindings["u"] = {name_formula("u")};
  bindings["at"] = {list_formula(at)};
  return substitute(parse_formula(latex), bindings);
}

std::string shape(std::string_view latex, const Indices& at = {}) {
  const auto found = shape_of(bound(latex, at));
  return found ? found->str() : "unknown";
}

}  // namespace

TEST_CASE("arithmetic broadcasts, products multiply matrices, numbers scale") {
  CHECK(shape("@a + @r") == "[2, 3, 4]");
  CHECK(shape(R"(-\frac{@s}{@a})") == "[2, 3, 4]");
  CHECK(shape("@a @b") == "[2, 3, 5]");
  CHECK(shape(R"(@b^\top)") == "[5, 4]");
  CHECK(shape(R"(@b^\top @a^\top)") == "[2, 5, 3]");
  CHECK(shape("2 @a") == "[2, 3, 4]");
  CHECK(shape("2 d") == "[]");
  CHECK(shape(R"(\sqrt{@a^{2}} \odot [@a > @r])") == "[2, 3, 4]");
}

TEST_CASE("calls have the shapes that they compute") {
  CHECK(shape(R"(\operatorname{exp}(@a))") == "[2, 3, 4]");
  CHECK(shape(R"(\operatorname{softmax}_{@at}(@a))", {1}) == "[2, 3, 4]");
  CHECK(shape(R"(\operatorname{sum}_{@at}(@a))", {0, 2}) == "[3]");
  CHECK(shape(R"(\operatorname{sum}(@a))") == "[]");
  CHECK(shape(R"(\operatorname{rowsum}_{@at}(@a))", {-1}) == "[2, 3, 1]");
  CHECK(shape(R"(\operatorname{argmax}_{@at}(@a))", {1}) == "[2, 4]");
  CHECK(shape(R"(\operatorname{slice}_{@at}(@a))", {1, 1, 3}) == "[2, 2, 4]");
  CHECK(shape(R"(\operatorname{select}_{@at}(@a))", {1, 2}) == "[2, 4]");
  CHECK(shape(R"(\operatorname{permute}_{@at}(@a))", {2, 0, 1}) == "[4, 2, 3]");
  CHECK(shape(R"(\operatorname{onehot}_{@at}(@i))", {7}) == "[2, 3, 7]");
  CHECK(shape(R"(\operatorname{rows}(@b, @i))") == "[2, 3, 5]");
  CHECK(shape(R"(\operatorname{gather}_{@at}(@b, @i))", {-1}) == "[2, 3]");
}

TEST_CASE("what is unknown, or does not fit, has no shape") {
  CHECK(shape("@u + @a") == "unknown");
  CHECK(shape(R"(\operatorname{f}(@a))") == "unknown");
  CHECK(shape(R"(\operatorname{broadcast}(@r))") == "unknown");
  CHECK(shape("@a + @b") == "unknown");
  CHECK(shape("@b @a") == "unknown");
  CHECK(shape("@r @b") == "unknown");
  CHECK(shape(R"(@r^\top)") == "unknown");
}

TEST_CASE("a call that depends on where it leads gets its target, others do not") {
  const Formula f =
      with_target(bound(R"(\operatorname{exp}(\operatorname{broadcast}(@r)))", {}), {2, 4});
  CHECK_FALSE(f.shape);
  REQUIRE(f.children[0].shape);
  CHECK(*f.children[0].shape == Shape{2, 4});
  CHECK(*shape_of(f) == Shape{2, 4});
}
