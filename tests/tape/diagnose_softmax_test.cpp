#include "diagnose_testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

const Samples kSamples{{Tensor::randn({3, 4}, 1, float64)}, {Tensor::randn({2, 5}, 2, float64)}};

const SoftmaxCase kWrong[] = {
    {"the row sum", [](const Var&, const Var& g, const Var& y) { return g * y; },
        "the term y * rowsum(g * y) is missing"},
    {"the sum over all",
        [](const Var&, const Var& g, const Var& y) { return y * (g - sum(g * y)); },
        "the sum of g * y is over all elements instead of each row"},
    {"over columns",
        [](const Var&, const Var& g, const Var& y) {
          return y * (g - sum(g * y, 0, KeepAxes::yes));
        },
        "the sum of g * y is over each column instead of each row"},
};

}  // namespace

TEST_CASE("each known mistake in the rule of softmax is named") {
  for (const SoftmaxCase& wrong : kWrong) {
    const Diagnosis found = diagnose_softmax(wrong.rule, kSamples);
    INFO(wrong.what << "\n" << found.str());
    CHECK(found.cause == wrong.cause);
  }
}
