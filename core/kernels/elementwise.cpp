#include <microtape/core/kernels/elementwise.hpp>

#include <algorithm>
#include <cmath>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/kernels/dispatch.hpp>
#include <microtape/core/kernels/math.hpp>
#include <microtape/core/kernels/strided.hpp>
#include <microtape/core/parallel.hpp>

namespace microtape::kernels {
namespace {

[[noreturn]] void fail_shapes(std::string_view op, std::string_view left, const Tensor& a,
    std::string_view right, const Tensor& b) {
  throw ShapeError(cat(op, ": shapes differ: ", left, " ", a.shape(), ", ", right, " ", b.shape(),
      "; both must be the same; widen one with broadcast_to"));
}

/// f(x) of each element. f takes and gives the type of the elements.
template <class F>
Tensor map(std::string_view op, const Tensor& x, F f) {
  require_floating(op, "x", x);
  const Tensor source = x.contiguous();
  Tensor y = Tensor::uninitialized_like(source);
  with_floating_type(x.dtype(), [&]<class T>() {
    T* out = y.mutable_data<T>().data();
    const T* in = first<T>(source);
    parallel_ranges(y.size(), kParallelElements, [=](Index i, Index end) {
      for (; i < end; ++i) out[i] = f(in[i]);
    });
  });
  return y;
}

/// out[i] = f(a[i], b[i]) for a row. The steps that come up get a loop of their own, in which the
/// compiler sees that the elements lie together, or that one operand stays. Not inlined, as
/// zip_views() is not: each op would have its four loops twice.
template <class T, class F>
[[gnu::noinline]] void zip_row(
    T* out, Index n, const T* a, Index a_step, const T* b, Index b_step, F f) {
  if (a_step == 1 && b_step == 1) {
    for (Index i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
  } else if (a_step == 1 && b_step == 0) {
    const T b0 = *b;
    for (Index i = 0; i < n; ++i) out[i] = f(a[i], b0);
  } else if (a_step == 0 && b_step == 1) {
    const T a0 = *a;
    for (Index i = 0; i < n; ++i) out[i] = f(a0, b[i]);
  } else {
    for (Index i = 0; i < n; ++i) out[i] = f(a[i * a_step], b[i * b_step]);
  }
}

/// f(a, b) of each pair of elements of views, into consecutive ones.
template <class T, class F>
[[gnu::noinline]] void zip_views(T* out, const Tensor& a, const Tensor& b, F f) {
  Nest<2> nest(a.shape(), {a.strides(), b.strides()});
  const Loop<2> row = nest.pop();
  const Index grain = std::max(kParallelElements / row.extent, Index{1});
  parallel_ranges(nest.count(), grain, [&](Index from, Index end) {
    T* to = out + from * row.extent;
    nest.for_each(from, end, [&](const Steps<2>& at) {
      zip_row(
          to, row.extent, first<T>(a) + at[0], row.steps[0], first<T>(b) + at[1], row.steps[1], f);
      to += row.extent;
    });
  });
}

/// f(a, b) of each pair of elements.
template <class F>
Tensor zip(std::string_view op, const Tensor& a, const Tensor& b, F f) {
  require_same_floating(op, "a", a, "b", b);
  if (!a.has_shape_of(b)) fail_shapes(op, "a", a, "b", b);
  Tensor y = Tensor::uninitialized_like(a);
  with_floating_type(a.dtype(), [&]<class T>() {
    T* out = y.mutable_data<T>().data();
    if (!a.is_contiguous() || !b.is_contiguous()) return zip_views(out, a, b, f);
    const T* left = first<T>(a);
    const T* right = first<T>(b);
    parallel_ranges(y.size(), kParallelElements, [=](Index from, Index end) {
      zip_row(out + from, end - from, left + from, 1, right + from, 1, f);
    });
  });
  return y;
}

}  // namespace

// --- two tensors -------------------------------------------------------------------------

Tensor add(const Tensor& a, const Tensor& b) {
  return zip("add", a, b, [](auto s, auto t) { return s + t; });
}
Tensor sub(const Tensor& a, const Tensor& b) {
  return zip("sub", a, b, [](auto s, auto t) { return s - t; });
}
Tensor mul(const Tensor& a, const Tensor& b) {
  return zip("mul", a, b, [](auto s, auto t) { return s * t; });
}
Tensor div(const Tensor& a, const Tensor& b) {
  return zip("div", a, b, [](auto s, auto t) { return s / t; });
}

Tensor ratio(const Tensor& a, const Tensor& b) {
  return zip("ratio", a, b, []<class T>(T s, T t) { return s == 0 ? T{0} : s / t; });
}
Tensor maximum(const Tensor& a, const Tensor& b) {
  // Asked this way round, a NaN on either side comes through.
  return zip("maximum", a, b, [](auto s, auto t) { return s >= t || std::isnan(s) ? s : t; });
}
Tensor minimum(const Tensor& a, const Tensor& b) {
  return zip("minimum", a, b, [](auto s, auto t) { return s <= t || std::isnan(s) ? s : t; });
}
Tensor pow(const Tensor& a, const Tensor& b) {
  return zip("pow", a, b, []<class T>(T s, T t) { return static_cast<T>(std::pow(s, t)); });
}
Tensor greater(const Tensor& a, const Tensor& b) {
  return zip("greater", a, b, []<class T>(T s, T t) { return s > t ? T{1} : T{0}; }).to(int64);
}
Tensor equal(const Tensor& a, const Tensor& b) {
  return zip("equal", a, b, []<class T>(T s, T t) { return s == t ? T{1} : T{0}; }).to(int64);
}

// --- a tensor and a number ---------------------------------------------------------------

Tensor add(const Tensor& x, double c) {
  return map("add", x, [c]<class T>(T v) { return v + static_cast<T>(c); });
}
Tensor sub(double c, const Tensor& x) {
  return map("sub", x, [c]<class T>(T v) { return static_cast<T>(c) - v; });
}
Tensor scale(const Tensor& x, double c) {
  return map("scale", x, [c]<class T>(T v) { return static_cast<T>(c) * v; });
}
Tensor div(const Tensor& x, double c) {
  return map("div", x, [c]<class T>(T v) { return v / static_cast<T>(c); });
}
Tensor div(double c, const Tensor& x) {
  return map("div", x, [c]<class T>(T v) { return static_cast<T>(c) / v; });
}

Tensor pow(const Tensor& x, double n) {
  // The exponents of daily use, by multiplication: within 1.5 ulp of std::pow.
  if (n == 0) return map("pow", x, []<class T>(T) { return T{1}; });
  if (n == 1) return map("pow", x, [](auto v) { return v; });
  if (n == 2) return map("pow", x, [](auto v) { return v * v; });
  if (n == 3) return map("pow", x, [](auto v) { return v * v * v; });
  if (n == -1) return map("pow", x, [](auto v) { return 1 / v; });
  // A float goes through double: an n of many digits, or a large odd one, has no float.
  return map("pow", x, [n]<class T>(T v) { return static_cast<T>(std::pow(double{v}, n)); });
}

// --- one tensor --------------------------------------------------------------------------

Tensor neg(const Tensor& x) {
  return map("neg", x, [](auto v) { return -v; });
}
Tensor expm1(const Tensor& x) {
  return map("expm1", x, [](auto v) { return std::expm1(v); });
}
Tensor log1p(const Tensor& x) {
  return map("log1p", x, [](auto v) { return std::log1p(v); });
}
Tensor softplus(const Tensor& x) {
  // max(x, 0) + ln(1 + e^-|x|); a NaN comes through the second term.
  return map("softplus", x,
      []<class T>(T v) { return (v > 0 ? v : T{0}) + std::log1p(math::exp(-std::abs(v))); });
}
Tensor exp(const Tensor& x) {
  return map("exp", x, [](auto v) { return math::exp(v); });
}
Tensor log(const Tensor& x) {
  return map("log", x, [](auto v) { return std::log(v); });
}
Tensor sqrt(const Tensor& x) {
  return map("sqrt", x, [](auto v) { return std::sqrt(v); });
}
Tensor sin(const Tensor& x) {
  return map("sin", x, [](auto v) { return std::sin(v); });
}
Tensor cos(const Tensor& x) {
  return map("cos", x, [](auto v) { return std::cos(v); });
}
Tensor tanh(const Tensor& x) {
  return map("tanh", x, [](auto v) { return math::tanh(v); });
}
Tensor sigmoid(const Tensor& x) {
  return map("sigmoid", x, [](auto v) { return math::sigmoid(v); });
}
Tensor erf(const Tensor& x) {
  return map("erf", x, [](auto v) { return math::erf(v); });
}
Tensor abs(const Tensor& x) {
  return map("abs", x, [](auto v) { return std::abs(v); });
}
Tensor sign(const Tensor& x) {
  // A zero, and a NaN, is its own sign.
  return map("sign", x, []<class T>(T v) { return v > 0 ? T{1} : v < 0 ? T{-1} : v; });
}
Tensor relu(const Tensor& x) {
  // Asked this way round, a NaN stays.
  return map("relu", x, []<class T>(T v) { return v <= 0 ? T{0} : v; });
}
Tensor step(const Tensor& x) {
  return map("step", x, []<class T>(T v) { return v > 0 ? T{1} : T{0}; });
}
Tensor silu(const Tensor& x) {
  return map("silu", x, [](auto v) { return math::gated(v, math::sigmoid(v)); });
}
Tensor gelu(const Tensor& x) {
  return map("gelu", x, [](auto v) { return math::gated(v, math::normal_cdf(v)); });
}
Tensor gelu_tanh(const Tensor& x) {
  // (1 + tanh u) / 2 is sigmoid(2u), which does not cancel in the left tail.
  return map("gelu_tanh", x, []<class T>(T v) {
    constexpr T kTwoSqrtTwoOverPi = static_cast<T>(1.5957691216057307118);
    const T u2 = kTwoSqrtTwoOverPi * (v + static_cast<T>(0.044715) * v * v * v);
    return math::gated(v, math::sigmoid(u2));
  });
}

// --- a choice ----------------------------------------------------------------------------

Tensor where(const Tensor& mask, const Tensor& a, const Tensor& b) {
  if (mask.dtype() != int64)
    throw DTypeError(cat("where: needs an int64 mask: mask ", mask.dtype(), " ", mask.shape(),
        "; convert it with to(int64)"));
  require_same_floating("where", "a", a, "b", b);
  if (!a.has_shape_of(b)) fail_shapes("where", "a", a, "b", b);
  if (!mask.has_shape_of(a)) fail_shapes("where", "mask", mask, "a", a);
  Tensor y = Tensor::uninitialized_like(a);
  with_floating_type(a.dtype(), [&]<class T>() {
    T* out = y.mutable_data<T>().data();
    Nest<3> nest(a.shape(), {mask.strides(), a.strides(), b.strides()});
    const Loop<3> row = nest.pop();
    nest.for_each([&](const Steps<3>& at) {
      const std::int64_t* chooses = first<std::int64_t>(mask) + at[0];
      const T* left = first<T>(a) + at[1];
      const T* right = first<T>(b) + at[2];
      for (Index i = 0; i < row.extent; ++i)
        out[i] = chooses[i * row.steps[0]] != 0 ? left[i * row.steps[1]] : right[i * row.steps[2]];
      out += row.extent;
    });
  });
  return y;
}

}  // namespace microtape::kernels
