#pragma once

#include <span>
#include <string>
#include <vector>

#include <microtape/tape/diagnose.hpp>
#include <microtape/tape/ops.hpp>

#include "testing.hpp"

// Ops with rules of the test's choice.

namespace microtape::testing {

using Vars = std::span<const Var>;
using Samples = std::vector<std::vector<Tensor>>;

using UnaryOp = Var (*)(const Var& x);
/// The adjoint of x.
using Rule = Var (*)(const Var& x, const Var& g, const Var& y);

/// Diagnoses an op with a rule in place of its own.
inline Diagnosis diagnose_rule(UnaryOp op, Rule rule, const Samples& samples) {
  const auto written = [=](Vars in) {
    const Var x = in[0];
    return record({"planted", "@x"}, [&] { return op(Var(x.value())).value(); },
        {{"x", x, "@g", [x, rule](const Var& g, const Var& y) { return rule(x, g, y); }}});
  };
  return diagnose(written, [=](Vars in) { return op(in[0]); }, samples);
}

inline Diagnosis diagnose_softmax(Rule rule, const Samples& samples) {
  return diagnose_rule([](const Var& x) { return softmax(x); }, rule, samples);
}

/// The sum of each row, kept.
inline Var rowsum(const Var& x) { return sum(x, -1, KeepAxes::yes); }

}  // namespace microtape::testing
