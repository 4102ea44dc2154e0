// Ops of arithmetic.hpp whose rules choose: powers of two Vars, the larger or smaller of two,
// clamp.

#include <microtape/core/format.hpp>
#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/tape/ops/arithmetic.hpp>
#include <microtape/tape/ops/broadcast.hpp>
#include <microtape/tape/ops/functions.hpp>
#include <microtape/tape/ops/index.hpp>

namespace microtape {
namespace {

/// g where a > b, half of it where a = b, else 0.
Var winners_share(const Var& g, const Var& a, const Var& b) {
  const Var half = where(equal(a, b), 0.5 * g, 0);
  return where(greater(a, b), g, half);
}

}  // namespace

Var pow(const Var& a, const Var& b) {
  if (needs_broadcast(a, b)) return broadcast_pair("pow", static_cast<BinaryOp>(pow), a, b);
  return record({"pow", "@a^{@b}"}, [&] { return kernels::pow(a.value(), b.value()); },
      {
          // g b a^(b - 1), written so that a pole at a = 0 lies in the divisor.
          {"a", a, R"(\frac{@g \odot @b}{@a^{1 - @b}})",
              [a, b](const Var& g) {
                const Var gb = g * b;
                return ratio(gb, pow(a, 1 - b));
              }},
          // At a = 0 a base of 1 stands in, whose logarithm is 0 like the derivative.
          {"b", b, R"(@g \odot @y \odot \operatorname{ln}(\operatorname{where}([@a = 0], 1, @a)))",
              [a](const Var& g, const Var& y) {
                const Var base = where(equal(a, full_like(a, 0)), 1, a);
                const Var gy = g * y;
                return gy * log(base);
              }},
      });
}

Var pow(double c, const Var& x) { return pow(Var(full_like(x, c)), x); }

Var maximum(const Var& a, const Var& b) {
  if (needs_broadcast(a, b)) return broadcast_pair("maximum", static_cast<BinaryOp>(maximum), a, b);
  return record({"maximum", R"(\operatorname{where}([@a > @b], @a, @b))"},
      [&] { return kernels::maximum(a.value(), b.value()); },
      {
          {"a", a,
              R"(\operatorname{where}([@a > @b], @g, \operatorname{where}([@a = @b], \frac{1}{2} @g, 0)))",
              [a, b](const Var& g) { return winners_share(g, a, b); }},
          {"b", b,
              R"(\operatorname{where}([@b > @a], @g, \operatorname{where}([@b = @a], \frac{1}{2} @g, 0)))",
              [a, b](const Var& g) { return winners_share(g, b, a); }},
      });
}

Var minimum(const Var& a, const Var& b) {
  if (needs_broadcast(a, b)) return broadcast_pair("minimum", static_cast<BinaryOp>(minimum), a, b);
  return record({"minimum", R"(\operatorname{where}([@b > @a], @a, @b))"},
      [&] { return kernels::minimum(a.value(), b.value()); },
      {
          {"a", a,
              R"(\operatorname{where}([@b > @a], @g, \operatorname{where}([@a = @b], \frac{1}{2} @g, 0)))",
              [a, b](const Var& g) { return winners_share(g, b, a); }},
          {"b", b,
              R"(\operatorname{where}([@a > @b], @g, \operatorname{where}([@b = @a], \frac{1}{2} @g, 0)))",
              [a, b](const Var& g) { return winners_share(g, a, b); }},
      });
}

Var maximum(const Var& x, double c) { return maximum(x, Var(full_like(x, c))); }
Var minimum(const Var& x, double c) { return minimum(x, Var(full_like(x, c))); }

Var clamp(const Var& x, double low, double high) {
  if (!(low <= high))
    in_scope_of(x, [&]() -> int {
      throw ValueError(cat(
          "clamp: the bounds are out of order: low ", low, ", high ", high, "; needs low <= high"));
    });
  return record(
      {"clamp", R"(\operatorname{clamp}(@x, @low, @high))", {{"low", low}, {"high", high}}},
      [&] {
        const Tensor& v = x.value();
        return kernels::minimum(kernels::maximum(v, full_like(x, low)), full_like(x, high));
      },
      {
          // x is its own clamp exactly where it is within the bounds.
          {"x", x,
              R"(\operatorname{where}([@x > @high], 0, \operatorname{where}([@low > @x], 0, @g)))",
              [x](const Var& g, const Var& y) { return where(equal(x, y), g, 0); }},
      });
}

}  // namespace microtape
