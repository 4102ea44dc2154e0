#include <microtape/core/format.hpp>
#include <microtape/tape/diagnose_evidence.hpp>

#include "diagnose_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

// What a Diagnosis says beside the cause.

namespace {

using Lines = std::vector<std::string>;

/// An op whose rule adds something to the adjoint: y = 2 x, or another right one.
Diagnosis diagnose_error(const Tensor& error) {
  return diagnose(
      [&](Vars in) {
        const Var x = in[0];
        return record({"double", "2 @x"}, [&] { return (2 * Var(x.value())).value(); },
            {{"x", x, "2 @g", [e = Var(error)](const Var& g) { return 2 * g + e; }}});
      },
      [](Vars in) { return 2 * in[0]; }, {{Tensor::randn(error.shape(), 1, float64)}});
}

std::string pattern(const Nested& error) { return diagnose_error(f64(error)).pattern; }

Var right_softmax(Vars in) { return softmax(in[0]); }

Lines broken(Rule rule, const Shape& shape) {
  return diagnose_softmax(rule, {{Tensor::randn(shape, 3, float64)}}).broken;
}

}  // namespace

TEST_CASE("the pattern of wrong elements has a name") {
  CHECK(pattern({{1, 2, 3}, {4, 5, 6}}) == "all elements");
  CHECK(pattern({{0, 0, 0}, {0, 1, 0}}) == "only element [1, 1]");
  CHECK(pattern({{0, 0, 0}, {1, 2, 3}}) == "row 1");
  CHECK(pattern({{0, 0, 1}, {0, 0, 3}}) == "column 2");
  CHECK(pattern({{1, 0, 0}, {0, 1, 0}, {0, 0, 4}}) == "the diagonal");
  CHECK(pattern({{0, 1, 1}, {2, 0, 1}, {3, 1, 0}}) == "all but the diagonal");
  CHECK(pattern({{0, 1, 1}, {0, 0, 1}, {0, 0, 0}}) == "the upper triangle");
  CHECK(pattern({{0, 0, 0}, {5, 0, 0}, {1, 1, 0}}) == "the lower triangle");
  CHECK(pattern({{1, 1, 1}, {0, 2, 1}, {0, 0, 3}}) == "the upper triangle with the diagonal");
  CHECK(pattern({{1, 0, 0}, {5, 2, 0}, {1, 1, 3}}) == "the lower triangle with the diagonal");
  CHECK(pattern({{1, 0, 0}, {0, 0, 2}, {0, 0, 0}}) == "2 of 9 elements");
  CHECK(pattern({0, 1, 0}) == "only element [1]");
  CHECK(pattern({0, 1, 1}) == "2 of 3 elements");
  CHECK(pattern({{{0, 0}, {0, 0}}, {{1, 1}, {1, 1}}}) == "all at 1 of axis 0");
  CHECK(pattern({{{0, 1}, {1, 0}}, {{0, 1}, {1, 0}}}) == "all but the diagonal");
  CHECK(diagnose_error(f64(3)).pattern == "all elements");
  CHECK(pattern({kNan, 0, 0}) == "only element [0]");
}

TEST_CASE("a sum that must be 0 and is not is told with its number") {
  const Rule no_sum = [](const Var&, const Var& g, const Var& y) { return g * y; };
  const Rule zero = [](const Var&, const Var& g, const Var&) { return 0 * g; };
  // y is 1/2 throughout, so that g * y sums to half of the sum of g.
  const Array g = to_array(diagnosis::cotangent({2, 2}, 1));
  const Diagnosis found = diagnose_softmax(no_sum, {{f64({{1, 1}, {3, 3}})}});
  CHECK(found.broken ==
        Lines{cat("each row of dx must sum to 0; row 0 sums to ", number((g[0] + g[1]) / 2, 4))});
  CHECK(broken(no_sum, {3}) == Lines{"dx must sum to 0; it sums to -0.9949"});
  CHECK(broken(no_sum, {2, 3, 2}) ==
        Lines{"each row of dx must sum to 0; that at [0, 0, ..] sums to -1.005"});
  CHECK(broken(zero, {2, 3}) == Lines{});
  CHECK(broken(no_sum, {3, 1}) == Lines{"dx must be 0 at [0, 0]; it is 1.39"});
}

TEST_CASE("an element that must be 0 and is not is told") {
  const UnaryOp op = [](const Var& x) { return relu(x); };
  const Rule half = [](const Var&, const Var& g, const Var&) { return 0.5 * g; };
  const Rule times_y = [](const Var&, const Var& g, const Var& y) { return g * y; };
  const Samples samples{{f64({1, -2, 3, -4})}};
  CHECK(diagnose_rule(op, half, samples).broken == Lines{"dx must be 0 at [1]; it is -0.586"});
  CHECK(diagnose_rule(op, times_y, samples).broken == Lines{});
}

TEST_CASE("the value is judged before its rules") {
  const auto written = [](Vars in) { return softmax(in[0] * 2); };
  const Diagnosis found = diagnose(written, right_softmax, {{f64({{0, 0}, {0, 1}})}});
  CHECK_FALSE(found.right);
  CHECK(found.input == "");
  CHECK(found.index == Indices{1, 0});
  CHECK(found.str() ==
        "y is wrong at [1, 0] in sample 0: 0.119203, right is 0.268941\nthe value itself is wrong, "
        "before any rule runs\nwrong: row 1");
}

TEST_CASE("an input that was not recorded gets no adjoint") {
  const auto plain = [](Vars in) { return Var(softmax(Var(in[0].value())).value()); };
  CHECK(diagnose(plain, right_softmax, {{f64({{0, 1}})}}).str() ==
        "dx is wrong at [0, 0] in sample 0: 0, right is 0.50377\nx gets no adjoint at all\nlook at "
        "the inputs in record(): x needs a rule there\nwrong: all elements");
  const auto half = [](Vars in) { return in[0] * detach(in[1]); };
  const auto product = [](Vars in) { return in[0] * in[1]; };
  const Diagnosis found = diagnose(half, product, {{f64({1, 2}), f64({3, 4})}});
  CHECK(found.input == "b");
  CHECK(found.cause == "b gets no adjoint at all");
}

TEST_CASE("a diagnosis has at most six lines") {
  const Rule no_sum = [](const Var&, const Var& g, const Var& y) { return g * y; };
  const Diagnosis found = diagnose_softmax(no_sum, {{f64({{1, 1}, {3, 3}})}});
  CHECK(found.str() ==
        "dx is wrong at [1, 1] in sample 0: 0.628813, right is 0.501257\nthe term y * rowsum(g * "
        "y) is missing\nlook at the terms of the derivative: one for each way from the input to "
        "the result\neach row of dx must sum to 0; row 0 sums to 0.1091\nwrong: all elements");
  CHECK(diagnose(right_softmax, right_softmax, {{f64({1, 2})}}).str() ==
        "right: every adjoint agrees on every sample");
  CHECK(diagnose_error(f64({0, 1})).str() ==
        "dx is wrong at [1] in sample 0: -1.344, right is -2.344\nno known mistake gives these "
        "numbers\nwrong: only element [1]");
  CHECK(diagnose_error(f64(1)).str() ==
        "dx is wrong in sample 0: 3.78052, right is 2.78052\nno known mistake gives these "
        "numbers\nwrong: all elements");
}

TEST_CASE("inputs are called as the right op calls them, as told, or x0, x1") {
  const auto wrong = [](Vars in) { return -(in[0] * detach(in[1])) + 2 * in[0] * in[1]; };
  const auto right = [](Vars in) { return in[0] * in[1]; };
  const auto composed = [](Vars in) { return in[0] * in[1] + 0; };
  const Samples samples{{f64({1, 2}), f64({3, 4})}};
  CHECK(diagnose(wrong, right, samples).input == "b");
  CHECK(diagnose(wrong, composed, samples).input == "x1");
  CHECK(diagnose(wrong, right, samples, {.names = {"u"}}).input == "x1");
  CHECK(diagnose(wrong, right, samples, {.names = {"u", "v"}}).input == "v");
  // The names of the result and of its adjoint give way.
  const auto swapped = [](Vars in) {
    const Var a = in[0], b = in[1];
    return record({"mul", R"(@a \odot @b)"}, [&] { return (Var(a.value()) * b.value()).value(); },
        {{"a", a, "@g", [a](const Var& g) { return g * a; }},
            {"b", b, "@g", [a](const Var& g) { return g * a; }}});
  };
  CHECK(diagnose(swapped, right, samples, {.names = {"y", "g"}}).cause ==
        "y stands where g belongs: g_ * y instead of g_ * g");
}

TEST_CASE("rounding is no mistake, and a small mistake is one") {
  const auto off_by = [](double error) { return diagnose_error(f64({{0, 0}, {error, 0}})).right; };
  CHECK(off_by(1e-12));
  CHECK_FALSE(off_by(1e-8));
  // A saturated row: all adjoints are small differences of large numbers.
  const Rule by_parts = [](const Var&, const Var& g, const Var& y) {
    return g * y - y * rowsum(g * y);
  };
  CHECK(diagnose_softmax(by_parts, {{f64({{40, 0, 1}, {-30, 30, 0}})}}).right);
}

TEST_CASE("a number that is not finite is right where the right one is the same") {
  // The distance of two infinities is NaN, and was taken for a mistake.
  const auto written = [](Var (*rule)(const Var& x, const Var& g)) {
    return [rule](Vars in) {
      const Var x = in[0];
      return record({"sqrt", R"(\sqrt{@x})"}, [&] { return sqrt(Var(x.value())).value(); },
          {{"x", x, "@g", [x, rule](const Var& g) { return rule(x, g); }}});
    };
  };
  const auto root = [](Vars in) { return sqrt(in[0]); };
  const auto right = written([](const Var& x, const Var& g) { return g / (2 * sqrt(x)); });
  const auto twice = written([](const Var& x, const Var& g) { return g / sqrt(x); });
  const auto negative = written([](const Var& x, const Var& g) { return g / (-2 * sqrt(x)); });
  const Samples samples{{f64({4, 0, -1, kInfinity, 9})}};
  CHECK(diagnose(right, root, samples).right);
  const Diagnosis found = diagnose(twice, root, samples);
  CHECK(found.input == "x");
  CHECK(found.cause == "the factor 2 is missing: y instead of 2 y");
  CHECK(found.pattern == "2 of 5 elements");
  CHECK(diagnose(negative, root, {{f64({4, 0})}}).index == Indices{1});
  CHECK(diagnose(negative, root, {{f64({4, 0})}}).cause == "the sign of dx is wrong");
}

TEST_CASE("diagnose refuses samples that it cannot use") {
  const auto f = [](Vars in) { return softmax(in[0]); };
  const auto g = [](Vars in) { return sum(in[0]); };
  CHECK_THROWS_MATCHES(
      diagnose(f, f, Samples{}), ValueError, says("diagnose: no samples; it needs at least one"));
  CHECK_THROWS_MATCHES(
      diagnose(f, f, Samples{{}}), ValueError, says("diagnose: no inputs; it needs at least one"));
  CHECK_THROWS_MATCHES(diagnose(f, f, Samples{{f64({1})}}, {.names = {"a", "b"}}), ValueError,
      says("diagnose: too many names: 2 for 1 inputs; an input has one at most"));
  CHECK_THROWS_MATCHES(diagnose(f, f, Samples{{f64({1})}, {f64({1}), f64({2})}}), ValueError,
      says("diagnose: samples differ: 1 inputs and 2; each must have as many"));
  CHECK_THROWS_MATCHES(diagnose(f, f, Samples{{Tensor::of({1, 2})}}), DTypeError,
      says("diagnose: needs float64: input 0 is float32; rounding looks like a mistake otherwise: "
           "convert it with to(float64)"));
  CHECK_THROWS_MATCHES(diagnose(g, f, Samples{{f64({1, 2})}}), ShapeError,
      says("diagnose: the results have two shapes: written [], right [2]; both must compute the "
           "same"));
}

TEST_CASE("what a rule throws passes through") {
  const Rule throws = [](const Var&, const Var& g, const Var& y) { return matmul(g, y); };
  CHECK_THROWS_AS(diagnose_softmax(throws, {{f64({{1, 2, 3}, {3, 4, 5}})}}), ShapeError);
}
