// Loops over rows of floats, compiled with -ffast-math. They have a file of their own, because the
// check of the gradients must see a NaN.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "ideal_matrix.hpp"

namespace ideal {
namespace {

/// e^x for x <= 0, within 4e-6 of itself down to x = -87; below it stays e^-87.
float exp(float x) {
  // x / ln 2 = n + f, e^x = 2^n 2^f, and the Taylor series of 2^f = e^(f ln 2)
  const float t = std::max(x, -87.f) * 1.44269504f;
  const float n = std::nearbyint(t), f = t - n;
  float p = 1.5403530e-4f;
  for (const float c :
      {1.3333558e-3f, 9.6181291e-3f, 5.5504109e-2f, 2.4022651e-1f, 6.9314718e-1f, 1.f})
    p = p * f + c;
  return p * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

/// n, a multiple of 16 as T is in all shapes: so the compiler knows that it needs no loop for a
/// rest.
Index whole(Index n) { return n / 16 * 16; }

}  // namespace

void sum_rows(const Matrix& x, float* out) {
  std::fill_n(out, x.columns, 0.f);
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.columns; ++j) out[j] += x.row(i)[j];
}

void softmax(float* s, Index n) {
  float top = s[0], sum = 0;
  for (Index j = 0; j < whole(n); ++j) top = std::max(top, s[j]);
  for (Index j = 0; j < whole(n); ++j) sum += s[j] = exp(s[j] - top);
  const float share = 1 / sum;
  for (Index j = 0; j < whole(n); ++j) s[j] *= share;
}

void softmax_pullback(float* g, const float* p, Index n) {
  float dot = 0;
  for (Index j = 0; j < whole(n); ++j) dot += g[j] * p[j];
  for (Index j = 0; j < whole(n); ++j) g[j] = p[j] * (g[j] - dot);
}

}  // namespace ideal
