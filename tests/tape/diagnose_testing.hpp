#pragma once

#include <span>
#include <string>
#include <vector>

#include <microtape/core/kernels/softmax.hpp>
#include <microtape/tape/diagnose.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"

// Ops with rules of the test's choice.

namespace microtape::testing {

using Vars = std::span<const Var>;
using Samples = std::vector<std::vector<Tensor>>;

/// The adjoint of x.
using SoftmaxRule = Var (*)(const Var& x, const Var& g, const Var& y);

/// A rule, and the cause that must be named; empty: none.
struct SoftmaxCase {
  const char* what;
  SoftmaxRule rule;
  const char* cause;
};

inline Var softmax_with(const Var& x, SoftmaxRule rule) {
  return record({"softmax", R"(\operatorname{softmax}_{@axis}(@x))", {{"axis", -1}}},
      [&] { return kernels::softmax(x.value(), x.rank() - 1); },
      {{"x", x, "@g", [x, rule](const Var& g, const Var& y) { return rule(x, g, y); }}});
}

inline Diagnosis diagnose_softmax(SoftmaxRule rule, const Samples& samples) {
  return diagnose([rule](Vars in) { return softmax_with(in[0], rule); },
      [](Vars in) { return softmax(in[0]); }, samples);
}

/// The sum of each row, kept.
inline Var rowsum(const Var& x) { return sum(x, -1, KeepAxes::yes); }

}  // namespace microtape::testing
