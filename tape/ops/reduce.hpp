#pragma once

#include <microtape/tape/record.hpp>

// Reductions over some axes; an empty list of axes means all of them.
// Each throws IndexError if an axis does not exist, ValueError if one is named twice.

namespace microtape {

/// Whether a reduced axis stays, with extent 1.
enum class KeepAxes : std::uint8_t { no, yes };

/// Sum. x [.., n, ..] -> [.., ..]; an empty sum is 0.
Var sum(const Var& x, const Indices& axes = {}, KeepAxes keep = KeepAxes::no);
/// Mean. x [.., n, ..] -> [.., ..]; NaN over zero elements.
Var mean(const Var& x, const Indices& axes = {}, KeepAxes keep = KeepAxes::no);
// The names max and min stand in parentheses because windows.h has macros of these names.

/// Largest element. Equal largest ones share the adjoint in equal parts, which sum to 1.
/// @throws ValueError if it is over zero elements
Var(max)(const Var& x, const Indices& axes = {}, KeepAxes keep = KeepAxes::no);
/// Smallest element; otherwise as max.
Var(min)(const Var& x, const Indices& axes = {}, KeepAxes keep = KeepAxes::no);
/// The Euclidean norm: the square root of the sum of squares. At 0, where no derivative exists, the
/// adjoint is 0.
Var norm(const Var& x, const Indices& axes = {}, KeepAxes keep = KeepAxes::no);
/// ln of the sum of e^x, shifted by the maximum, so that no finite x overflows.
/// @throws ValueError if it is over zero elements
Var logsumexp(const Var& x, const Indices& axes = {}, KeepAxes keep = KeepAxes::no);
/// Variance: the sum of (x - mean)^2 over n - correction.
/// @param correction  0 for the variance of these numbers; 1 to estimate that of a population
/// @throws ValueError unless n > correction
Var var(const Var& x, const Indices& axes = {}, KeepAxes keep = KeepAxes::no, Index correction = 0);

}  // namespace microtape
