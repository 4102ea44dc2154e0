#include <microtape/tape/view/text.hpp>

#include <algorithm>
#include <vector>

#include <microtape/core/format.hpp>
#include <microtape/tape/view/equation.hpp>
#include <microtape/tape/view/graph_options.hpp>
#include <microtape/tape/view/numbers.hpp>
#include <microtape/tape/view/utf8.hpp>

namespace microtape {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kGap = 2;
constexpr std::size_t kNameWidth = 14;
constexpr std::size_t kShapeWidth = 16;
constexpr std::size_t kEquationWidth = 20;  ///< that an equation has for sure
constexpr std::size_t kUnbounded = 1000;

using Lines = std::vector<std::string>;

/// Numbers to be shown, or the word that stands in their place.
struct Numbers {
  Tensor tensor;
  std::string word;

  Lines lines(std::size_t width) const {
    return tensor.defined() ? number_lines(tensor, width) : Lines{word};
  }
};

/// What the table says of one node.
struct Row {
  std::string number, name, equation, shape;
  Numbers value, adjoint;
  bool is_active;
};

/// The widths of the columns; 0: the column is not there.
struct Layout {
  std::size_t number, name, equation, shape, value, adjoint;
  Show adjoints;  ///< below the values, if they have no column
};

std::size_t widest(const Lines& lines) {
  std::size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, utf8::display_width(line));
  return width;
}

Row row_of(const MicroTape& tape, NodeId id, const Sweep* sweep) {
  const Node& node = tape.node(id);
  Row row;
  row.number = cat(id);
  if (!node.name().empty()) row.name = node_name(tape, id);
  row.equation = node.kind() == NodeKind::op ? forward_text(tape, id) : cat("(", node.op(), ")");
  row.shape = node.shape().str();
  row.is_active = node.is_active();
  row.value = {node.value(), "not kept"};
  if (!sweep) return row;
  const Var adjoint = sweep->adjoint(id);
  const bool may_be_dropped = tape.keep() == Keep::needed && node.kind() == NodeKind::op;
  row.adjoint = {adjoint.defined() ? adjoint.value() : Tensor(), may_be_dropped ? "not kept" : "-"};
  return row;
}

/// Gives each column what it needs, and the equation what is left; the adjoints stand beside the
/// values if there is room.
Layout layout_of(const std::vector<Row>& rows, Show adjoints) {
  const bool has_adjoints = adjoints == Show::yes;
  Layout need{1, 4, 8, 5, 5, 7, adjoints};  // the headings
  for (const Row& row : rows) {
    need.number = std::max(need.number, row.number.size());
    need.name = std::max(need.name, utf8::display_width(row.name));
    need.equation = std::max(need.equation, utf8::display_width(row.equation));
    need.shape = std::max(need.shape, row.shape.size());
    need.value = std::max(need.value, widest(row.value.lines(kUnbounded)));
    need.adjoint = std::max(need.adjoint, widest(row.adjoint.lines(kUnbounded)));
  }
  need.shape = std::min(need.shape, kShapeWidth);
  const std::size_t least_equation = std::min(need.equation, kEquationWidth);
  const auto room = [&need] {
    need.name = std::min(need.name, kNameWidth);
    return kWidth - need.number - need.name - need.shape - 3 * kGap;
  };

  // Beside one another.
  const std::size_t both = need.value + need.adjoint + 2 * kGap;
  if (has_adjoints && least_equation + both <= room()) {
    need.equation = std::min(need.equation, room() - both);
    return need;
  }
  // One column of numbers; the names of adjoints have a d before them.
  if (has_adjoints) ++need.name;
  const std::size_t value = std::max(need.value, has_adjoints ? need.adjoint : 0);
  need.adjoint = 0;
  need.value = std::min(value, room() - kGap - least_equation);
  need.equation = std::min(need.equation, room() - kGap - need.value);
  return need;
}

/// Cells side by side, as many lines as the highest of them has.
std::string line_up(const std::vector<Lines>& cells, const std::vector<std::size_t>& widths) {
  std::size_t height = 1;
  for (const Lines& cell : cells) height = std::max(height, cell.size());
  std::string out;
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    for (std::size_t column = 0; column < cells.size(); ++column) {
      const Lines& cell = cells[column];
      if (column > 0) line += std::string(kGap, ' ');
      line += utf8::padded(i < cell.size() ? cell[i] : "", widths[column]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

class Table {
 public:
  explicit Table(const Layout& layout)
      : layout_(layout),
        widths_{layout.number, layout.name, layout.equation, layout.shape, layout.value},
        is_beside_(layout.adjoint > 0) {
    if (is_beside_) widths_.push_back(layout.adjoint);
  }

  std::string head() const {
    std::vector<Lines> cells{{right("#")}, {"name"}, {"equation"}, {"shape"}, {"value"}};
    if (is_beside_) cells.push_back({"adjoint"});
    std::size_t width = kGap * (widths_.size() - 1);
    for (const std::size_t column : widths_) width += column;
    return line_up(cells, widths_) + std::string(width, '-') + "\n";
  }

  std::string row(const Row& row) const {
    std::vector<Lines> cells{{right(row.number)}, utf8::wrapped(row.name, layout_.name),
        utf8::wrapped(row.equation, layout_.equation), utf8::wrapped(row.shape, layout_.shape),
        row.value.lines(layout_.value)};
    if (is_beside_) cells.push_back(row.adjoint.lines(layout_.adjoint));
    std::string out = line_up(cells, widths_);
    if (layout_.adjoints == Show::no || is_beside_ || !row.is_active) return out;
    const std::string name = cat("d", row.name.empty() ? cat("#", row.number) : row.name);
    cells = {{}, utf8::wrapped(name, layout_.name), {}, {}, row.adjoint.lines(layout_.value)};
    return out + line_up(cells, widths_);
  }

 private:
  std::string right(const std::string& text) const {
    return std::string(layout_.number - std::min(text.size(), layout_.number), ' ') + text;
  }

  Layout layout_;
  std::vector<std::size_t> widths_;
  bool is_beside_;  ///< the adjoints have a column of their own
};

/// "in encoder/attn", indented by its depth.
std::string heading(const MicroTape& tape, std::uint32_t scope) {
  std::size_t depth = 0;
  for (std::uint32_t at = scope; at != 0; at = tape.scopes()[at].parent) ++depth;
  const std::string path =
      depth == 0 ? "the outermost scope" : utf8::printable(tape.scope_path(scope));
  return utf8::shortened(
             cat(std::string(2 * std::max<std::size_t>(depth, 1) - 2, ' '), "in ", path), kWidth) +
         "\n";
}

}  // namespace

std::string to_text(const MicroTape& tape, const Sweep* sweep) {
  std::vector<Row> rows;
  for (NodeId id = 0; id < tape.size(); ++id) rows.push_back(row_of(tape, id, sweep));
  const Table table(layout_of(rows, sweep ? Show::yes : Show::no));
  std::string out = table.head();
  std::uint32_t scope = 0;
  for (NodeId id = 0; id < tape.size(); ++id) {
    if (tape.node(id).scope() != scope) {
      scope = tape.node(id).scope();
      out += heading(tape, scope);
    }
    out += table.row(rows[id]);
  }
  return out;
}

}  // namespace microtape
