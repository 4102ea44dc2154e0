#include <microtape/core/random.hpp>

#include "diagnose_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

const Samples kSamples{{Tensor::randn({3, 4}, 1, float64)}, {Tensor::randn({2, 5}, 2, float64)}};

Var ones_like(const Var& x) { return Tensor::full(x.shape(), 1, float64); }

/// A rule, and the cause that must be named.
struct SoftmaxCase {
  const char* what;
  Rule rule;
  const char* cause = "";  ///< none
};

/// One mistake each.
const SoftmaxCase kWrong[] = {
    {"forgets that the row sums to 1", [](const Var&, const Var& g, const Var& y) { return g * y; },
        "the term y * rowsum(g * y) is missing"},
    {"the sign of all",
        [](const Var&, const Var& g, const Var& y) { return y * (rowsum(g * y) - g); },
        "the sign of dx is wrong"},
    {"plus", [](const Var&, const Var& g, const Var& y) { return y * (g + rowsum(g * y)); },
        "the term y * rowsum(g * y) has the wrong sign: + where - belongs"},
    {"only the row sum", [](const Var&, const Var& g, const Var& y) { return -y * rowsum(g * y); },
        "the term y * g is missing"},
    {"the sum over all",
        [](const Var&, const Var& g, const Var& y) { return y * (g - sum(g * y)); },
        "the sum of g * y is over all elements instead of each row"},
    {"the sum over columns",
        [](const Var&, const Var& g, const Var& y) {
          return y * (g - sum(g * y, 0, KeepAxes::yes));
        },
        "the sum of g * y is over each column instead of each row"},
    {"the mean",
        [](const Var&, const Var& g, const Var& y) {
          return y * (g - mean(g * y, -1, KeepAxes::yes));
        },
        "the mean of g * y over each row stands where the sum belongs"},
    {"no sum", [](const Var&, const Var& g, const Var& y) { return y * (g - g * y); },
        "only the diagonal of the Jacobian is there: the sum of g * y over each row is missing: g "
        "* y stands there"},
    {"only the first column",
        [](const Var&, const Var& g, const Var& y) { return y * (g - slice(g * y, -1, 0, 1)); },
        "the sum of g * y over each row is missing: only its first part is taken"},
    {"x in front", [](const Var& x, const Var& g, const Var& y) { return x * (g - rowsum(g * y)); },
        "x stands where y belongs: x * (g - rowsum(g * y)) instead of y * (g - rowsum(g * y))"},
    {"x in the sum",
        [](const Var& x, const Var& g, const Var& y) { return y * (g - rowsum(g * x)); },
        "x stands where y belongs: rowsum(g * x) instead of rowsum(g * y)"},
    {"x everywhere", [](const Var& x, const Var& g, const Var&) { return x * (g - rowsum(g * x)); },
        "x stands where y belongs: x * (g - rowsum(g * x)) instead of y * (g - rowsum(g * y))"},
    {"y in the sum twice",
        [](const Var&, const Var& g, const Var& y) { return y * (g - rowsum(g * y * y)); },
        "the factor y stands twice: rowsum(g * (y * y)) instead of rowsum(g * y)"},
    {"y in front twice",
        [](const Var&, const Var& g, const Var& y) { return y * y * (g - rowsum(g * y)); },
        "the factor y stands twice: y * y * (g - rowsum(g * y)) instead of y * (g - rowsum(g * "
        "y))"},
    {"g in the sum twice",
        [](const Var&, const Var& g, const Var& y) { return y * (g - rowsum(g * g * y)); },
        "the factor g stands twice: rowsum(g * g * y) instead of rowsum(g * y)"},
    {"no y in front", [](const Var&, const Var& g, const Var& y) { return g - rowsum(g * y); },
        "the factor y is missing: g - rowsum(g * y) instead of y * (g - rowsum(g * y))"},
    {"no y in the sum", [](const Var&, const Var& g, const Var& y) { return y * (g - rowsum(g)); },
        "the factor y is missing: rowsum(g) instead of rowsum(g * y)"},
    {"no g in the sum", [](const Var&, const Var& g, const Var& y) { return y * (g - rowsum(y)); },
        "the factor rowsum(g * y) is missing, or comes to 1"},
    {"no y in the second term",
        [](const Var&, const Var& g, const Var& y) { return g * y - rowsum(g * y); },
        "the factor y is missing: rowsum(g * y) instead of y * rowsum(g * y)"},
    {"no y in the first term",
        [](const Var&, const Var& g, const Var& y) { return g - y * rowsum(g * y); },
        "the factor y is missing: g instead of y * g"},
    {"the diagonal", [](const Var&, const Var& g, const Var& y) { return g * y * (1 - y); },
        "only the diagonal of the Jacobian is there: the sum of g * y over each row is missing: g "
        "* y stands there"},
    {"zero", [](const Var&, const Var& g, const Var&) { return 0 * g; }, "dx is 0 everywhere"},
    {"the seed", [](const Var&, const Var& g, const Var&) { return g; },
        "the adjoint of the result is passed on unchanged"},
    {"the value", [](const Var&, const Var&, const Var& y) { return y; },
        "the factor g - rowsum(g * y) is missing: y instead of y * (g - rowsum(g * y))"},
    {"y for g in the first term",
        [](const Var&, const Var& g, const Var& y) { return y * (y - rowsum(g * y)); },
        "y stands where g belongs: y * y instead of y * g"},
    {"y y^T", [](const Var&, const Var& g, const Var& y) { return y * (g - rowsum(y * y)); },
        "y stands where g belongs: rowsum(y * y) instead of rowsum(g * y)"},
    {"g g", [](const Var&, const Var& g, const Var& y) { return y * (g - rowsum(g * g)); },
        "g stands where y belongs: rowsum(g * g) instead of rowsum(g * y)"},
    {"g in front", [](const Var&, const Var& g, const Var& y) { return g * (g - rowsum(g * y)); },
        "g stands where y belongs: g * (g - rowsum(g * y)) instead of y * (g - rowsum(g * y))"},
    {"not a number",
        [](const Var&, const Var& g, const Var& y) { return log(-y) * (g - rowsum(g * y)); },
        "dx is not finite where the right one is"},
    {"twice", [](const Var&, const Var& g, const Var& y) { return 2 * y * (g - rowsum(g * y)); },
        "dx is twice the right one"},
    {"a half", [](const Var&, const Var& g, const Var& y) { return y * (g - rowsum(g * y)) / 2; },
        "dx is half of the right one"},
    {"g of ones",
        [](const Var&, const Var& g, const Var& y) {
          const Var one = ones_like(g);
          return y * (one - rowsum(one * y));
        },
        "dx is 0 everywhere"},
    {"the whole sum of each row spread",
        [](const Var&, const Var& g, const Var& y) { return y * (g - sum_to(g * y, {1, 1})); },
        "the sum of g * y is over all elements instead of each row"},
};

/// Two mistakes, or none that has a name.
const SoftmaxCase kUnknown[] = {
    {"off by a constant",
        [](const Var&, const Var& g, const Var& y) { return y * (g - rowsum(g * y)) + 0.125; }},
    {"off by little",
        [](const Var&, const Var& g, const Var& y) { return y * (g - rowsum(g * y)) + 1e-7; }},
    {"1.7 times",
        [](const Var&, const Var& g, const Var& y) { return 1.7 * y * (g - rowsum(g * y)); }},
    {"two signs",
        [](const Var&, const Var& g, const Var& y) { return -y * (g + rowsum(g * y)) * y; }},
    {"x in front and columns",
        [](const Var& x, const Var& g, const Var& y) {
          return x * (g - sum(g * y, 0, KeepAxes::yes));
        }},
    {"plus and a mean", [](const Var&, const Var& g,
                            const Var& y) { return y * (g + mean(g * y, -1, KeepAxes::yes)); }},
    {"random numbers", [](const Var&, const Var& g,
                           const Var&) { return Var(Tensor::randn(g.shape(), 77, float64)); }},
    {"random errors",
        [](const Var&, const Var& g, const Var& y) {
          return y * (g - rowsum(g * y)) + 1e-3 * Tensor::randn(g.shape(), 78, float64);
        }},
    {"exp", [](const Var& x, const Var& g, const Var& y) { return exp(x) * (g - rowsum(g * y)); }},
    {"softmax of g", [](const Var&, const Var& g, const Var&) { return softmax(g); }},
    {"tanh's rule", [](const Var&, const Var& g, const Var& y) { return g * (1 - y * y); }},
    {"y with a half in the sum",
        [](const Var&, const Var& g, const Var& y) { return y * (g - 0.5 * rowsum(g * y)); }},
    {"a max for the sum", [](const Var&, const Var& g,
                              const Var& y) { return y * (g - max(g * y, -1, KeepAxes::yes)); }},
    {"a shifted row",
        [](const Var&, const Var& g, const Var& y) {
          const Var right = y * (g - rowsum(g * y));
          return concat({slice(right, 0, 1, right.shape()[0]), slice(right, 0, 0, 1)}, 0);
        }},
};

/// The whole Jacobian of each row: diag(y) - y y^T.
Var by_jacobian(const Var&, const Var& g, const Var& y) {
  std::vector<Var> rows;
  for (Index i = 0; i < y.shape()[0]; ++i) {
    const Var row = slice(y, 0, i, i + 1);  // [1, n]
    const Index n = y.shape()[1];
    Tensor eye = Tensor::zeros({n, n}, float64);
    for (Index k = 0; k < n; ++k)
      eye.mutable_data<double>()[static_cast<std::size_t>(k * n + k)] = 1;
    const Var jacobian = Var(eye) * row - matmul_tn(row, row);
    rows.push_back(matmul(slice(g, 0, i, i + 1), jacobian));
  }
  return concat(rows, 0);
}

const SoftmaxCase kRight[] = {
    {"as the op has it",
        [](const Var&, const Var& g, const Var& y) { return y * (g - rowsum(g * y)); }},
    {"multiplied out",
        [](const Var&, const Var& g, const Var& y) { return g * y - rowsum(y * g) * y; }},
    {"by the Jacobian", by_jacobian},
    {"by a product with ones",
        [](const Var&, const Var& g, const Var& y) {
          const Var all = Tensor::full({y.shape()[1], 1}, 1, float64);
          return (g - matmul(g * y, all)) * y;
        }},
    {"from x alone",
        [](const Var& x, const Var& g, const Var&) {
          const Var e = exp(x), z = rowsum(e);
          return e / z * (g - rowsum(g * e) / z);
        }},
};

}  // namespace

TEST_CASE("each known mistake in the rule of softmax is named") {
  for (const SoftmaxCase& wrong : kWrong) {
    const Diagnosis found = diagnose_softmax(wrong.rule, kSamples);
    INFO(wrong.what << "\n" << found.str());
    CHECK(found.cause == wrong.cause);
  }
}

TEST_CASE("no cause is named for mistakes of softmax that have no name") {
  for (const SoftmaxCase& wrong : kUnknown) {
    const Diagnosis found = diagnose_softmax(wrong.rule, kSamples);
    INFO(wrong.what << "\n" << found.str());
    CHECK_FALSE(found.right);
    CHECK(found.cause == "");
  }
}

TEST_CASE("right rules of softmax in other words are right") {
  for (const SoftmaxCase& other : kRight) {
    const Diagnosis found = diagnose_softmax(other.rule, kSamples);
    INFO(other.what << "\n" << found.str());
    CHECK(found.right);
  }
}
