#include <microtape/tape/view/stepper.hpp>

#include <algorithm>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/view/array.hpp>
#include <microtape/tape/view/equation.hpp>
#include <microtape/tape/view/numbers.hpp>
#include <microtape/tape/view/utf8.hpp>

// What a step of a Stepper looks like.

namespace microtape {
namespace {

constexpr std::size_t kWidth = 80;
constexpr Index kMostDerivatives = 256;  ///< numbers of a Jacobian that are shown
constexpr Index kMostColumns = 16;

/// A value in one line, [[1 2] [3 4]]; nothing if there are too many numbers.
std::string in_one_line(const Tensor& x) {
  if (x.size() == 0 || x.size() > kMostNumbers) return "";
  std::string out;
  for (const std::string& line : number_lines(x, 10 * kWidth))
    for (const char c : line + " ")
      if (c != ' ' || (!out.empty() && out.back() != ' ' && out.back() != '[')) out += c;
  out.pop_back();
  return out;
}

/// `head` and a value behind it, the further lines of the value below its first.
std::string beside(const std::string& head, const std::vector<std::string>& lines) {
  const std::size_t width = utf8::display_width(head);
  std::string out;
  for (const std::string& line : lines)
    out += cat(out.empty() ? head : std::string(width, ' '), line, "\n");
  return out;
}

/// A value in lines, right of what has `used` columns.
std::vector<std::string> lines_of(const Tensor& value, std::size_t used) {
  return number_lines(value, std::max<std::size_t>(kWidth - std::min(used, kWidth), 20));
}

/// The rule as an equation, or in words if it has no formula.
std::string rule_of(const MicroTape& tape, NodeId id, const Edge& edge) {
  const std::string text = rule_text(tape, id, edge);
  return text.empty() ? cat("the rule of ", edge.name()) : text;
}

/// The formula with numbers in place of nodes, as far as `value_of` (a node's text, such as "#3" or
/// "d#3") has them, and of symbols.
template <class ValueOf>
Formula with_numbers(Formula f, const ValueOf& value_of) {
  if (f.kind == Formula::Kind::name) return value_of(f.text);
  if (f.value && f.kind != Formula::Kind::list) return number_formula(*f.value);
  for (Formula& child : f.children) child = with_numbers(child, value_of);
  return f;
}

/// [numbers of y, numbers of the input]: row i is what the rules make of the adjoint that is 1 at
/// number i and 0 elsewhere.
Tensor jacobian_of(const Var& y, NodeId input, Index columns) {
  std::vector<double> numbers;
  for (Index i = 0; i < y.size(); ++i) {
    std::vector<double> unit(static_cast<std::size_t>(y.size()));
    unit[static_cast<std::size_t>(i)] = 1;
    Sweep sweep(y, Tensor::of(y.shape(), unit, y.dtype()));
    sweep.step();
    const Array row = to_array(sweep.adjoint(input).value());
    numbers.insert(numbers.end(), row.values.begin(), row.values.end());
  }
  return Tensor::of({y.size(), columns}, numbers, float64);
}

}  // namespace

std::string Stepper::bold(const std::string& line) const {
  const std::string cut = utf8::shortened(line, kWidth);
  return colour_ == Colour::yes ? cat("\x1b[1m", cut, "\x1b[0m") : cut;
}

/// `S = [[1 2]` and the lines below it.
std::string Stepper::named(
    const std::string& name, const Tensor& value, std::string_view indent) const {
  const std::string head = cat(indent, name, " = ");
  return beside(head, lines_of(value, utf8::display_width(head)));
}

std::string Stepper::show() const {
  std::string out;
  if (position_ == 0)
    out = cat(forward_count_, " steps forward, ", backward_count_,
        " back. Enter takes the next one, `help` tells the rest.\n");
  else
    out = position_ <= forward_count_ ? show_forward() : show_backward();
  if (!watched_.empty()) out += "  watched:\n";
  for (const std::string& word : watched_) out += print(find(word));
  return out;
}

std::string Stepper::show_forward() const {
  const NodeId id = current_node();
  const Node& node = tape_->node(id);
  const std::string name = node_name(*tape_, id);
  const bool is_op = node.kind() == NodeKind::op;
  std::string out = bold(cat("Step ", position_, " of ", size(), ", forward: ", name,
                        is_op ? cat(" = ", forward_text(*tape_, id)) : cat(", a ", node.op()))) +
                    "\n";
  const std::string scope = tape_->scope_path(node.scope());
  out += cat("  node #", id, ", ", node.op(), ", shape ", node.shape(), ", ", node.dtype(),
      scope.empty() ? "" : cat(", in ", utf8::printable(scope)), "\n");
  // Each input once, then the value.
  std::vector<NodeId> shown;
  for (const Edge& edge : node.edges()) {
    if (std::find(shown.begin(), shown.end(), edge.input()) != shown.end()) continue;
    shown.push_back(edge.input());
    out += named(node_name(*tape_, edge.input()), tape_->node(edge.input()).value(), "  from ");
  }
  return out + named(name, node.value(), "  ");
}

std::string Stepper::show_backward() const {
  const NodeId id = current_node();
  const std::string name = node_name(*tape_, id);
  std::string out = bold(cat("Step ", position_, " of ", size(), ", backward: from d", name,
                        " through ", name, " = ", forward_text(*tape_, id))) +
                    "\n";
  out += named("d" + name, last_.adjoint.value(), "  from ");
  for (const Sweep::Contribution& part : last_.contributions) {
    const std::string adjoint = cat("d", node_name(*tape_, part.edge->input()));
    const bool is_first = !part.before.defined();
    out += cat("  ", adjoint, is_first ? " = " : " += ", rule_of(*tape_, id, *part.edge),
        part.complete ? "  (complete)\n" : "  (more will come)\n");
    const std::string below(utf8::display_width(adjoint) + 2, ' ');
    if (!is_first) {
      out += beside(below + " was ", lines_of(part.before.value(), below.size() + 5));
      out += beside(below + " add ", lines_of(part.value.value(), below.size() + 5));
    }
    out += beside(
        below + (is_first ? " = " : " sum "), lines_of(part.after.value(), below.size() + 5));
  }
  return out;
}

std::string Stepper::print(const Target& target) const {
  const std::string name = node_name(*tape_, target.node);
  if (!target.is_adjoint) {
    if (position_ <= target.node)
      return cat("  ", name, " is computed in step ", target.node + 1, ".\n");
    return named(name, tape_->node(target.node).value(), "  ");
  }
  const std::size_t complete = complete_[target.node];
  if (complete == 0) return cat("  d", name, ": no adjoint ever reaches ", name, ".\n");
  const Var adjoint = position_ >= forward_count_ ? sweep_.adjoint(target.node) : Var();
  if (!adjoint.defined())
    return cat("  d", name, " is not there yet; it is complete in step ", complete, ".\n");
  const std::string state =
      position_ >= complete ? "" : cat("  (it gets more until step ", complete, ")\n");
  return named("d" + name, adjoint.value(), "  ") + state;
}

/// `Q K^T / sqrt(d)`, with what stands on the tape in place of the names.
std::string Stepper::equation_with_numbers(NodeId id, const Edge* edge) const {
  const Formula f = edge ? rule_equation(*tape_, id, *edge, NodeNames::numbers)
                         : forward_equation(*tape_, id, NodeNames::numbers);
  const auto value_of = [&](const std::string& text) {
    const bool is_adjoint = text[0] == 'd';
    const auto node = find(text).node;
    const Tensor& value = is_adjoint ? last_.adjoint.value() : tape_->node(node).value();
    const std::string numbers = in_one_line(value);
    if (value.size() == 1) return number_formula(value.item());
    return name_formula(
        numbers.empty() ? cat(is_adjoint ? "d" : "", node_name(*tape_, node)) : numbers);
  };
  return to_text(with_numbers(f, value_of));
}

std::string Stepper::rule() const {
  const NodeId id = current_node();
  const Node& node = tape_->node(id);
  if (node.kind() != NodeKind::op)
    return cat("  ", node_name(*tape_, id), " is a ", node.op(), "; no op computed it.\n");
  std::string out;
  const auto add = [&](const std::string& left, const std::string& equation, const Edge* edge,
                       const Tensor& result) {
    out += cat("  ", left, " = ", equation, "\n");
    try {
      out += beside("    = ", utf8::wrapped(equation_with_numbers(id, edge), kWidth - 6));
    } catch (const Error&) {
      // There is no formula to put numbers into.
    }
    out += beside("    = ", lines_of(result, 6));
  };
  if (position_ <= forward_count_) {
    add(node_name(*tape_, id), forward_text(*tape_, id), nullptr, node.value());
    return out;
  }
  for (const Sweep::Contribution& part : last_.contributions)
    add(cat(part.before.defined() ? "added to d" : "d", node_name(*tape_, part.edge->input())),
        rule_of(*tape_, id, *part.edge), part.edge, part.value.value());
  return out;
}

std::string Stepper::jacobian(std::string_view word) const {
  const NodeId id = word.empty() ? current_node() : find(word).node;
  const Node& node = tape_->node(id);
  const std::string name = node_name(*tape_, id);
  if (!node.is_active() || node.kind() != NodeKind::op)
    return cat("  ", name, " is a ", node.kind() == NodeKind::op ? "constant" : node.op(),
        "; it has no derivatives by inputs.\n");
  const Index rows = node.shape().size();
  std::string out;
  std::vector<NodeId> shown;  // an input that stands twice has one derivative
  for (const Edge& edge : node.edges()) {
    const NodeId input = edge.input();
    if (!edge.is_active() || std::find(shown.begin(), shown.end(), input) != shown.end()) continue;
    shown.push_back(input);
    const Index columns = tape_->node(input).shape().size();
    const std::string title = cat("  the derivatives of ", name, " by ", node_name(*tape_, input),
        ", [", rows, ", ", columns, "]");
    if (rows * columns > kMostDerivatives || columns > kMostColumns)
      out += cat(title, ": too many to show\n");
    else
      out += cat(title, ":\n",
          beside("    ", number_lines(jacobian_of(tape_->var(id), input, columns), kWidth - 4,
                             kMostDerivatives)));
  }
  return out;
}

std::string Stepper::list() const {
  std::string out;
  const auto add = [&](std::size_t step, const std::string& text) {
    const std::string line = cat(step == position_ ? "* " : "  ", step, "  ", text);
    out += cat(step == position_ ? bold(line) : utf8::shortened(line, kWidth), "\n");
  };
  for (NodeId id = 0; id < forward_count_; ++id) {
    const Node& node = tape_->node(id);
    const std::string name = node_name(*tape_, id);
    add(id + std::size_t{1}, node.kind() == NodeKind::op
                                 ? cat(name, " = ", forward_text(*tape_, id))
                                 : cat(name, ", a ", node.op()));
  }
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Node& node = tape_->node(order_[i]);
    std::string text;
    for (const Edge& edge : node.edges())
      if (edge.is_active())
        text += cat(text.empty() ? "" : ", ", "d", node_name(*tape_, edge.input()),
            " += ", rule_of(*tape_, order_[i], edge));
    add(forward_count_ + i + 1, text);
  }
  return out;
}

}  // namespace microtape
