#pragma once

#include <string>

#include <microtape/tape/function_ref.hpp>
#include <microtape/tape/micro_tape.hpp>
#include <microtape/tape/view/formula.hpp>

// The recorded formulas of a node, with names and numbers in place of the slots.

namespace microtape {

/// How nodes are called in an equation: as the user named them (#12 if not), or #12 always, which
/// is unique. The adjoint of either has a d before it.
enum class NodeNames : std::uint8_t { given, numbers };

/// "S", or "#12" for a node without a name. A control character in a name, which would break the
/// line, is a space.
std::string node_name(const MicroTape& tape, NodeId id, NodeNames names = NodeNames::given);

/// The name of a node as a formula, which knows the shape of its value.
/// @param before  stands before the name: "d" for its adjoint
Formula node_formula(const MicroTape& tape, NodeId id, NodeNames names = NodeNames::given,
    std::string_view before = "");

/// The right side of y = ..: `Q K^T / sqrt(d)`.
/// @throws ValueError if the formula or the symbol of an attribute lies outside the subset, or
///         names what the node does not have
Formula forward_equation(const MicroTape& tape, NodeId id, NodeNames names = NodeNames::given);
/// The right side of (adjoint of the input) = ..: `dS K / sqrt(d)`.
/// @throws ValueError as above
Formula rule_equation(
    const MicroTape& tape, NodeId id, const Edge& edge, NodeNames names = NodeNames::given);

/// What an equation has for a node: a name, or what the node was computed from.
using NodeFormula = FunctionRef<Formula(NodeId)>;

/// The same with formulas of the caller's choice for nodes. They are asked for only where the
/// recorded formula names them.
/// @param value  of the inputs
Formula forward_equation(const MicroTape& tape, NodeId id, NodeFormula value);
/// The same for a rule.
/// @param value    of the inputs, and of y
/// @param adjoint  of the node itself: g
Formula rule_equation(
    const MicroTape& tape, NodeId id, const Edge& edge, NodeFormula value, NodeFormula adjoint);

/// The equations as text; where there is no formula, or it cannot be read: `op(a, b)`.
std::string forward_text(const MicroTape& tape, NodeId id);
/// As above; empty if there is no formula.
std::string rule_text(const MicroTape& tape, NodeId id, const Edge& edge);

}  // namespace microtape
