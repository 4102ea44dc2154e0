#include <microtape/tape/ops/functions.hpp>

#include <cmath>
#include <numbers>

#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/tape/ops/arithmetic.hpp>

namespace microtape {

Var exp(const Var& x) {
  return record({"exp", R"(\operatorname{exp}(@x))"}, [&] { return kernels::exp(x.value()); },
      {
          {"x", x, R"(@g \odot @y)", [](const Var& g, const Var& y) { return g * y; }},
      });
}

Var expm1(const Var& x) {
  return record({"expm1", R"(\operatorname{exp}(@x) - 1)"},
      [&] { return kernels::expm1(x.value()); },
      {
          {"x", x, R"(@g \odot (@y + 1))", [](const Var& g, const Var& y) { return g * (y + 1); }},
      });
}

Var log1p(const Var& x) {
  return record({"log1p", R"(\operatorname{ln}(1 + @x))"},
      [&] { return kernels::log1p(x.value()); },
      {
          {"x", x, R"(\frac{@g}{1 + @x})", [x](const Var& g) { return ratio(g, 1 + x); }},
      });
}

Var log(const Var& x) {
  return record({"log", R"(\operatorname{ln}(@x))"}, [&] { return kernels::log(x.value()); },
      {
          {"x", x, R"(\frac{@g}{@x})", [x](const Var& g) { return ratio(g, x); }},
      });
}

Var sqrt(const Var& x) {
  return record({"sqrt", R"(\sqrt{@x})"}, [&] { return kernels::sqrt(x.value()); },
      {
          {"x", x, R"(\frac{@g}{2 @y})",
              [](const Var& g, const Var& y) { return ratio(g, 2 * y); }},
      });
}

Var rsqrt(const Var& x) {
  return record({"rsqrt", R"(\frac{1}{\sqrt{@x}})"},
      [&] { return kernels::div(1, kernels::sqrt(x.value())); },
      {
          {"x", x, R"(-\frac{1}{2} @g \odot @y^{3})",
              [](const Var& g, const Var& y) {
                const Var cube = y * y * y;
                return -0.5 * g * cube;
              }},
      });
}

Var square(const Var& x) {
  return record({"square", "@x^{2}"}, [&] { return kernels::mul(x.value(), x.value()); },
      {
          {"x", x, R"(2 @g \odot @x)", [x](const Var& g) { return 2 * g * x; }},
      });
}

Var reciprocal(const Var& x) {
  return record({"reciprocal", R"(\frac{1}{@x})"}, [&] { return kernels::div(1, x.value()); },
      {
          {"x", x, R"(-@g \odot @y^{2})",
              [](const Var& g, const Var& y) { return -(g * (y * y)); }},
      });
}

Var softplus(const Var& x) {
  return record({"softplus", R"(\operatorname{ln}(1 + \operatorname{exp}(@x)))"},
      [&] { return kernels::softplus(x.value()); },
      {
          {"x", x, R"(@g \odot \operatorname{sigmoid}(@x))",
              [x](const Var& g) { return g * sigmoid(x); }},
      });
}

Var sin(const Var& x) {
  return record({"sin", R"(\operatorname{sin}(@x))"}, [&] { return kernels::sin(x.value()); },
      {
          {"x", x, R"(@g \odot \operatorname{cos}(@x))", [x](const Var& g) { return g * cos(x); }},
      });
}

Var cos(const Var& x) {
  return record({"cos", R"(\operatorname{cos}(@x))"}, [&] { return kernels::cos(x.value()); },
      {
          {"x", x, R"(-@g \odot \operatorname{sin}(@x))",
              [x](const Var& g) { return -(g * sin(x)); }},
      });
}

Var tanh(const Var& x) {
  return record({"tanh", R"(\operatorname{tanh}(@x))"}, [&] { return kernels::tanh(x.value()); },
      {
          {"x", x, R"(@g \odot (1 - @y^{2}))",
              [](const Var& g, const Var& y) { return g * (1 - y * y); }},
      });
}

Var sigmoid(const Var& x) {
  return record({"sigmoid", R"(\operatorname{sigmoid}(@x))"},
      [&] { return kernels::sigmoid(x.value()); },
      {
          {"x", x, R"(@g \odot @y \odot (1 - @y))",
              [](const Var& g, const Var& y) {
                const Var gy = g * y;
                return gy * (1 - y);
              }},
      });
}

Var erf(const Var& x) {
  return record({"erf", R"(\operatorname{erf}(@x))"}, [&] { return kernels::erf(x.value()); },
      {
          {"x", x, R"(\frac{2}{\sqrt{\pi}} @g \odot \operatorname{exp}(-@x^{2}))",
              [x](const Var& g) {
                const Var bell = exp(-(x * x));
                return 2 * std::numbers::inv_sqrtpi * g * bell;
              }},
      });
}

Var abs(const Var& x) {
  return record({"abs", R"(\operatorname{abs}(@x))"}, [&] { return kernels::abs(x.value()); },
      {
          {"x", x, R"(@g \odot \operatorname{sign}(@x))",
              [x](const Var& g) { return g * sign(x); }},
      });
}

Var sign(const Var& x) {
  return record(
      {"sign", R"(\operatorname{sign}(@x))"}, [&] { return kernels::sign(x.value()); }, {{"x", x}});
}

Var relu(const Var& x) {
  return record({"relu", R"(\operatorname{relu}(@x))"}, [&] { return kernels::relu(x.value()); },
      {
          {"x", x, R"(@g \odot [@x > 0])", [x](const Var& g) { return g * step(x); }},
      });
}

Var step(const Var& x) {
  return record({"step", "[@x > 0]"}, [&] { return kernels::step(x.value()); }, {{"x", x}});
}

Var silu(const Var& x) {
  return record({"silu", R"(@x \odot \operatorname{sigmoid}(@x))"},
      [&] { return kernels::silu(x.value()); },
      {
          {"x", x,
              R"(@g \odot \operatorname{sigmoid}(@x) \odot (1 + @x \odot (1 - \operatorname{sigmoid}(@x))))",
              [x](const Var& g) {
                const Var s = sigmoid(x);
                const Var slope = 1 + x * (1 - s);
                return g * s * slope;
              }},
      });
}

namespace {

Var gelu_exact(const Var& x) {
  // The derivative is Phi(x) + x phi(x): the distribution function and its density.
  return record({"gelu", R"(@x \odot \operatorname{Phi}(@x))"},
      [&] { return kernels::gelu(x.value()); },
      {
          {"x", x, R"(@g \odot (\operatorname{Phi}(@x) + @x \odot \operatorname{phi}(@x)))",
              [x](const Var& g) {
                const Var Phi = 0.5 * (1 + erf(x / std::numbers::sqrt2));
                const Var phi =
                    std::numbers::inv_sqrtpi / std::numbers::sqrt2 * exp(-0.5 * (x * x));
                return g * (Phi + x * phi);
              }},
      });
}

Var gelu_by_tanh(const Var& x) {
  static constexpr double kCubic = 0.044715;
  return record(
      {"gelu_tanh",
          R"(\frac{1}{2} @x \odot (1 + \operatorname{tanh}(\sqrt{\frac{2}{\pi}} (@x + 0.044715 @x^{3}))))"},
      [&] { return kernels::gelu_tanh(x.value()); },
      {
          {"x", x,
              R"(\frac{1}{2} @g \odot (1 + \operatorname{tanh}(\sqrt{\frac{2}{\pi}} (@x + 0.044715 @x^{3})))"
              R"( + @x \odot (1 - \operatorname{tanh}(\sqrt{\frac{2}{\pi}} (@x + 0.044715 @x^{3}))^{2}))"
              R"( \odot (\sqrt{\frac{2}{\pi}} (1 + 0.134145 @x^{2}))))",
              [x](const Var& g) {
                const double slope = std::sqrt(2 * std::numbers::inv_pi);
                const Var t = tanh(slope * (x + kCubic * (x * x * x)));
                const Var inner = slope * (1 + 3 * kCubic * (x * x));
                const Var bend = x * (1 - t * t) * inner;
                const Var total = 1 + t + bend;
                return 0.5 * g * total;
              }},
      });
}

}  // namespace

Var gelu(const Var& x, Gelu form) { return form == Gelu::exact ? gelu_exact(x) : gelu_by_tanh(x); }

}  // namespace microtape
