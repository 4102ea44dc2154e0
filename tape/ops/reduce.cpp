#include <microtape/tape/ops/reduce.hpp>

#include <algorithm>
#include <cmath>

#include <microtape/core/kernels/dispatch.hpp>
#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/core/kernels/reduce.hpp>
#include <microtape/core/kernels/softmax.hpp>
#include <microtape/tape/ops/arithmetic.hpp>
#include <microtape/tape/ops/functions.hpp>
#include <microtape/tape/ops/index.hpp>
#include <microtape/tape/ops/shape.hpp>

namespace microtape {
namespace {

// A sum that keeps its axis is the row sum of the textbook.
constexpr Literal kSum = R"(\operatorname{sum}_{@axes}(@x))";
constexpr Literal kRowSum = R"(\operatorname{rowsum}_{@axes}(@x))";
constexpr Literal kMean = R"(\operatorname{mean}_{@axes}(@x))";
constexpr Literal kRowMean = R"(\operatorname{rowmean}_{@axes}(@x))";

/// The axes of one reduction of x, and what follows from them.
struct Reduction {
  Indices axes;  // from the front, ascending
  Shape x;       // before
  Shape kept;    // after, with the reduced axes as 1
  Shape result;  // after

  Index count() const { return kept.size() == 0 ? 0 : x.size() / kept.size(); }

  /// Something of the result's shape, repeated to x's.
  Var spread(const Var& g) const { return broadcast_to(reshape(g, kept), x); }
};

Reduction reduction(const char* op, const Var& x, const Indices& axes, KeepAxes keep) {
  const Shape shape = x.shape();
  Reduction r{in_scope_of(x, [&] { return normalize_axes(op, shape, axes); }), shape, shape, {}};
  Indices left;
  for (Index axis = 0; axis < shape.rank(); ++axis) {
    if (std::find(r.axes.begin(), r.axes.end(), axis) != r.axes.end())
      r.kept = r.kept.with(axis, 1);
    else
      left.push_back(shape[axis]);
  }
  r.result = keep == KeepAxes::yes ? r.kept : Shape(left);
  return r;
}

/// Where x is largest: 1 / k at each of k equal places. Inactive: its derivative is 0 wherever
/// there is one.
Var max_share(const Var& x, const Reduction& r) {
  return record({"max_share", R"(\operatorname{ismax}_{@axes}(@x))", {{"axes", r.axes}}},
      [&] { return kernels::max_share(x.value(), kernels::max(x.value(), r.axes), r.axes); },
      {{"x", x}});
}

}  // namespace

Var sum(const Var& x, const Indices& axes, KeepAxes keep) {
  const Reduction r = reduction("sum", x, axes, keep);
  return record({"sum", keep == KeepAxes::yes ? kRowSum : kSum, {{"axes", r.axes}}},
      [&] { return kernels::sum(x.value(), r.axes).reshape(r.result); },
      {
          {"x", x, R"(\operatorname{broadcast}_{@axes}(@g))",
              [r](const Var& g) { return r.spread(g); }},
      });
}

Var mean(const Var& x, const Indices& axes, KeepAxes keep) {
  const Reduction r = reduction("mean", x, axes, keep);
  const auto n = static_cast<double>(r.count());
  return record({"mean", keep == KeepAxes::yes ? kRowMean : kMean, {{"axes", r.axes}, {"n", n}}},
      [&] {
        kernels::require_floating("mean", "x", x.value());
        return kernels::div(kernels::sum(x.value(), r.axes), n).reshape(r.result);
      },
      {
          {"x", x, R"(\frac{1}{@n} \operatorname{broadcast}_{@axes}(@g))",
              [r, n](const Var& g) { return r.spread(g / n); }},
      });
}

Var max(const Var& x, const Indices& axes, KeepAxes keep) {
  const Reduction r = reduction("max", x, axes, keep);
  return record({"max", R"(\operatorname{max}_{@axes}(@x))", {{"axes", r.axes}}},
      [&] { return kernels::max(x.value(), r.axes).reshape(r.result); },
      {
          {"x", x, R"(\operatorname{broadcast}_{@axes}(@g) \odot \operatorname{ismax}_{@axes}(@x))",
              [r, x](const Var& g) {
                const Var share = max_share(x, r);
                return r.spread(g) * share;
              }},
      });
}

Var min(const Var& x, const Indices& axes, KeepAxes keep) {
  const Reduction r = reduction("min", x, axes, keep);
  return record({"min", R"(-\operatorname{max}_{@axes}(-@x))", {{"axes", r.axes}}},
      [&] { return kernels::neg(kernels::max(kernels::neg(x.value()), r.axes)).reshape(r.result); },
      {
          {"x", x,
              R"(\operatorname{broadcast}_{@axes}(@g) \odot \operatorname{ismax}_{@axes}(-@x))",
              [r, x](const Var& g) {
                const Var share = max_share(-x, r);
                return r.spread(g) * share;
              }},
      });
}

namespace {

/// The Euclidean norm, by parts of the largest number so that no square overflows or vanishes.
Tensor euclidean(const Tensor& x, const Indices& axes) {
  const Tensor sizes = kernels::abs(x);
  const Tensor largest = kernels::max(sizes, axes);
  const Tensor parts = kernels::ratio(sizes, largest.broadcast_to(x.shape()));
  const Tensor squares = kernels::sum(kernels::mul(parts, parts), axes);
  return kernels::mul(largest, kernels::sqrt(squares));
}

}  // namespace

Var norm(const Var& x, const Indices& axes, KeepAxes keep) {
  const Reduction r = reduction("norm", x, axes, keep);
  return record({"norm", R"(\sqrt{\operatorname{sum}_{@axes}(@x^{2})})", {{"axes", r.axes}}},
      [&] {
        if (r.count() == 0) return Tensor::zeros(r.result, x.dtype());
        return euclidean(x.value(), r.axes).reshape(r.result);
      },
      {
          {"x", x,
              R"(\operatorname{broadcast}_{@axes}(@g) \odot \frac{@x}{\operatorname{broadcast}_{@axes}(@y)})",
              [r, x](const Var& g, const Var& y) {
                const Var direction = ratio(x, r.spread(y));
                return r.spread(g) * direction;
              }},
      });
}

Var logsumexp(const Var& x, const Indices& axes, KeepAxes keep) {
  const Reduction r = reduction("logsumexp", x, axes, keep);
  return record({"logsumexp", R"(\operatorname{logsumexp}_{@axes}(@x))", {{"axes", r.axes}}},
      [&] { return kernels::logsumexp(x.value(), r.axes).reshape(r.result); },
      {
          // e^(x - y) is softmax(x).
          {"x", x,
              R"(\operatorname{broadcast}_{@axes}(@g) \odot \operatorname{exp}(@x - \operatorname{broadcast}_{@axes}(@y)))",
              [r, x](const Var& g, const Var& y) {
                // Where all x are -inf, y is too; 0 stands in, and every e^x is 0.
                const Tensor nothing = Tensor::full(y.shape(), -INFINITY, y.dtype());
                const Var top = where(equal(y, nothing), 0, y);
                const Var softmax = exp(x - r.spread(top));
                return r.spread(g) * softmax;
              }},
      });
}

Var var(const Var& x, const Indices& axes, KeepAxes keep, Index correction) {
  const Reduction r = reduction("var", x, axes, keep);
  const double n = static_cast<double>(r.count()) - static_cast<double>(correction);
  return record(
      {"var",
          R"(\frac{1}{@n} \operatorname{sum}_{@axes}((@x - \operatorname{rowmean}_{@axes}(@x))^{2}))",
          {{"axes", r.axes}, {"n", n}}},
      [&] { return kernels::var(x.value(), r.axes, correction).reshape(r.result); },
      {
          {"x", x,
              R"(\frac{2}{@n} \operatorname{broadcast}_{@axes}(@g) \odot (@x - \operatorname{rowmean}_{@axes}(@x)))",
              [r, x, n](const Var& g) {
                const Var centred = x - mean(x, r.axes, KeepAxes::yes);
                return r.spread(2 / n * g) * centred;
              }},
      });
}

}  // namespace microtape
