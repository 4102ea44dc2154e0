#include <microtape/core/kernels/elementwise.hpp>

#include "diagnose_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

// Nothing of diagnose() knows an op by name: these are others, each with a rule of its own.

namespace {

struct OpCase {
  const char* what;
  UnaryOp op;
  Rule rule;               ///< in place of the op's own
  const char* cause = "";  ///< none
};

Var row_mean(const Var& x) { return mean(x, -1, KeepAxes::yes); }
/// Of the result's shape without the last axis, repeated along it.
Var spread(const Var& g, const Var& x) {
  Indices kept = g.shape();
  kept.push_back(1);
  return broadcast_to(reshape(g, kept), x.shape());
}

const UnaryOp kLogSoftmax = [](const Var& x) { return log_softmax(x); };
const UnaryOp kStandardize = [](const Var& x) { return standardize(x); };
const UnaryOp kMean = [](const Var& x) { return mean(x, -1); };
const UnaryOp kLogSumExp = [](const Var& x) { return logsumexp(x, -1); };
const UnaryOp kNorm = [](const Var& x) { return norm(x, -1); };
const UnaryOp kSum = [](const Var& x) { return sum(x, -1); };
const UnaryOp kVar = [](const Var& x) { return var(x, -1); };
const UnaryOp kTanh = [](const Var& x) { return tanh(x); };
const UnaryOp kSigmoid = [](const Var& x) { return sigmoid(x); };
const UnaryOp kCube = [](const Var& x) { return pow(x, 3); };
const UnaryOp kReciprocal = [](const Var& x) { return reciprocal(x); };
const UnaryOp kRelu = [](const Var& x) { return relu(x); };
const UnaryOp kLog1p = [](const Var& x) { return log(1 + x * x); };
const UnaryOp kGram = [](const Var& x) { return matmul_nt(x, x); };
const UnaryOp kSquare = [](const Var& x) { return x * x; };

const OpCase kWrong[] = {
    {"log_softmax: y for softmax", kLogSoftmax,
        [](const Var&, const Var& g, const Var& y) { return g - y * rowsum(g); },
        "exp is missing: y instead of exp(y)"},
    {"log_softmax: plus", kLogSoftmax,
        [](const Var&, const Var& g, const Var& y) { return g + exp(y) * rowsum(g); },
        "the term exp(y) * rowsum(g) has the wrong sign: + where - belongs"},
    {"log_softmax: no sum", kLogSoftmax,
        [](const Var&, const Var& g, const Var& y) { return g - exp(y) * g; },
        "only the diagonal of the Jacobian is there: the sum of g over each row is missing: g "
        "stands there"},
    {"log_softmax: a mean", kLogSoftmax,
        [](const Var&, const Var& g, const Var& y) { return g - exp(y) * row_mean(g); },
        "the mean of g over each row stands where the sum belongs"},
    {"log_softmax: all", kLogSoftmax,
        [](const Var&, const Var& g, const Var& y) { return g - exp(y) * sum(g); },
        "the sum of g is over all elements instead of each row"},
    {"log_softmax: exp(x)", kLogSoftmax,
        [](const Var& x, const Var& g, const Var&) { return g - exp(x) * rowsum(g); },
        "x stands where y belongs: exp(x) instead of exp(y)"},
    {"log_softmax: no softmax", kLogSoftmax,
        [](const Var&, const Var& g, const Var&) { return g - rowsum(g); },
        "the factor exp(y) is missing: rowsum(g) instead of exp(y) * rowsum(g)"},
    {"standardize: no mean of g", kStandardize,
        [](const Var& x, const Var& g, const Var& y) {
          return (g - y * row_mean(g * y)) / sqrt(var(x, -1, KeepAxes::yes, 0) + 1e-5);
        },
        "the term rowmean(g) is missing, or comes to 0"},
    {"standardize: no second term", kStandardize,
        [](const Var& x, const Var& g, const Var&) {
          return (g - row_mean(g)) / sqrt(var(x, -1, KeepAxes::yes, 0) + 1e-5);
        },
        "the term y * rowmean(g * y) is missing, or comes to 0"},
    {"standardize: a sum for the second mean", kStandardize,
        [](const Var& x, const Var& g, const Var& y) {
          return (g - row_mean(g) - y * rowsum(g * y)) / sqrt(var(x, -1, KeepAxes::yes, 0) + 1e-5);
        },
        "the sum of g * y over each row stands where the mean belongs"},
    {"standardize: no root", kStandardize,
        [](const Var& x, const Var& g, const Var& y) {
          return (g - row_mean(g) - y * row_mean(g * y)) / (var(x, -1, KeepAxes::yes, 0) + 1e-5);
        },
        "the square root is missing: rowmean((x - rowmean(x))^2) + 1e-05 instead of "
        "sqrt(rowmean((x - rowmean(x))^2) + 1e-05)"},
    {"standardize: no deviation", kStandardize,
        [](const Var&, const Var& g, const Var& y) {
          return g - row_mean(g) - y * row_mean(g * y);
        },
        "the division by sqrt(rowmean((x - rowmean(x))^2) + 1e-05) is missing"},
    {"mean: no 1/n", kMean, [](const Var& x, const Var& g, const Var&) { return spread(g, x); },
        "the factor 1 / 4 is missing: broadcast[axis 1](g) instead of broadcast[axis 1](g) / 4"},
    {"mean: n", kMean,
        [](const Var& x, const Var& g, const Var&) {
          return spread(g, x) * static_cast<double>(x.shape()[-1]);
        },
        "the number 1 / 4 is the wrong way up"},
    {"mean: 1/n of all", kMean,
        [](const Var& x, const Var& g, const Var&) {
          return spread(g, x) / static_cast<double>(x.size());
        },
        "dx is the right one divided by 3, the extent of an axis"},
    {"mean: 1/n twice", kMean,
        [](const Var& x, const Var& g, const Var&) {
          return spread(g, x) / static_cast<double>(x.shape()[-1] * x.shape()[-1]);
        },
        "the number 1 / 4 is applied twice"},
    {"sum: the shape of g", kSum, [](const Var&, const Var& g, const Var&) { return g; },
        "g is not repeated to the shape of the input"},
    {"logsumexp: no e^", kLogSumExp,
        [](const Var& x, const Var& g, const Var& y) { return spread(g, x) * (x - spread(y, x)); },
        "exp is missing: x - broadcast[axis 1](y) instead of exp(x - broadcast[axis 1](y))"},
    {"logsumexp: e^x", kLogSumExp,
        [](const Var& x, const Var& g, const Var&) { return spread(g, x) * exp(x); },
        "the term broadcast[axis 1](y) is missing"},
    {"logsumexp: plus", kLogSumExp,
        [](const Var& x, const Var& g, const Var& y) {
          return spread(g, x) * exp(x + spread(y, x));
        },
        "the term broadcast[axis 1](y) has the wrong sign: + where - belongs"},
    {"logsumexp: only g", kLogSumExp,
        [](const Var& x, const Var& g, const Var&) { return spread(g, x); },
        "the factor exp(x - broadcast[axis 1](y)) is missing: broadcast[axis 1](g) instead of "
        "broadcast[axis 1](g) * exp(x - broadcast[axis 1](y))"},
    {"logsumexp: no g", kLogSumExp,
        [](const Var& x, const Var&, const Var& y) { return exp(x - spread(y, x)); },
        "the factor broadcast[axis 1](g) is missing"},
    {"norm: no division", kNorm,
        [](const Var& x, const Var& g, const Var&) { return spread(g, x) * x; },
        "the division by broadcast[axis 1](y) is missing: x instead of x / broadcast[axis 1](y)"},
    {"norm: only the division", kNorm,
        [](const Var& x, const Var& g, const Var& y) { return spread(g, x) / spread(y, x); },
        "the factor x is missing: 1 / broadcast[axis 1](y) instead of x / broadcast[axis 1](y)"},
    {"var: no 2", kVar,
        [](const Var& x, const Var& g, const Var&) {
          return spread(g, x) * (x - row_mean(x)) / static_cast<double>(x.shape()[-1]);
        },
        "dx is half of the right one"},
    {"var: not centred", kVar,
        [](const Var& x, const Var& g, const Var&) {
          return 2 * spread(g, x) * x / static_cast<double>(x.shape()[-1]);
        },
        "the term 2 broadcast[axis 1](g) * rowmean(x) / 4 is missing"},
    {"tanh: y", kTanh, [](const Var&, const Var& g, const Var& y) { return g * (1 - y); },
        "the exponent 2 is missing: y instead of y^2"},
    {"tanh: x", kTanh, [](const Var& x, const Var& g, const Var&) { return g * (1 - x * x); },
        "x stands where y belongs: x^2 instead of y^2"},
    {"tanh: plus", kTanh, [](const Var&, const Var& g, const Var& y) { return g * (1 + y * y); },
        "the term g * y^2 has the wrong sign: + where - belongs"},
    {"tanh: no 1", kTanh, [](const Var&, const Var& g, const Var& y) { return -g * y * y; },
        "the term g is missing"},
    {"tanh: no g", kTanh, [](const Var&, const Var&, const Var& y) { return 1 - y * y; },
        "the factor g is missing: 1 - y^2 instead of g * (1 - y^2)"},
    {"sigmoid: no y", kSigmoid, [](const Var&, const Var& g, const Var& y) { return g * (1 - y); },
        "the factor y is missing: g instead of g * y"},
    {"sigmoid: x", kSigmoid, [](const Var& x, const Var& g, const Var&) { return g * x * (1 - x); },
        "x stands where y belongs: g * x * (1 - x) instead of g * y * (1 - y)"},
    {"cube: x^3", kCube, [](const Var& x, const Var& g, const Var&) { return g * 3 * x * x * x; },
        "the exponent of x is off by one: x^3 instead of x^2"},
    {"cube: no 3", kCube, [](const Var& x, const Var& g, const Var&) { return g * x * x; },
        "the factor 3 is missing: x^2 instead of 3 x^2"},
    {"cube: x", kCube, [](const Var& x, const Var& g, const Var&) { return g * 3 * x; },
        "the exponent 2 is missing: x instead of x^2"},
    {"reciprocal: the sign", kReciprocal,
        [](const Var&, const Var& g, const Var& y) { return g * y * y; },
        "the sign of dx is wrong"},
    {"reciprocal: y", kReciprocal, [](const Var&, const Var& g, const Var& y) { return -g * y; },
        "these samples do not tell which: the exponent 2 is missing: y instead of y^2; or the "
        "factor x is one too many"},
    {"relu: all", kRelu, [](const Var&, const Var& g, const Var&) { return g; },
        "the adjoint of the result is passed on unchanged"},
    {"relu: the wrong half", kRelu,
        [](const Var& x, const Var& g, const Var&) { return g - relu(sign(x)) * g; },
        "the condition is the wrong way round: [0 > x] instead of [x > 0]"},
    {"relu: y", kRelu, [](const Var&, const Var& g, const Var& y) { return g * y; },
        "these samples do not tell which: the factor x is one too many; or the factor y is one too "
        "many"},
    {"composed: one of two", kLog1p,
        [](const Var& x, const Var& g, const Var&) { return g * x / (1 + x * x); },
        "x0 is used 2 times, and only the contribution g / ((x0 * x0) + 1) * x0 is there"},
    {"composed: not divided", kLog1p,
        [](const Var& x, const Var& g, const Var&) { return 2 * g * x; },
        "the division by ((x0 * x0) + 1) is missing: g instead of g / ((x0 * x0) + 1)"},
    {"square: one of two", kSquare, [](const Var& x, const Var& g, const Var&) { return g * x; },
        "a is used 2 times, and only the contribution g * a is there"},
    {"Gram: one of two", kGram, [](const Var& x, const Var& g, const Var&) { return matmul(g, x); },
        "a is used 2 times, and only the contribution g a is there"},
    {"Gram: the other", kGram,
        [](const Var& x, const Var& g, const Var&) { return matmul_tn(g, x); },
        "a is used 2 times, and only the contribution g^T a is there"},
    {"Gram: twice one", kGram,
        [](const Var& x, const Var& g, const Var&) { return 2 * matmul(g, x); },
        "the transpose of g is missing: g a instead of g^T a"},
};

/// None that has a name.
const OpCase kUnknown[] = {
    {"standardize: only the deviation", kStandardize,
        [](const Var& x, const Var& g, const Var&) {
          return g / sqrt(var(x, -1, KeepAxes::yes, 0) + 1e-5);
        }},
    {"mean: of g's mean", kMean,
        [](const Var& x, const Var& g, const Var&) { return broadcast_to(mean(g), x.shape()); }},
    {"sigmoid: of y", kSigmoid,
        [](const Var&, const Var& g, const Var& y) { return g * sigmoid(y) * (1 - sigmoid(y)); }},
    {"composed: no 2 x", kLog1p,
        [](const Var& x, const Var& g, const Var&) { return g / (1 + x * x); }},
};

}  // namespace

TEST_CASE("a mistake in the rule of any op is named") {
  const Samples samples{{Tensor::randn({3, 4}, 5, float64)}, {Tensor::randn({4, 3}, 6, float64)}};
  for (const OpCase& wrong : kWrong) {
    const Diagnosis found = diagnose_rule(wrong.op, wrong.rule, samples);
    INFO(wrong.what << "\n" << found.str());
    CHECK(found.cause == wrong.cause);
  }
}

TEST_CASE("no cause is named for a mistake in any op that has no name") {
  const Samples samples{{Tensor::randn({3, 4}, 5, float64)}, {Tensor::randn({4, 3}, 6, float64)}};
  for (const OpCase& wrong : kUnknown) {
    const Diagnosis found = diagnose_rule(wrong.op, wrong.rule, samples);
    INFO(wrong.what << "\n" << found.str());
    CHECK_FALSE(found.right);
    CHECK(found.cause == "");
  }
}

TEST_CASE("parts of another shape for one input are added up; a joint rule's are refused") {
  const auto right = [](Vars in) { return in[0] * in[0]; };
  const auto twice = [](Vars in) {
    const Var x = in[0];
    const auto rule = [x](const Var& g) { return unsqueeze(g * x, 0); };
    return record({"square", R"(@a \odot @b)"},
        [&] { return (Var(x.value()) * x.value()).value(); },
        {{"a", x, "@g", rule}, {"b", x, "@g", rule}});
  };
  CHECK(diagnose(twice, right, {{Tensor::randn({3}, 1, float64)}}).cause ==
        "the numbers are right, only the shape is wrong");
  const auto joint = [](Vars in) {
    const Var a = in[0], b = in[1];
    const auto rule = [a, b](const Var& g) {
      return std::vector<Part>{{0, unsqueeze(g * b, 0)}, {1, g * a}};
    };
    return record({"mul", R"(@a \odot @b)"}, [&] { return (Var(a.value()) * b.value()).value(); },
        {{"a", a, "@g", rule}, {"b", b, "@g", rule}});
  };
  CHECK_THROWS_MATCHES(diagnose(joint, [](Vars in) { return in[0] * in[1]; },
                           {{Tensor::randn({3}, 1, float64), Tensor::randn({3}, 2, float64)}}),
      ShapeError,
      says("backward: mul: the rule of a returned shape [1, 3] for an input of shape [3]; a rule "
           "returns the adjoint of its input, of its shape and dtype"));
}
