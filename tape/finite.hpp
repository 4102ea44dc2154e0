#pragma once

// Internal: what a Check::finite tape checks.

#include <microtape/tape/record.hpp>

namespace microtape::finite {

/// @throws ValueError if the value, just computed by op, has a NaN, or an infinity though no input
///         or attribute has one; or if a plain input has a NaN
void check_made(const Op& op, const Tensor& value, std::span<const Input> inputs);

/// @throws ValueError if a leaf or parameter has a NaN or an infinity, or a constant has a NaN
void check_source(std::string_view op, NodeKind kind, std::string_view name, const Tensor& value);

/// @param adjoint  of the input of edge, computed from finite adjoints
/// @throws ValueError if it has a NaN or an infinity
void check_adjoint(
    const MicroTape& tape, const Node& node, const Edge& edge, const Tensor& adjoint);

/// @throws ValueError if the adjoint that a sweep starts from has a NaN or an infinity
void check_seed(const Tensor& seed);

}  // namespace microtape::finite
