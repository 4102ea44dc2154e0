#include <microtape/tape/gradcheck.hpp>

#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

using Vars = std::span<const Var>;

/// The op of a planted mistake: its value is f(x), its rule whatever is given.
template <class F, class Rule>
Var planted(const Var& x, F f, Rule rule) {
  return record({"planted", "@x"}, [&] { return f(Var(x.value())).value(); },
      {{"x", x, "@g", std::move(rule)}});
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const Tensor kX = f64({{0.3, -1.2, 0.7}, {1.1, 0.4, -0.6}});

}  // namespace

TEST_CASE("gradcheck passes what is right and counts every element of both orders") {
  const GradcheckReport report =
      gradcheck([](Vars x) { return x[0] * exp(x[1]); }, {kX, f64({0.1, 0.2, 0.3})});
  CHECK(report.passed());
  CHECK(report.checked == (6 + 3) + (6 + 3 + 6));  // at order 2 the seed is an input too
  CHECK(report.wrong == 0);
  CHECK_FALSE(report.cut);
  CHECK(report.str() == "gradcheck: all 24 derivatives agree with differences");
  const GradcheckReport first = gradcheck([](Vars x) { return exp(x[0]); }, {kX}, {.order = 1});
  CHECK(first.checked == 6);
}

TEST_CASE("gradcheck catches a wrong sign") {
  const auto f = [](Vars x) {
    return planted(
        x[0], [](const Var& v) { return cos(v); }, [v = x[0]](const Var& g) { return g * sin(v); });
  };
  const GradcheckReport report = gradcheck(f, {kX});
  CHECK_FALSE(report.passed());
  CHECK_FALSE(report.cut);  // wrong at order 1 already
}

TEST_CASE("gradcheck catches a sum that is missing") {
  // The adjoint of a row that was repeated is the sum over the rows, not the first of them.
  const auto f = [](Vars x) {
    return planted(
        x[0], [](const Var& v) { return broadcast_to(v, {2, 3}); },
        [](const Var& g) { return reshape(slice(g, 0, 0, 1), {3}); });
  };
  CHECK_FALSE(gradcheck(f, {f64({1, 2, 3})}).passed());
}

TEST_CASE("gradcheck catches a product with the wrong side transposed") {
  const Tensor w = f64({{1, 2}, {3, 5}});
  const auto f = [&](Vars x) {
    return planted(
        x[0], [&](const Var& v) { return matmul(v, w); },
        [w = Var(w)](const Var& g) { return matmul(g, w); });
  };
  CHECK_FALSE(gradcheck(f, {f64({{0.5, -1}, {2, 0.25}})}).passed());
}

TEST_CASE("gradcheck is not fooled where a constant adjoint is") {
  // The rows of a softmax sum to 1, so under an adjoint of ones its derivative is 0, and a rule
  // that returns 0 looks right.
  const auto f = [](Vars x) {
    return planted(
        x[0], [](const Var& v) { return softmax(v); }, [](const Var& g) { return 0 * g; });
  };
  MicroTape tape;
  const Var x = tape.leaf(kX);
  CHECK(max(abs(backward(sum(softmax(x)))[x])).item() < 1e-15);
  const GradcheckReport report = gradcheck(f, {kX});
  CHECK(report.wrong >= 6);
}

TEST_CASE("gradcheck catches a rule that forgets one of two uses") {
  const auto f = [](Vars x) {
    const Var y = x[0];
    return record({"planted", R"(@a \odot @b)"}, [&] { return kernels::mul(y.value(), y.value()); },
        {{"a", y, R"(@g \odot @b)", [y](const Var& g) { return g * y; }}, {"b", y}});
  };
  CHECK_FALSE(gradcheck(f, {kX}).passed());
}

TEST_CASE("a failure names the input, the element, both numbers, the step and what is allowed") {
  const auto f = [](Vars x) {
    const Var rule_of_b = x[1];
    // Right but for element [1, 2] of b, which gets 1 too much.
    return x[0] * planted(
                      x[1], [](const Var& v) { return v; },
                      [](const Var& g) { return g + Var(f64({{0, 0, 0}, {0, 0, 1}})); });
  };
  const Tensor a = Tensor::full({2, 3}, 1, float64);
  const GradcheckReport report = gradcheck(f, {a, kX}, {.order = 1, .names = {"a", "b"}});
  CHECK(report.wrong == 1);
  REQUIRE(report.failures.size() == 1);
  const GradcheckFailure& failure = report.failures[0];
  CHECK(failure.order == 1);
  CHECK(failure.input == "b");
  CHECK(failure.index == Indices{1, 2});
  CHECK(std::abs(failure.adjoint - failure.difference - 1) < 1e-9);
  CHECK(failure.step == 1e-3);
  CHECK(failure.allowed > 0);
  CHECK(failure.allowed < 1e-7);
  const std::string text = report.str();
  CHECK(contains(text, "gradcheck: 1 of 12 derivatives are wrong\n"));
  CHECK(contains(text, "order 1, input b, element [1, 2]: adjoint "));
  CHECK(contains(text, ", difference "));
  CHECK(contains(text, "(step 0.001, allowed "));
}

TEST_CASE("a note names the mistake if the recorded formula is right and the code is not") {
  const auto f = [](Vars x) {
    const Var v = x[0];
    const Var p = record({"own_softmax", R"(\operatorname{softmax}_{@axis}(@x))", {{"axis", -1}}},
        [&] { return softmax(Var(v.value())).value(); },
        {{"x", v, R"(@y \odot (@g - \operatorname{rowsum}_{@axis}(@g \odot @y)))",
            [](const Var& g, const Var& y) { return g * y; }}});
    return p * x[1];
  };
  const GradcheckReport report =
      gradcheck(f, {kX, f64({{2, 1, -1}, {0.5, 3, 1}})}, {.names = {"x", "v"}});
  CHECK(report.notes ==
        std::vector<std::string>{"the recorded formula is right, the code does not follow it: the "
                                 "term softmax(x) * rowsum(g * v * softmax(x)) is missing",
            "each row of dx must sum to 0; row 0 sums to 1.339"});
}

TEST_CASE("a note tells what the numbers say if there is no right formula") {
  const auto notes = [](auto f, std::initializer_list<Tensor> x) {
    return gradcheck(f, x, {.order = 1}).notes;
  };
  using Lines = std::vector<std::string>;
  const auto of_softmax = [](auto rule) {
    return [rule](Vars x) { return planted(x[0], [](const Var& v) { return softmax(v); }, rule); };
  };
  CHECK(
      notes(of_softmax([](const Var& g) { return 0 * g; }), {kX}) == Lines{"dx0 is 0 everywhere"});
  CHECK(notes(of_softmax([](const Var& g, const Var& y) { return g * y * (1 - y); }), {kX}) ==
        Lines{"only the diagonal of the Jacobian is there, as if each result depended only on the "
              "element of x0 in its own place",
            "each row of dx0 must sum to 0; row 0 sums to 0.05004"});
  const auto wrong_sign = [](Vars x) {
    return planted(
        x[0], [](const Var& v) { return cos(v); }, [v = x[0]](const Var& g) { return g * sin(v); });
  };
  CHECK(notes(wrong_sign, {kX}) == Lines{"the sign of dx0 is wrong"});
  const auto one_of_two = [](Vars x) {
    const Var y = x[0];
    return record({"planted", R"(@a \odot @b)"}, [&] { return kernels::mul(y.value(), y.value()); },
        {{"a", y, R"(@g \odot @b)", [y](const Var& g) { return g * y; }}, {"b", y}});
  };
  CHECK(notes(one_of_two, {kX}) ==
        Lines{"the recorded formula says the same as the code: dx0 is half of the right one"});
  const auto hidden = [](Vars x) { return detach(x[0] * x[0]); };
  CHECK(notes(hidden, {kX}) == Lines{"x0 gets no adjoint at all"});
  const auto some = [](Vars x) {
    return planted(x[0], [](const Var& v) { return v * v; }, [](const Var& g) { return g * g; });
  };
  CHECK(notes(some, {kX}) == Lines{});
  CHECK(notes([](Vars x) { return exp(x[0]); }, {kX}) == Lines{});
  const auto unreadable = [](Vars x) {
    const Var v = x[0];
    return 1 + record({"reshape", R"(\nothing{)"}, [&] { return (2 * Var(v.value())).value(); },
                   {{"x", v, "@nobody", [](const Var& g) { return -2 * g; }}});
  };
  CHECK(notes(unreadable, {kX}) == Lines{"the sign of dx0 is wrong"});
}

// Bug: it threw that the formula of the constant, "", cannot be read.
TEST_CASE("a note is found beside a plain Tensor and a formula that cannot be read") {
  const auto f = [](Vars x) {
    const Var v = x[0];
    const Var odd = record({"odd", R"(\odd @x)"}, [&] { return v.value(); },
        {{"x", v, "@g", [](const Var& g) { return g; }}});
    return planted(
        odd * f64({2, 1, -1}), [](const Var& w) { return -w; }, [](const Var& g) { return g; });
  };
  CHECK(gradcheck(f, {kX}, {.order = 1}).notes ==
        std::vector<std::string>{
            "the recorded formula says the same as the code: the sign of dx0 is wrong"});
}

TEST_CASE("names that are not given are x0, x1 and so on") {
  const auto wrong = [](const Var& x) {
    return planted(x, [](const Var& v) { return v; }, [](const Var& g) { return 2 * g; });
  };
  const GradcheckReport report = gradcheck([&](Vars x) { return wrong(x[0]) + wrong(x[1]); },
      {f64({1, 2}), f64({3, 4})}, {.names = {"a"}});
  REQUIRE(report.failures.size() >= 2);
  CHECK(report.failures[0].input == "a");
  CHECK(report.failures[1].input == "x1");
}

TEST_CASE("a rule that computes with Tensors is right at order 1 and reported as cut at order 2") {
  const auto f = [](Vars x) {
    const Tensor frozen = x[0].value();
    return planted(
        x[0], [](const Var& v) { return v * v; },
        [frozen](const Var& g) { return Var(kernels::scale(kernels::mul(g.value(), frozen), 2)); });
  };
  CHECK(gradcheck(f, {kX}, {.order = 1}).passed());
  const GradcheckReport report = gradcheck(f, {kX});
  CHECK_FALSE(report.passed());
  CHECK(report.cut);
  CHECK(contains(report.str(), "use Vars, not Tensors"));
  for (const GradcheckFailure& failure : report.failures) CHECK(failure.order == 2);
}

TEST_CASE("a rule that freezes only its g is caught by the seed as an input") {
  const auto f = [](Vars x) {
    return planted(
        x[0], [](const Var& v) { return v * v; },
        [v = x[0]](const Var& g) { return 2 * Var(g.value()) * v; });
  };
  const GradcheckReport report = gradcheck(f, {kX});
  REQUIRE(report.failures.size() == 1);
  CHECK(report.failures[0].input == "seed");
  CHECK(report.cut);
}

TEST_CASE("NaN is wrong, on either side or on both") {
  const auto nan_rule = [](Vars x) {
    return planted(x[0], [](const Var& v) { return v; }, [](const Var& g) { return g * kNan; });
  };
  const GradcheckReport report = gradcheck(nan_rule, {f64({1, 2})}, {.order = 1});
  CHECK(report.wrong == 2);
  CHECK(contains(report.str(), "adjoint nan"));
  CHECK_FALSE(gradcheck([](Vars x) { return log(x[0]); }, {f64({-1})}, {.order = 1}).passed());
}

TEST_CASE("a kink is wrong where the difference quotient steps over it") {
  CHECK_FALSE(gradcheck([](Vars x) { return relu(x[0]); }, {f64({0})}).passed());
  CHECK(gradcheck([](Vars x) { return relu(x[0]); }, {f64({0.1})}).passed());
}

TEST_CASE("a result that depends on no input has derivative 0 at both orders") {
  // Bug: the pullback of a constant was swept, and refused.
  CHECK(gradcheck([](Vars x) { return sign(x[0]); }, {kX}).passed());
  CHECK(gradcheck([](Vars) { return Var(f64({1, 2})); }, {kX}).passed());
  CHECK(gradcheck([](Vars x) { return exp(x[0]); }, {kX, f64({5})}).passed());  // one is not used
  const auto hidden = [](Vars x) { return detach(x[0] * x[0]); };
  CHECK(gradcheck(hidden, {kX}).wrong >= 6);
}

TEST_CASE("gradcheck takes inputs of any shape, empty and strided ones too") {
  CHECK(gradcheck([](Vars x) { return exp(x[0]); }, {f64(0.5)}).passed());
  CHECK(gradcheck([](Vars x) { return exp(x[0]); }, {kX.transpose()}).passed());
  const GradcheckReport none =
      gradcheck([](Vars x) { return exp(x[0]); }, {Tensor::zeros({0, 2}, float64)});
  CHECK(none.passed());
  CHECK(none.checked == 0);
}

TEST_CASE("gradcheck refuses inputs that are not float64, other orders and no inputs") {
  const auto f = [](Vars x) { return exp(x[0]); };
  CHECK_THROWS_MATCHES(gradcheck(f, {Tensor::of({1, 2})}), DTypeError,
      says("gradcheck: needs float64: x0 is float32; differences drown in rounding otherwise: "
           "convert it "
           "with to(float64)"));
  CHECK_THROWS_MATCHES(
      gradcheck(f, {kX}, {.order = 3}), ValueError, says("gradcheck: no such order: 3; 1 or 2"));
  CHECK_THROWS_MATCHES(gradcheck(f, std::span<const Tensor>()), ValueError,
      says("gradcheck: no inputs; it needs at least one"));
}
