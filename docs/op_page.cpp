// Writes the page with every op, its formula and its rules, from what the ops recorded: op_page
// FILE. The rows of the derivative table, which a test keeps complete, record each op; nothing is
// typed here but the headings.

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#include <microtape/tape/backward.hpp>
#include <microtape/tape/view/formula.hpp>

#include "tape/op_table.hpp"

using namespace microtape;

namespace {

/// A header of tape/ops/, the menu of its family.
struct Family {
  std::string title, header, text = {};
};

/// An op, or one of its forms: what it computes, and the rule of each input.
struct Row {
  std::string op, formula;
  std::vector<std::pair<std::string, std::string>> rules = {};  ///< input, formula
  bool is_of_rules = false;                                     ///< only rules record it
  std::size_t family = 0, place = 0;                            ///< where it is declared
  std::string function = {};  ///< the function that is declared there
};

std::string read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw FileError("op_page: cannot read " + path);
  return (std::ostringstream() << file.rdbuf()).str();
}

std::vector<Family> families() {
  std::vector<Family> all = {{"Arithmetic", "arithmetic"}, {"Functions of one number", "functions"},
      {"Products of matrices", "linalg"}, {"Reductions", "reduce"}, {"Normalization", "normalize"},
      {"Losses", "losses"}, {"Shape", "shape"}, {"Choice and index", "index"}};
  for (Family& family : all)
    family.text = read(std::string(MICROTAPE_SOURCE_DIR) + "/tape/ops/" + family.header + ".hpp");
  return all;
}

/// Adds to `rows` what the nodes of a tape recorded and is not there yet.
void collect(const MicroTape& tape, std::vector<Row>& rows) {
  for (const Node& node : tape.nodes()) {
    if (node.kind() != NodeKind::op) continue;
    const std::string op(node.op()), formula(node.formula());
    auto row = std::find_if(rows.begin(), rows.end(),
        [&](const Row& known) { return known.op == op && known.formula == formula; });
    if (row == rows.end()) row = rows.insert(row, {op, formula, {}, node.is_backward()});
    for (const Edge& edge : node.edges()) {
      const std::pair<std::string, std::string> rule(edge.name(), edge.formula());
      if (edge.is_active() && std::count(row->rules.begin(), row->rules.end(), rule) == 0)
        row->rules.push_back(rule);
    }
  }
}

/// What each row of the derivative table records, forward and backward.
std::vector<Row> recorded_ops() {
  std::vector<Row> rows;
  for (const microtape::testing::OpRow& row : microtape::testing::op_table()) {
    MicroTape tape;
    std::vector<Var> leaves;
    for (const Tensor& x : row.inputs) leaves.push_back(tape.leaf(x));
    const Var y = row.f(leaves);
    if (tape.node(y.node()).is_active())
      backward(y, Tensor::full(y.shape(), 1, float64), Record::yes);
    collect(tape, rows);
  }
  return rows;
}

/// Finds the declaration of a function.
bool declare(Row& row, const std::string& function, const std::vector<Family>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t plain = all[i].text.find("Var " + function + "(");
    const std::size_t place = std::min(plain, all[i].text.find("Var(" + function + ")("));
    if (place == std::string::npos) continue;
    row.family = i;
    row.place = place;
    row.function = function;
    return true;
  }
  return false;
}

std::pair<bool, std::string> rank_of(const std::string& input) {
  const bool is_operand = input == "x" || input == "a" || input == "b";
  return {!is_operand, input};
}

/// Puts an op where it is declared, or the function whose variant it is (gelu for gelu_tanh); what
/// only rules record comes after all families.
void arrange(Row& row, const std::vector<Family>& all) {
  // Operands come first, a before b; then masks and the like.
  std::stable_sort(row.rules.begin(), row.rules.end(),
      [](const auto& a, const auto& b) { return rank_of(a.first) < rank_of(b.first); });
  if (declare(row, row.op, all)) return;
  row.family = all.size();
  if (row.is_of_rules) return;
  if (!declare(row, row.op.substr(0, row.op.rfind('_')), all))
    throw ValueError("op_page: no header of tape/ops/ declares the op " + row.op);
}

void collect_slots(const Formula& f, Bindings& bindings) {
  if (f.kind == Formula::Kind::slot)
    bindings.try_emplace(f.text, std::vector{name_formula(f.text)});
  for (const Formula& child : f.children) collect_slots(child, bindings);
  for (const Formula& child : f.subscript) collect_slots(child, bindings);
}

/// A recorded formula in LaTeX, each @name a letter.
std::string latex(const std::string& recorded) {
  const Formula f = parse_formula(recorded);
  Bindings bindings;
  collect_slots(f, bindings);
  return to_latex(substitute(f, bindings));
}

/// A line of mathematics that is wide enough to be read.
std::string line(const std::string& left, const std::string& recorded) {
  return "\\f$\\displaystyle " + left + " = " + latex(recorded) + "\\f$";
}

void write_row(std::ostream& out, const Row& row) {
  out << "<tr><td>";
  if (row.function.empty())
    out << row.op;
  else
    out << "\\ref microtape::" << row.function << " \"" << row.op << "\"";
  out << "</td><td>" << line("y", row.formula) << "</td><td>";
  for (std::size_t i = 0; i < row.rules.size(); ++i) {
    const std::string left = to_latex(name_formula("d" + row.rules[i].first));
    out << (i > 0 ? "<br/>" : "") << line(left, row.rules[i].second);
  }
  out << (row.rules.empty() ? "no adjoint" : "") << "</td></tr>\n";
}

void write_family(std::ostream& out, const std::vector<Row>& rows, std::size_t family) {
  out << "<table class=\"ops\"><tr><th>op</th><th>value</th><th>rules</th></tr>\n";
  for (const Row& row : rows)
    if (row.family == family) write_row(out, row);
  out << "</table>\n\n";
}

void write_page(std::ostream& out, const std::vector<Row>& rows, const std::vector<Family>& all) {
  out << R"(# Every op, with its rules {#ops}

Each op with what it computes, and for each input the rule that carries the adjoint back. \f$y\f$ is
the result, \f$g\f$ its adjoint, \f$dx\f$ what the op contributes to the adjoint of \f$x\f$.
\f$A\,B\f$ is a product of matrices, \f$a \odot b\f$ one of elements. Other letters and words, such
as \f$c\f$, \f$n\f$ or axis, are fixed arguments or follow from the shapes. Two rules of one input
are two cases. The ops recorded these formulas themselves, and a test evaluates each of them on
numbers. A name leads to its shapes, its range and its errors; \ref math derives the rules and tells
the cases apart. A function of `tape/ops/` that is not here is composed of these.

)";
  for (std::size_t i = 0; i < all.size(); ++i) {
    out << "## " << all[i].title << " {#ops_" << all[i].header << "}\n\n";
    write_family(out, rows, i);
  }
  out << "## Only in rules {#ops_rules}\n\n"
         "These have no function of their own: a rule records them when a backward pass is itself "
         "recorded.\n\n";
  write_family(out, rows, all.size());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw ValueError("usage: op_page FILE");
    const std::vector<Family> all = families();
    std::vector<Row> rows = recorded_ops();
    for (Row& row : rows) arrange(row, all);
    std::stable_sort(
        rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.place < b.place; });
    std::ofstream file(argv[1]);
    write_page(file, rows, all);
    if (!file.flush()) throw FileError(std::string("op_page: cannot write ") + argv[1]);
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
