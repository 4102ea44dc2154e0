#include "diagnose_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

/// y = X W^T + b. X [n, in], W [out, in], b [out]
struct Linear {
  Var x, w, b;
};
using LinearRule = Var (*)(const Linear& in, const Var& g);

/// The op with these rules, and the formulas of the right ones.
Var linear(const Linear& in, LinearRule dx, LinearRule dw, LinearRule db) {
  const auto forward = [&] { return matmul_nt(Var(in.x.value()), in.w.value()).value(); };
  return record({"linear", R"(@X @W^\top + @b)"},
      [&] { return (Var(forward()) + Var(in.b.value())).value(); },
      {
          {"X", in.x, "@g @W", [in, dx](const Var& g) { return dx(in, g); }},
          {"W", in.w, R"(@g^\top @X)", [in, dw](const Var& g) { return dw(in, g); }},
          {"b", in.b, R"(\operatorname{sumto}(@g))", [in, db](const Var& g) { return db(in, g); }},
      });
}

Var dx_rule(const Linear& in, const Var& g) { return matmul(g, in.w); }
Var dw_rule(const Linear& in, const Var& g) { return matmul_tn(g, in.x); }
Var db_rule(const Linear& in, const Var& g) { return sum_to(g, in.b.shape()); }

struct LinearCase {
  const char* what;
  char input;  // X, W or b
  LinearRule rule;
  const char* cause = "";  ///< none
};

std::vector<Tensor> sample(Index n, Index in, Index out, std::uint64_t seed) {
  return {Tensor::randn({n, in}, seed, float64), Tensor::randn({out, in}, seed + 1, float64),
      Tensor::randn({out}, seed + 2, float64)};
}

const Samples kOblong{sample(4, 3, 2, 10), sample(2, 3, 5, 20)};
/// All transposes fit.
const Samples kSquare{sample(3, 3, 3, 30), sample(2, 2, 2, 40)};

Var right_op(Vars in) { return linear({in[0], in[1], in[2]}, dx_rule, dw_rule, db_rule); }
Var composed(Vars in) { return matmul_nt(in[0], in[1]) + in[2]; }

Diagnosis diagnose_linear(
    const LinearCase& wrong, const Samples& samples, FunctionRef<Var(Vars)> right = right_op) {
  const auto written = [&](Vars in) {
    return linear({in[0], in[1], in[2]}, wrong.input == 'X' ? wrong.rule : dx_rule,
        wrong.input == 'W' ? wrong.rule : dw_rule, wrong.input == 'b' ? wrong.rule : db_rule);
  };
  return diagnose(written, right, samples, {.names = {"X", "W", "b"}});
}

const LinearCase kWrong[] = {
    {"zero", 'X', [](const Linear& in, const Var&) { return 0 * in.x; }, "dX is 0 everywhere"},
    {"the sign", 'X', [](const Linear& in, const Var& g) { return -matmul(g, in.w); },
        "the sign of dX is wrong"},
    {"no g", 'X',
        [](const Linear& in, const Var& g) {
          return matmul(Var(Tensor::full(g.shape(), 1, float64)), in.w);
        },
        "g is ignored, as if it were 1 everywhere"},
    {"y for g", 'X',
        [](const Linear& in, const Var&) { return matmul(matmul_nt(in.x, in.w) + in.b, in.w); },
        "y stands where g belongs: y W instead of g W"},
    {"dX twice", 'X', [](const Linear& in, const Var& g) { return 2 * matmul(g, in.w); },
        "dX is twice the right one"},
    {"the transpose of dW", 'W', [](const Linear& in, const Var& g) { return matmul_tn(in.x, g); },
        "dW is transposed"},
    {"dW reshaped", 'W',
        [](const Linear& in, const Var& g) {
          return reshape(matmul_tn(in.x, g), {g.shape()[1], in.x.shape()[1]});
        },
        "dW is transposed, then reshaped"},
    {"the sign of dW", 'W', [](const Linear& in, const Var& g) { return -matmul_tn(g, in.x); },
        "the sign of dW is wrong"},
    {"zero dW", 'W', [](const Linear& in, const Var&) { return 0 * in.w; }, "dW is 0 everywhere"},
    {"no g in dW", 'W',
        [](const Linear& in, const Var& g) {
          return matmul_tn(Var(Tensor::full(g.shape(), 1, float64)), in.x);
        },
        "g is ignored, as if it were 1 everywhere"},
    {"the mean over the rows", 'W',
        [](const Linear& in, const Var& g) {
          return matmul_tn(g, in.x) / static_cast<double>(in.x.shape()[0]);
        },
        "dW is the right one divided by 4, the extent of an axis"},
    {"y for g in dW", 'W',
        [](const Linear& in, const Var&) { return matmul_tn(matmul_nt(in.x, in.w) + in.b, in.x); },
        "y stands where g belongs: y^T X instead of g^T X"},
    {"W itself", 'W', [](const Linear& in, const Var&) { return 1 * in.w; }, "dW is just W"},
    {"no sum", 'b', [](const Linear&, const Var& g) { return g; },
        "the sum of g over each column is missing: g stands there"},
    {"the first row", 'b',
        [](const Linear& in, const Var& g) { return reshape(slice(g, 0, 0, 1), in.b.shape()); },
        "the sum of g over each column is missing: only its first part is taken"},
    {"the last row", 'b',
        [](const Linear& in, const Var& g) {
          return reshape(slice(g, 0, g.shape()[0] - 1, g.shape()[0]), in.b.shape());
        },
        "the sum of g over each column is missing: only its last part is taken"},
    {"the mean", 'b', [](const Linear&, const Var& g) { return mean(g, 0); },
        "the mean of g over each column stands where the sum belongs"},
    {"the wrong axis", 'b', [](const Linear&, const Var& g) { return sum(g, 1); },
        "the sum of g is over each row instead of each column"},
    {"the sum of all", 'b', [](const Linear&, const Var& g) { return sum(g); },
        "the sum of g is over all elements instead of each column"},
    {"the sum of all, spread", 'b',
        [](const Linear& in, const Var& g) { return broadcast_to(sum(g), in.b.shape()); },
        "the sum of g is over all elements instead of each column"},
    {"the sign of db", 'b', [](const Linear& in, const Var& g) { return -sum_to(g, in.b.shape()); },
        "the sign of db is wrong"},
    {"the axis kept", 'b', [](const Linear&, const Var& g) { return sum(g, 0, KeepAxes::yes); },
        "the numbers are right, only the shape is wrong"},
    {"zero db", 'b', [](const Linear& in, const Var&) { return 0 * in.b; }, "db is 0 everywhere"},
    {"the number of rows", 'b',
        [](const Linear& in, const Var& g) {
          return broadcast_to(
              Tensor::full({}, static_cast<double>(g.shape()[0]), float64), in.b.shape());
        },
        "g is ignored, as if it were 1 everywhere"},
    {"b times the sum", 'b',
        [](const Linear& in, const Var& g) { return in.b * sum_to(g, in.b.shape()); },
        "the factor b is one too many"},
};

/// Only where all are square do these products exist.
const LinearCase kWrongSquare[] = {
    {"a transpose too many", 'X', [](const Linear& in, const Var& g) { return matmul_nt(g, in.w); },
        "the transpose of W is one too many: g W^T instead of g W"},
    {"the other order", 'X', [](const Linear& in, const Var& g) { return matmul(in.w, g); },
        "the factors stand in the other order: W g instead of g W"},
    {"x for W", 'X', [](const Linear& in, const Var& g) { return matmul(g, in.x); },
        "X stands where W belongs: g X instead of g W"},
    {"the transpose of dX", 'X',
        [](const Linear& in, const Var& g) { return transpose(matmul(g, in.w)); },
        "dX is transposed"},
    {"dW in place of dX", 'X', [](const Linear& in, const Var& g) { return matmul_tn(g, in.x); },
        "this is dW, where dX belongs"},
    {"g", 'X', [](const Linear&, const Var& g) { return g; },
        "the adjoint of the result is passed on unchanged"},
    {"W", 'X', [](const Linear& in, const Var&) { return 1 * in.w; },
        "the factor g is missing: W instead of g W"},
    {"no transpose", 'W', [](const Linear& in, const Var& g) { return matmul(g, in.x); },
        "the transpose of g is missing: g X instead of g^T X"},
    {"the transpose of dW", 'W', [](const Linear& in, const Var& g) { return matmul_tn(in.x, g); },
        "dW is transposed"},
    {"the other order in dW", 'W',
        [](const Linear& in, const Var& g) { return matmul_nt(in.x, g); },
        "the factors stand in the other order: X g^T instead of g^T X"},
    {"W for X", 'W', [](const Linear& in, const Var& g) { return matmul_tn(g, in.w); },
        "W stands where X belongs: g^T W instead of g^T X"},
    {"two transposes", 'W',
        [](const Linear& in, const Var& g) { return matmul_tn(g, transpose(in.x)); },
        "the transpose of X is one too many: g^T X^T instead of g^T X"},
    {"dX in place of dW", 'W', [](const Linear& in, const Var& g) { return matmul(g, in.w); },
        "this is dX, where dW belongs"},
    {"the wrong axis", 'b', [](const Linear&, const Var& g) { return sum(g, 1); },
        "the sum of g is over each row instead of each column"},
};

/// Two mistakes, or none that has a name.
const LinearCase kUnknown[] = {
    {"only one row of W", 'X',
        [](const Linear& in, const Var& g) { return slice(g, 1, 0, 1) * slice(in.w, 0, 0, 1); }},
    {"off by a constant", 'X',
        [](const Linear& in, const Var& g) { return matmul(g, in.w) + 0.5; }},
    {"the square of W", 'X', [](const Linear& in, const Var& g) { return matmul(g, in.w * in.w); }},
    {"the square of g", 'W', [](const Linear& in, const Var& g) { return matmul_tn(g * g, in.x); }},
    {"a third", 'W', [](const Linear& in, const Var& g) { return matmul_tn(g, in.x) / 3.25; }},
    {"random", 'W',
        [](const Linear& in, const Var&) { return Var(Tensor::randn(in.w.shape(), 9, float64)); }},
    {"plus W", 'W', [](const Linear& in, const Var& g) { return matmul_tn(g, in.x) + in.w; }},
    {"the sum, minus b", 'b', [](const Linear& in, const Var& g) { return sum(g, 0) - in.b; }},
    {"the sum without its first row", 'b',
        [](const Linear&, const Var& g) { return sum(slice(g, 0, 1, g.shape()[0]), 0); }},
    {"the sign of the mean", 'b', [](const Linear&, const Var& g) { return -mean(g, 0); }},
    {"the largest", 'b', [](const Linear&, const Var& g) { return max(g, 0); }},
    {"one element", 'b',
        [](const Linear& in, const Var& g) {
          Tensor spike = Tensor::zeros(in.b.shape(), float64);
          spike.mutable_data<double>()[1] = 1e-3;
          return sum(g, 0) + spike;
        }},
};

const LinearCase kRight[] = {
    {"a transpose of a product", 'W',
        [](const Linear& in, const Var& g) { return transpose(matmul_tn(in.x, g)); }},
    {"a product with the transpose", 'W',
        [](const Linear& in, const Var& g) { return matmul(transpose(g), in.x); }},
    {"two transposes", 'X',
        [](const Linear& in, const Var& g) {
          return transpose(matmul(transpose(in.w), transpose(g)));
        }},
    {"a product with ones", 'b',
        [](const Linear& in, const Var& g) {
          const Var ones = Tensor::full({1, g.shape()[0]}, 1, float64);
          return reshape(matmul(ones, g), in.b.shape());
        }},
    {"the mean times n", 'b',
        [](const Linear&, const Var& g) { return mean(g, 0) * static_cast<double>(g.shape()[0]); }},
};

}  // namespace

TEST_CASE("each known mistake in the rules of linear is named") {
  for (const LinearCase& wrong : kWrong) {
    const Diagnosis found = diagnose_linear(wrong, kOblong);
    INFO(wrong.what << "\n" << found.str());
    CHECK(found.cause == wrong.cause);
  }
}

TEST_CASE("square matrices do not hide which mistake it was") {
  for (const LinearCase& wrong : kWrongSquare) {
    const Diagnosis found = diagnose_linear(wrong, kSquare);
    INFO(wrong.what << "\n" << found.str());
    CHECK(found.cause == wrong.cause);
  }
}

TEST_CASE("a product and a sum in two ops are a right answer to linear in one") {
  for (const LinearCase& wrong : kWrong) {
    const Diagnosis found = diagnose_linear(wrong, kOblong, composed);
    INFO(wrong.what << "\n" << found.str());
    CHECK(found.cause == wrong.cause);
  }
}

TEST_CASE("no cause is named for mistakes of linear that have no name") {
  for (const LinearCase& wrong : kUnknown) {
    const Diagnosis found = diagnose_linear(wrong, kOblong);
    INFO(wrong.what << "\n" << found.str());
    CHECK_FALSE(found.right);
    CHECK(found.input == std::string(1, wrong.input));
    CHECK(found.cause == "");
  }
}

TEST_CASE("right rules of linear in other words are right") {
  for (const LinearCase& other : kRight) {
    CAPTURE(other.what);
    CHECK(diagnose_linear(other, kOblong).right);
    CHECK(diagnose_linear(other, kSquare).right);
  }
}

TEST_CASE("of two wrong inputs the first is told") {
  const auto written = [](Vars in) {
    return linear(
        {in[0], in[1], in[2]}, dx_rule,
        [](const Linear& l, const Var& g) { return -matmul_tn(g, l.x); },
        [](const Linear&, const Var& g) { return mean(g, 0); });
  };
  const Diagnosis found = diagnose(written, right_op, kOblong);
  CHECK(found.input == "W");
  CHECK(found.cause == "the sign of dW is wrong");
}
