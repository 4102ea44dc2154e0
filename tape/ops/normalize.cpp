#include <microtape/tape/ops/normalize.hpp>

#include <microtape/core/kernels/softmax.hpp>
#include <microtape/tape/ops/arithmetic.hpp>
#include <microtape/tape/ops/functions.hpp>
#include <microtape/tape/ops/reduce.hpp>
#include <microtape/tape/ops/shape.hpp>

namespace microtape {
namespace {

/// The axis counted from the end, as formulas have it: -1 is the last.
double from_end(Index axis, const Var& x) { return static_cast<double>(axis - x.rank()); }

}  // namespace

Var softmax(const Var& x, const SoftmaxOptions& options) {
  const Index axis =
      in_scope_of(x, [&] { return normalize_axis("softmax", x.shape(), options.axis); });
  // dS = P * (dP - rowsum(dP * P)): the row sum takes out what would move the whole row.
  const auto rule = [axis](Var g, const Var& y) {
    if (!is_recording(y) && axis == y.rank() - 1)
      return Var(kernels::softmax_pullback(std::move(g).value(), y.value()));
    return y * (g - sum(g * y, axis, KeepAxes::yes));
  };
  static constexpr Literal kRule = R"(@y \odot (@g - \operatorname{rowsum}_{@axis}(@g \odot @y)))";
  static constexpr Literal kMaskRule =
      R"(\operatorname{sumto}(@y \odot (@g - \operatorname{rowsum}_{@axis}(@g \odot @y))))";
  const Attribute at{"axis", from_end(axis, x)};
  const Var& mask = options.mask;
  if (!mask.defined())
    return record({"softmax", R"(\operatorname{softmax}_{@axis}(@x))", {at}},
        [&] { return kernels::softmax(x.value(), axis); }, {{"x", x, kRule, rule}});
  return record({"softmax", R"(\operatorname{softmax}_{@axis}(@x + @M))", {at}},
      [&] { return kernels::softmax(x.value(), axis, &mask.value()); },
      {
          {"x", x, kRule, rule},
          // It runs only if the mask is learned, and sums over what the mask was repeated along.
          {"M", mask, kMaskRule,
              [rule, s = mask.shape()](
                  const Var& g, const Var& y) { return sum_to(rule(g, y), s); }},
      });
}

Var log_softmax(const Var& x, Index axis) {
  axis = in_scope_of(x, [&] { return normalize_axis("log_softmax", x.shape(), axis); });
  return record(
      {"log_softmax", R"(\operatorname{logsoftmax}_{@axis}(@x))", {{"axis", from_end(axis, x)}}},
      [&] { return kernels::log_softmax(x.value(), axis); },
      {
          {"x", x, R"(@g - \operatorname{exp}(@y) \odot \operatorname{rowsum}_{@axis}(@g))",
              [axis](const Var& g, const Var& y) {
                const Var softmax = exp(y);
                return g - softmax * sum(g, axis, KeepAxes::yes);
              }},
      });
}

}  // namespace microtape
