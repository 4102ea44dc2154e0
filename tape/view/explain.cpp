#include <microtape/tape/view/explain.hpp>

#include <algorithm>
#include <cmath>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/view/explain_words.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

using words::called;
using words::digits;
using words::short_name;

constexpr std::size_t kWidth = 80;
constexpr std::size_t kMostNamed = 3;
constexpr std::string_view kMakeLeaf =
    "To have one it must be a leaf: tape.leaf(), or tape.watch() for a parameter.";

// --- where nothing flows -------------------------------------------------------------------------

/// Where adjoints end: an input of a node that carries none back.
struct End {
  NodeId node;
  const Edge* edge;
};

/// The ends among the nodes that y is made of, going back from y.
/// @param counts  whether an end counts that cuts off this node
std::vector<End> ends_before(const MicroTape& tape, NodeId y, FunctionRef<bool(NodeId)> counts) {
  std::vector<End> out;
  std::vector<bool> is_of_y(y + 1);
  is_of_y[y] = true;
  for (NodeId id = y + 1; id-- > 0;) {
    if (!is_of_y[id]) continue;
    for (const Edge& edge : tape.node(id).edges()) {
      is_of_y[edge.input()] = true;
      if (!edge.is_active() && counts(edge.input())) out.push_back({id, &edge});
    }
  }
  return out;
}

/// "detach #4 in block, which passes no adjoint back to its input x"
std::string ends_text(const MicroTape& tape, const std::vector<End>& ends) {
  const End& end = ends.front();
  return cat(called(tape, end.node), ", which passes no adjoint back to its input ",
      end.edge->name(),
      ends.size() == 1 ? "" : cat(", and ", ends.size() - 1, " more of that kind"));
}

/// Why x, which no leaf reaches, has no adjoint, and what to do.
std::string inactive_text(const MicroTape& tape, NodeId x) {
  if (tape.node(x).kind() == NodeKind::constant) return cat("it is a constant.\n", kMakeLeaf);
  const std::vector<End> ends =
      ends_before(tape, x, [&](NodeId input) { return tape.node(input).is_active(); });
  if (ends.empty()) return "it is made of constants only.\nMake one of them a leaf.";
  return cat("it is made by ", ends_text(tape, ends), ".\nAsk about ",
      short_name(tape, ends.front().edge->input()), " instead.");
}

/// Why no adjoint comes from y to x, though x could have one.
std::string missing_text(const MicroTape& tape, NodeId x, NodeId y, const std::string& y_name) {
  const std::string x_name = short_name(tape, x);
  if (x > y) return cat(y_name, " was computed before ", x_name, ", and cannot depend on it.");
  const std::vector<bool> leads = descendants(tape, x, y);
  const std::vector<End> ends = ends_before(tape, y, [&](NodeId input) { return leads[input]; });
  if (ends.empty())
    return cat(y_name, " does not depend on ", x_name, ": no way leads from one to the other.");
  return cat(y_name, " depends on ", x_name, " only through ", ends_text(tape, ends), ".");
}

// --- what has flown ------------------------------------------------------------------------------

/// The causes in one or two sentences.
std::string causes_text(const Trace& trace, const std::vector<Cause>& causes) {
  std::string out = words::sentence(trace, causes.front());
  std::vector<NodeId> others;
  for (const Cause& cause : causes)
    if (cause.node != causes.front().node && (others.empty() || others.back() != cause.node))
      others.push_back(cause.node);
  if (others.empty()) return out;
  out += " Other ways end at ";
  for (std::size_t i = 0; i < std::min(others.size(), kMostNamed); ++i)
    out += cat(i ? ", " : "", trace.tape().node(others[i]).op(), " #", others[i]);
  if (others.size() > kMostNamed) out += cat(" and ", others.size() - kMostNamed, " more");
  return out + ".";
}

Index first_nonfinite(const Array& a) {
  return std::find_if(a.values.begin(), a.values.end(), [](double v) {
    return !std::isfinite(v);
  }) - a.values.begin();
}

std::string nonfinite_text(const Trace& trace, Index first) {
  const Array& dx = trace.adjoint(trace.x());
  const auto count =
      std::count_if(dx.values.begin(), dx.values.end(), [](double v) { return !std::isfinite(v); });
  const Spoiler spoiler = cause_of_nonfinite(trace, first);
  const Place number = words::spoiled_number(trace, spoiler);
  std::string out = cat("not finite: ", digits(dx[first]), words::at(dx.shape, first),
      count > 1 ? cat(", the first of ", count) : "", ".\n");
  if (number.node != kNoNode)
    out += words::source_sentence(trace.tape(), source_of_nonfinite(trace.tape(), number)) + " ";
  return out + words::sentence(trace, spoiler, number);
}

std::string zero_text(
    const Trace& trace, const std::vector<bool>& is_zero, Index count, const Shift& shift) {
  const Array& dx = trace.adjoint(trace.x());
  const bool is_all = count == dx.size();
  const Index first = std::find(is_zero.begin(), is_zero.end(), true) - is_zero.begin();
  double rounding = 0;
  for (Index i = 0; i < dx.size(); ++i)
    if (is_zero[static_cast<std::size_t>(i)]) rounding = std::fmax(rounding, std::abs(dx[i]));
  std::string out = rounding == 0 ? "0" : "0 to rounding";
  if (!is_all)
    out += cat(" in ", count, " of ", dx.size(), " entries, the first", words::at(dx.shape, first));
  else if (count > 1)
    out += " everywhere";
  if (rounding > 0)
    out += cat(": at most ", digits(rounding), ", which is ", number(rounding / shift.size, 1),
        " of what it is added up from");
  out += ".\n";
  if (shift.entries[static_cast<std::size_t>(first)]) {
    const bool is_all_shift =
        std::count(shift.entries.begin(), shift.entries.end(), true) == dx.size();
    return out + words::sentence(trace, shift,
                     cat(short_name(trace.tape(), trace.x()),
                         is_all_shift ? "" : words::at(dx.shape, first)));
  }
  // Ask about one entry, or about all whose reason is not known yet.
  std::vector<Index> asked;
  for (Index i = first; i < (is_all ? dx.size() : first + 1); ++i)
    if (!shift.entries[static_cast<std::size_t>(i)]) asked.push_back(i);
  return out + causes_text(trace, causes_of_zero(trace, asked));
}

std::string found_text(const Trace& trace) {
  const Array& dx = trace.adjoint(trace.x());
  if (dx.size() == 0) return "empty: there are no numbers.";
  if (const Index first = first_nonfinite(dx); first < dx.size())
    return nonfinite_text(trace, first);
  const Shift shift = shift_of(trace);
  std::vector<bool> is_zero = shift.entries;
  double smallest = INFINITY, largest = 0;
  for (Index i = 0; i < dx.size(); ++i) {
    if (dx[i] == 0) is_zero[static_cast<std::size_t>(i)] = true;
    smallest = std::fmin(smallest, std::abs(dx[i]));
    largest = std::fmax(largest, std::abs(dx[i]));
  }
  const Index zeros = std::count(is_zero.begin(), is_zero.end(), true);
  if (zeros > 0) return zero_text(trace, is_zero, zeros, shift);
  return cat("finite and nowhere zero: smallest |.| ", digits(smallest), ", largest ",
      digits(largest), ".");
}

// --- the whole -----------------------------------------------------------------------------------

std::string text(MicroTape& tape, const Var& x, const Var& y) {
  if (x.node() == kNoNode)
    return cat(
        "x ", x.shape(), " has no gradient: it is plain, and stands on no tape.\n", kMakeLeaf);
  const std::string x_name = short_name(tape, x.node());
  if (!tape.node(x.node()).is_active())
    return cat(x_name, " ", x.shape(), " has no gradient: ", inactive_text(tape, x.node()));
  if (y.node() == kNoNode) return "y is plain, and stands on no tape: it depends on nothing.";
  const bool has_name = !tape.node(y.node()).name().empty();
  const std::string y_name =
      has_name ? cat(short_name(tape, y.node()), " #", y.node()) : short_name(tape, y.node());
  const std::string head = cat("d", x_name, " ", x.shape(), ", the gradient of ",
      y.size() == 1 ? y_name : cat("the sum of ", y_name, " ", y.shape()), ", is ");

  if (tape.node(y.node()).is_active()) {
    const Trace trace(tape, x.node(), y.node());
    if (trace.is_between(x.node())) {
      std::string out = head + found_text(trace);
      const Array value = to_array(y.value()), &dx = trace.adjoint(trace.x());
      const Index spoiled = first_nonfinite(value);
      if (spoiled < value.size() && first_nonfinite(dx) == dx.size())
        out += cat("\nBut ", y_name, " itself is ", digits(value[spoiled]),
            words::at(value.shape, spoiled), ": ",
            words::source_sentence(tape, source_of_nonfinite(tape, {y.node(), spoiled})));
      return out;
    }
  }
  return cat(head, "missing.\n", missing_text(tape, x.node(), y.node(), y_name));
}

void check(const MicroTape& tape, std::string_view name, const Var& v) {
  const Shape shape = v.shape();  // throws if it has no value, and says why
  if (v.tape() && v.tape() != &tape)
    throw TapeError(cat("explain: ", name, " stands on another tape: ", name, " ", shape,
        "; give the tape that it was computed on"));
}

void check_keep(const MicroTape& tape) {
  if (tape.keep() == Keep::needed)
    throw TapeError(
        "explain: the tape kept no values to look at: it is Keep::needed; use Keep::everything");
}

}  // namespace

std::string explain(MicroTape& tape, const Var& x, const Var& y) {
  check_keep(tape);
  check(tape, "x", x);
  check(tape, "y", y);
  const std::string all = text(tape, x, y);
  std::string out;
  for (std::size_t start = 0; start <= all.size();) {
    const std::size_t end = std::min(all.find('\n', start), all.size());
    for (const std::string& line : utf8::wrapped(all.substr(start, end - start), kWidth))
      out += line + "\n";
    start = end + 1;
  }
  return out;
}

std::string explain(MicroTape& tape, const Var& x) {
  check_keep(tape);
  NodeId end = tape.size();
  while (end > 0 && tape.node(end - 1).kind() != NodeKind::op) --end;
  if (end == 0)
    throw TapeError("explain: there is nothing to differentiate: the tape has no op; compute y");
  return explain(tape, x, tape.var(end - 1));
}

}  // namespace microtape
