#include <microtape/core/kernels/index.hpp>

#include "diagnose_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

// Shapes in which mistakes look alike, and shapes in which they are hard to see.

namespace {

Samples randn(std::initializer_list<Shape> shapes) {
  Samples out;
  for (const Shape& shape : shapes) out.push_back({Tensor::randn(shape, 50 + out.size(), float64)});
  return out;
}

const Rule kNoSum = [](const Var&, const Var& g, const Var& y) { return y * (g - g * y); };
const Rule kAll = [](const Var&, const Var& g, const Var& y) { return y * (g - sum(g * y)); };
const Rule kFirstAxis = [](const Var&, const Var& g, const Var& y) {
  return y * (g - sum(g * y, 0, KeepAxes::yes));
};
const Rule kNoRowSum = [](const Var&, const Var& g, const Var& y) { return y * g; };
const Rule kRight = [](const Var&, const Var& g, const Var& y) { return y * (g - rowsum(g * y)); };

std::string cause(Rule rule, std::initializer_list<Shape> shapes) {
  const Diagnosis found = diagnose_softmax(rule, randn(shapes));
  return found.right ? "right" : found.cause;
}

/// The other operand of a product, with its rule.
using MatmulRule = Var (*)(const Var& a, const Var& b, const Var& g);
Var matmul_with(const Var& a, const Var& b, MatmulRule da, MatmulRule db) {
  return record({"matmul", "@a @b"}, [&] { return matmul(Var(a.value()), b.value()).value(); },
      {{"a", a, "@g", [a, b, da](const Var& g) { return da(a, b, g); }},
          {"b", b, "@g", [a, b, db](const Var& g) { return db(a, b, g); }}});
}
const MatmulRule kDa = [](const Var&, const Var& b, const Var& g) { return matmul_nt(g, b); };
const MatmulRule kDb = [](const Var& a, const Var& b, const Var& g) {
  return sum_to(matmul_tn(a, g), b.shape());
};

Diagnosis diagnose_matmul(MatmulRule da, MatmulRule db, const Shape& a, const Shape& b) {
  return diagnose([&](Vars in) { return matmul_with(in[0], in[1], da, db); },
      [](Vars in) { return matmul(in[0], in[1]); },
      {{Tensor::randn(a, 1, float64), Tensor::randn(b, 2, float64)}});
}

/// The adjoint of one input of layer_norm.
using LayerNormRule = Var (*)(const Var& x, const Var& gain, const Var& g);
/// x [.., 4]
Var standardize_rule(const Var& x, const Var& g) {
  const Var y = standardize(x), d = sqrt(var(x, -1, KeepAxes::yes) + 1e-5);
  return (g - rowsum(g) / 4 - y * rowsum(g * y) / 4) / d;
}

}  // namespace

TEST_CASE("a mistake that some samples cannot show is named by the others") {
  CHECK(cause(kAll, {{4}, {3, 4}, {2, 3, 4}}) ==
        "the sum of g * y is over all elements instead of each row");
  CHECK(cause(kNoRowSum, {{4}, {3, 4}, {2, 3, 4}}) == "the term y * rowsum(g * y) is missing");
  CHECK(cause(kNoSum, {{1, 4}, {4, 1}, {3, 3}}) ==
        "only the diagonal of the Jacobian is there: the sum of g * y over each row is missing: g "
        "* y stands there");
  CHECK(cause(kFirstAxis, {{3, 4}, {2, 3, 4}}) ==
        "the sum of g * y is over each column instead of each row");
  CHECK(cause(kFirstAxis, {{1, 4}, {3, 4}}) ==
        "the sum of g * y is over each column instead of each row");
  CHECK(
      cause(kAll, {{1, 4}, {3, 4}}) == "the sum of g * y is over all elements instead of each row");
  CHECK(cause(kFirstAxis, {{2, 3, 4}}) == "the sum of g * y is over axis 0 instead of each row");
  CHECK(cause(kAll, {{2, 3, 4}}) == "the sum of g * y is over all elements instead of each row");
  CHECK(cause(kRight, {{4}, {1}, {1, 4}, {4, 1}, {2, 3, 4}, {0, 3}}) == "right");
}

TEST_CASE("mistakes that come to the same on all samples are both told") {
  CHECK(cause(kFirstAxis, {{1, 4}}) ==
        "only the diagonal of the Jacobian is there: these samples do not tell which: the sum of g "
        "* y is over each column instead of each row; or the sum of g * y over each row is "
        "missing: g * y stands there");
  CHECK(cause(kNoSum, {{1, 4}}) ==
        "only the diagonal of the Jacobian is there: these samples do not tell which: the sum of g "
        "* y is over each column instead of each row; or the sum of g * y over each row is "
        "missing: g * y stands there");
  CHECK(cause(kNoRowSum, {{1, 4}}) == "the term y * rowsum(g * y) is missing");
  CHECK(cause(kAll, {{1, 4}}) == "right");
  CHECK(cause(kAll, {{4, 1}}) ==
        "these samples do not tell which: the sum of g * y is over all elements instead of each "
        "row; or the sum of g * y is over each column instead of each row");
  CHECK(cause(kNoRowSum, {{4, 1}}) == "the adjoint of the result is passed on unchanged");
}

TEST_CASE("whole numbers in a sample do not make a false cause") {
  // 2 x is x * x where x is 2.
  const UnaryOp op = [](const Var& x) { return exp(x); };
  const Rule twice = [](const Var&, const Var& g, const Var& y) { return 2 * g * y; };
  const Rule times_x = [](const Var& x, const Var& g, const Var& y) { return x * g * y; };
  CHECK(diagnose_rule(op, twice, {{f64({2, 2})}}).cause ==
        "these samples do not tell which: the factor x is one too many; or dx is twice the right "
        "one");
  CHECK(diagnose_rule(op, times_x, {{f64({2, 2})}}).cause ==
        "these samples do not tell which: the factor x is one too many; or dx is twice the right "
        "one");
  CHECK(diagnose_rule(op, times_x, {{f64({2, 3})}}).cause == "the factor x is one too many");
}

TEST_CASE("a missing term is not told for sure if a mistake in another term gives the same") {
  // 2 x is x + 1 where x is 1.
  const auto with = [](Var (*rule)(const Var& x, const Var& g)) {
    return [rule](Vars in) {
      const Var x = in[0];
      return record({"parabola", "@x^{2} + @x"},
          [&] { return (Var(x.value()) * x.value() + x.value()).value(); },
          {{"x", x, R"(@g \odot (2 @x + 1))", [x, rule](const Var& g) { return rule(x, g); }}});
    };
  };
  const auto right = with([](const Var& x, const Var& g) { return g * (2 * x + 1); });
  const auto no_1 = with([](const Var& x, const Var& g) { return g * 2 * x; });
  CHECK(diagnose(no_1, right, {{f64({1, 1})}}).cause ==
        "these samples do not tell which: the term g is missing; or the factor 2 x is missing: g "
        "instead of g * (2 x); or the factor 2 is missing: x instead of 2 x");
  CHECK(diagnose(no_1, right, {{f64({1, 2})}}).cause == "the term g is missing");
}

TEST_CASE("what is almost right is not explained by a mistake that changes almost nothing") {
  const Tensor x = Tensor::full({2}, 1e-10, float64);
  // The rule is right but for 1.9e-10 against the sign of g; without 2 x it would err by 2e-10 g.
  const auto written = [&](Vars in) {
    const Var v = in[0];
    return record({"parabola", "@x^{2} + @x"}, [&] { return (Var(x) * x + x).value(); },
        {{"x", v, R"(@g \odot (2 @x + 1))",
            [v](const Var& g) { return g * (2 * v + 1) - 1.9e-10 * sign(g); }}});
  };
  const auto right = [&](Vars in) {
    const Var v = in[0];
    return record({"parabola", "@x^{2} + @x"}, [&] { return (Var(x) * x + x).value(); },
        {{"x", v, R"(@g \odot (2 @x + 1))", [v](const Var& g) { return g * (2 * v + 1); }}});
  };
  const Diagnosis found = diagnose(written, right, {{x}});
  CHECK_FALSE(found.right);
  CHECK(found.cause == "");
}

TEST_CASE("the numbers of an operand in another order are not that operand") {
  const MatmulRule reshaped = [](const Var& a, const Var& b, const Var&) {
    return reshape(b, a.shape());
  };
  const MatmulRule transposed = [](const Var&, const Var& b, const Var&) { return transpose(b); };
  CHECK(diagnose_matmul(reshaped, kDb, {2, 3}, {3, 2}).cause == "");
  CHECK(diagnose_matmul(transposed, kDb, {2, 3}, {3, 2}).cause ==
        "the factor g is missing: b^T instead of g b^T");
}

TEST_CASE("a batch of matrices is summed where its matrix is shared") {
  const MatmulRule no_sum = [](const Var& a, const Var&, const Var& g) { return matmul_tn(a, g); };
  const MatmulRule first = [](const Var& a, const Var&, const Var& g) {
    return squeeze(slice(matmul_tn(a, g), 0, 0, 1), 0);
  };
  const MatmulRule mean_batch = [](const Var& a, const Var&, const Var& g) {
    return mean(matmul_tn(a, g), 0);
  };
  const MatmulRule no_transpose = [](const Var&, const Var& b, const Var& g) {
    return matmul(g, b);
  };
  CHECK(diagnose_matmul(kDa, kDb, {2, 3, 4}, {4, 5}).right);
  const Diagnosis found = diagnose_matmul(kDa, no_sum, {2, 3, 4}, {4, 5});
  CHECK(found.shapes == "db has shape [2, 4, 5], b has shape [4, 5]");
  CHECK(found.cause == "the sum of a^T g over axis 0 is missing: a^T g stands there");
  CHECK(diagnose_matmul(kDa, first, {2, 3, 4}, {4, 5}).cause ==
        "the sum of a^T g over axis 0 is missing: only its first part is taken");
  CHECK(diagnose_matmul(kDa, mean_batch, {2, 3, 4}, {4, 5}).cause ==
        "the mean of a^T g over axis 0 stands where the sum belongs");
  CHECK(diagnose_matmul(no_transpose, kDb, {2, 3, 4}, {4, 4}).cause ==
        "the transpose of b is missing: g b instead of g b^T");
  CHECK(diagnose_matmul(no_transpose, kDb, {2, 3, 3}, {2, 3, 3}).cause ==
        "the transpose of b is missing: g b instead of g b^T");
}

TEST_CASE("a layer of several ops is the right one as well") {
  const auto right = [](Vars in) { return layer_norm(in[0], in[1], in[2]); };
  const auto with = [&](LayerNormRule dx, LayerNormRule dgain) {
    return diagnose(
        [&](Vars in) {
          const Var x = in[0], gain = in[1], bias = in[2];
          return record({"layer_norm", "@x"},
              [&] {
                return layer_norm(Var(x.value()), Var(gain.value()), Var(bias.value())).value();
              },
              {{"x", x, "@g", [=](const Var& g) { return dx(x, gain, g); }},
                  {"gain", gain, "@g", [=](const Var& g) { return dgain(x, gain, g); }},
                  {"bias", bias, "@g", [=](const Var& g) { return sum_to(g, bias.shape()); }}});
        },
        right,
        {{Tensor::randn({3, 4}, 1, float64), Tensor::randn({4}, 2, float64),
            Tensor::randn({4}, 3, float64)}},
        {.names = {"x", "gain", "bias"}});
  };
  const LayerNormRule dx = [](const Var& x, const Var& gain, const Var& g) {
    return standardize_rule(x, g * gain);
  };
  const LayerNormRule no_gain = [](const Var& x, const Var&, const Var& g) {
    return standardize_rule(x, g);
  };
  const LayerNormRule dgain = [](const Var& x, const Var& gain, const Var& g) {
    return sum_to(g * standardize(x), gain.shape());
  };
  const LayerNormRule of_x = [](const Var& x, const Var& gain, const Var& g) {
    return sum_to(g * x, gain.shape());
  };
  const LayerNormRule no_sum = [](const Var& x, const Var&, const Var& g) {
    return g * standardize(x);
  };
  CHECK(with(dx, dgain).right);
  CHECK(with(no_gain, dgain).cause == "the factor gain is missing: g instead of g * gain");
  CHECK(with(dx, of_x).cause ==
        "x stands where standardize(x) belongs: sum[axis 0](g * x) instead of sum[axis 0](g * "
        "standardize(x))");
  CHECK(with(dx, no_sum).str() ==
        "dgain has shape [3, 4], gain has shape [4]\n"
        "the sum of g * standardize(x) over each column is missing: g * standardize(x) stands "
        "there\n"
        "look at the sum over all results in which one number takes part");
}

TEST_CASE("what is right but for rounding on one sample is named by another") {
  const Rule rounded = [](const Var&, const Var& g, const Var& y) {
    return (g - sum(g * y)) * (y / 3) * 3;
  };
  CHECK(cause(rounded, {{1, 4}, {3, 4}}) ==
        "the sum of g * y is over all elements instead of each row");
}

TEST_CASE("one of three uses that is not counted is named") {
  const auto right = [](Vars in) { return in[0] * in[0] + in[0]; };
  const auto written = [](Vars in) { return in[0] * detach(in[0]) + in[0]; };
  CHECK(diagnose(written, right, randn({{3, 4}, {5}}), {.names = {"x"}}).cause ==
        "x is used 3 times, and the contribution g * x is missing");
}

TEST_CASE("labels are inputs without an adjoint") {
  const auto right = [](Vars in) { return cross_entropy(in[0], in[1]); };
  const auto with = [&](Var (*rule)(const Var& x, const Var& onehot, const Var& g)) {
    return diagnose(
        [&](Vars in) {
          const Var x = in[0], labels = in[1];
          const Tensor onehot = kernels::one_hot(labels.value(), x.shape()[1], float64);
          return record({"cross_entropy", "@x"},
              [&] { return cross_entropy(Var(x.value()), Var(labels.value())).value(); },
              {{"x", x, "@g",
                   [x, rule, one = Var(onehot)](const Var& g) { return rule(x, one, g); }},
                  {"labels", labels}});
        },
        right,
        {{Tensor::randn({3, 4}, 1, float64), i64({1, 0, 3})},
            {Tensor::randn({2, 5}, 1, float64), i64({4, 2})}});
  };
  CHECK(with([](const Var& x, const Var& one, const Var& g) {
    return g * (softmax(x) - one) / static_cast<double>(x.shape()[0]);
  }).right);
  CHECK(with([](const Var& x, const Var& one, const Var& g) {
    return g * (softmax(x) - one);
  }).cause == "the division by 3 is missing: g instead of g / 3");
  CHECK(with([](const Var& x, const Var&, const Var& g) {
    return g * softmax(x) / static_cast<double>(x.shape()[0]);
  }).cause == "the term g / 3 * onehot[4](labels) is missing");
  CHECK(with([](const Var& x, const Var& one, const Var& g) {
    return g * (one - softmax(x)) / static_cast<double>(x.shape()[0]);
  }).cause == "the sign of dx is wrong");
  CHECK(with([](const Var& x, const Var& one, const Var&) {
    return (softmax(x) - one) / static_cast<double>(x.shape()[0]);
  }).cause == "the factor g is missing: 1 / 3 instead of g / 3");
  CHECK(with([](const Var& x, const Var& one, const Var& g) {
    return g * (x - one) / static_cast<double>(x.shape()[0]);
  }).cause == "softmax is missing: x instead of softmax(x)");
}
