#include <microtape/tape/ops/arithmetic.hpp>

#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/tape/ops/broadcast.hpp>
#include <microtape/tape/ops/functions.hpp>
#include <microtape/tape/ops/index.hpp>

namespace microtape {

// --- two Vars ----------------------------------------------------------------------------------

Var add(const Var& a, const Var& b) {
  if (needs_broadcast(a, b)) return broadcast_pair("add", static_cast<BinaryOp>(add), a, b);
  return record({"add", "@a + @b"}, [&] { return kernels::add(a.value(), b.value()); },
      {
          {"a", a, "@g", [](const Var& g) { return g; }},
          {"b", b, "@g", [](const Var& g) { return g; }},
      });
}

Var sub(const Var& a, const Var& b) {
  if (needs_broadcast(a, b)) return broadcast_pair("sub", static_cast<BinaryOp>(sub), a, b);
  return record({"sub", "@a - @b"}, [&] { return kernels::sub(a.value(), b.value()); },
      {
          {"a", a, "@g", [](const Var& g) { return g; }},
          {"b", b, "-@g", [](const Var& g) { return neg(g); }},
      });
}

Var mul(const Var& a, const Var& b) {
  if (needs_broadcast(a, b)) return broadcast_pair("mul", static_cast<BinaryOp>(mul), a, b);
  return record({"mul", R"(@a \odot @b)"}, [&] { return kernels::mul(a.value(), b.value()); },
      {
          {"a", a, R"(@g \odot @b)", [b = Saved(b)](const Var& g) { return mul(g, b); }},
          {"b", b, R"(@g \odot @a)", [a = Saved(a)](const Var& g) { return mul(g, a); }},
      });
}

Var div(const Var& a, const Var& b) {
  if (needs_broadcast(a, b)) return broadcast_pair("div", static_cast<BinaryOp>(div), a, b);
  return record({"div", R"(\frac{@a}{@b})"}, [&] { return kernels::div(a.value(), b.value()); },
      {
          {"a", a, R"(\frac{@g}{@b})", [b](const Var& g) { return div(g, b); }},
          {"b", b, R"(-\frac{@g \odot @y}{@b})",
              [b](const Var& g, const Var& y) { return neg(div(mul(g, y), b)); }},
      });
}

Var ratio(const Var& a, const Var& b) {
  if (needs_broadcast(a, b)) return broadcast_pair("ratio", ratio, a, b);
  return record({"ratio", R"(\frac{@a}{@b})"}, [&] { return kernels::ratio(a.value(), b.value()); },
      {
          {"a", a, R"(\frac{@g}{@b})", [b](const Var& g) { return ratio(g, b); }},
          {"b", b, R"(-\frac{@g \odot @y}{@b})",
              [b](const Var& g, const Var& y) { return neg(ratio(mul(g, y), b)); }},
      });
}

// --- one Var -----------------------------------------------------------------------------------

Var neg(const Var& x) {
  return record({"neg", "-@x"}, [&] { return kernels::neg(x.value()); },
      {
          {"x", x, "-@g", [](const Var& g) { return neg(g); }},
      });
}

Var add(const Var& x, double c) {
  return record({"add", "@x + @c", {{"c", c}}}, [&] { return kernels::add(x.value(), c); },
      {
          {"x", x, "@g", [](const Var& g) { return g; }},
      });
}

Var sub(double c, const Var& x) {
  return record({"sub", "@c - @x", {{"c", c}}}, [&] { return kernels::sub(c, x.value()); },
      {
          {"x", x, "-@g", [](const Var& g) { return neg(g); }},
      });
}

Var div(const Var& x, double c) {
  return record({"div", R"(\frac{@x}{@c})", {{"c", c}}}, [&] { return kernels::div(x.value(), c); },
      {
          {"x", x, R"(\frac{@g}{@c})", [c](const Var& g) { return div(g, c); }},
      });
}

Var div(double c, const Var& x) {
  return record({"div", R"(\frac{@c}{@x})", {{"c", c}}}, [&] { return kernels::div(c, x.value()); },
      {
          {"x", x, R"(-\frac{@g \odot @y}{@x})",
              [x](const Var& g, const Var& y) { return neg(div(mul(g, y), x)); }},
      });
}

Var scale(const Var& x, const Scale& c) {
  return record({"scale", "@c @x", {{"c", c.value, c.symbol.text()}}},
      [&] { return kernels::scale(x.value(), c.value); },
      {
          {"x", x, "@c @g", [c](const Var& g) { return scale(g, c); }},
      });
}

Var pow(const Var& x, double n) {
  const Literal rule = n == 0 ? Literal("0 @g") : Literal(R"(@g \odot (@n @x^{@n - 1}))");
  return record({"pow", "@x^{@n}", {{"n", n}}}, [&] { return kernels::pow(x.value(), n); },
      {
          // x^0 is 1 everywhere, so its derivative is 0 even where x^-1 is infinite.
          {"x", x, rule,
              [x, n](const Var& g) {
                if (n == 0) return 0 * g;
                if (n < 1) return ratio(n * g, pow(x, 1 - n));  // a pole at 0
                const Var slope = n * pow(x, n - 1);
                return g * slope;
              }},
      });
}

}  // namespace microtape
