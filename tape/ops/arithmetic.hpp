#pragma once

#include <microtape/tape/record.hpp>

// Arithmetic, element by element. Two Vars broadcast: each is first passed through broadcast_to,
// which is recorded as a node of its own. Numbers adopt the dtype of the Var.

namespace microtape {

/// a + b, broadcast. @throws ShapeError if the shapes do not broadcast; DTypeError if dtypes differ
Var add(const Var& a, const Var& b);
/// a - b, broadcast. @throws as add
Var sub(const Var& a, const Var& b);
/// a * b (elementwise), broadcast. @throws as add
Var mul(const Var& a, const Var& b);
/// a / b (elementwise), broadcast; x / 0 follows IEEE 754. @throws as add
Var div(const Var& a, const Var& b);
/// a / b, but 0 where a is 0, even if b is 0 too; broadcast. For rules with a pole: where no
/// adjoint arrives, none leaves, and no 0 / 0 either. @throws as add
Var ratio(const Var& a, const Var& b);
/// -x
Var neg(const Var& x);
/// x + c
Var add(const Var& x, double c);
/// c - x
Var sub(double c, const Var& x);
/// x / c
Var div(const Var& x, double c);
/// c / x
Var div(double c, const Var& x);

/// A number with the name that the textbook gives it: Scale{1 / std::sqrt(d),
/// R"(\frac{1}{\sqrt{d}})"}.
struct Scale {
  double value = 1;     ///< what x is multiplied by
  Literal symbol = "";  ///< LaTeX, in the subset of formulas; free names such as d are allowed
};
/// c x
Var scale(const Var& x, const Scale& c);

/// x^n for a fixed n. 0^0 is 1, and the derivative of x^0 is 0 everywhere. For n < 0, x = 0 gives
/// infinity; for fractional n, x < 0 gives NaN.
Var pow(const Var& x, double n);

/// a^b, broadcast. a^0 is 1. By a the derivative is 0 where b is 0; by b it is 0 where a is 0 and b
/// is not negative, and NaN where a is negative. Where no adjoint arrives, none leaves for a; what
/// leaves for b is NaN where its derivative is. @throws as add
Var pow(const Var& a, const Var& b);
/// c^x. At c = 0 the derivative is 0 where x is not negative; for c < 0 it is NaN.
Var pow(double c, const Var& x);

/// The larger of two, broadcast; NaN if either is. Equal ones share the adjoint, half each. What
/// was not chosen gets adjoint exactly 0, even if it is infinite. @throws as add
Var maximum(const Var& a, const Var& b);
Var maximum(const Var& x, double c);
inline Var maximum(double c, const Var& x) { return maximum(x, c); }
/// The smaller of two; otherwise as maximum.
Var minimum(const Var& a, const Var& b);
Var minimum(const Var& x, double c);
inline Var minimum(double c, const Var& x) { return minimum(x, c); }
/// x, but no less than low and no more than high. On a bound the adjoint passes; outside it is 0.
/// @throws ValueError unless low <= high
Var clamp(const Var& x, double low, double high);

/// As add().
inline Var operator+(const Var& a, const Var& b) { return add(a, b); }
inline Var operator+(const Var& x, double c) { return add(x, c); }
inline Var operator+(double c, const Var& x) { return add(x, c); }
/// As sub(), and neg(); x - c is x + (-c).
inline Var operator-(const Var& a, const Var& b) { return sub(a, b); }
inline Var operator-(const Var& x) { return neg(x); }
inline Var operator-(const Var& x, double c) { return add(x, -c); }
inline Var operator-(double c, const Var& x) { return sub(c, x); }
/// As mul(), elementwise; by a number as scale().
inline Var operator*(const Var& a, const Var& b) { return mul(a, b); }
inline Var operator*(const Var& x, double c) { return scale(x, {c}); }
inline Var operator*(double c, const Var& x) { return scale(x, {c}); }
/// As div(), elementwise.
inline Var operator/(const Var& a, const Var& b) { return div(a, b); }
inline Var operator/(const Var& x, double c) { return div(x, c); }
inline Var operator/(double c, const Var& x) { return div(c, x); }

}  // namespace microtape
