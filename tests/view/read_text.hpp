#pragma once

#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <microtape/tape/view/formula.hpp>

namespace microtape::testing {

/// Reads a printed formula as a person does: `*`, `/` and the space between two factors bind
/// equally and from left to right, a minus in front stands for the whole product. Words are names,
/// or functions if a parenthesis follows.
class TextReader {
 public:
  /// @param symbols  words that stand for a number
  explicit TextReader(std::string_view text, std::map<std::string, double> symbols = {})
      : text_(text), symbols_(std::move(symbols)) {}

  Formula sum() {
    Formula left = term();
    for (;;) {
      if (take(" + "))
        left = formula(Kind::add, {std::move(left), term()});
      else if (take(" - "))
        left = formula(Kind::subtract, {std::move(left), term()});
      else
        return left;
    }
  }

  bool is_done() const { return text_.empty(); }

 private:
  using Kind = Formula::Kind;

  Formula term() {
    if (take("-")) return formula(Kind::negate, {term()});
    Formula left = factor();
    for (;;) {
      if (take(" * "))
        left = formula(Kind::hadamard, {std::move(left), factor()});
      else if (take(" / "))
        left = formula(Kind::divide, {std::move(left), factor()});
      else if (is_factor_next() && take(" "))
        left = formula(Kind::product, {std::move(left), factor()});
      else
        return left;
    }
  }

  bool is_factor_next() const {
    for (const char* other : {" + ", " - ", " > ", " = "})
      if (text_.starts_with(other)) return false;
    return true;
  }

  Formula factor() {
    Formula base = atom();
    if (take("^T")) return formula(Kind::transpose, {std::move(base)});
    if (take("^")) return formula(Kind::power, {std::move(base), atom()});
    return base;
  }

  Formula atom() {
    if (take("sqrt(")) return formula(Kind::root, {group()});
    if (take("(")) return group();
    if (take("[")) return iverson();
    const bool is_number = !text_.empty() && text_.front() >= '0' && text_.front() <= '9';
    return is_number ? number() : name_or_call();
  }

  Formula number() {
    double value = 0;
    const char* end = std::from_chars(text_.data(), text_.data() + text_.size(), value).ptr;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return number_formula(value);
  }

  Formula name_or_call() {
    std::size_t length = 0;
    while (length < text_.size() &&
           std::string_view(" ()[],^").find(text_[length]) == std::string_view::npos)
      ++length;
    const std::string word(text_.substr(0, length));
    text_.remove_prefix(length);
    std::string_view note;
    if (take("[")) {
      note = text_.substr(0, text_.find(']'));
      text_.remove_prefix(note.size() + 1);
    }
    if (take("(")) return call(word, note);
    if (const auto symbol = symbols_.find(word); symbol != symbols_.end())
      return number_formula(symbol->second);
    return name_formula(word);
  }

  Formula call(std::string word, std::string_view note) {
    Indices at = integers(note);
    const bool is_row = word.starts_with("row") && word != "rows";
    if (is_row) at = Indices{-1};
    if (word.starts_with("col")) {
      at = Indices{-2};
      word.replace(0, 3, "row");
    }
    if (note.ends_with("kept")) word.insert(0, "row");
    if (at.empty() && word.ends_with("softmax")) at = Indices{-1};
    Formula out = formula(Kind::call, {});
    out.text = word;
    if (!at.empty()) out.subscript = {list_formula(at)};
    do out.children.push_back(sum());
    while (take(", "));
    take(")");
    return out;
  }

  /// "axis 1, 0:4" has 1, 0 and 4.
  static Indices integers(std::string_view note) {
    Indices out;
    for (std::size_t i = 0; i < note.size();) {
      Index value = 0;
      const auto read = std::from_chars(note.data() + i, note.data() + note.size(), value);
      if (read.ec == std::errc()) out.push_back(value);
      i = read.ec == std::errc() ? static_cast<std::size_t>(read.ptr - note.data()) : i + 1;
    }
    return out;
  }

  Formula iverson() {
    Formula left = sum();
    const Kind kind = take(" > ") ? Kind::greater : Kind::equal;
    take(" = ");
    Formula out = formula(kind, {std::move(left), sum()});
    take("]");
    return out;
  }

  Formula group() {
    Formula inside = sum();
    take(")");
    return inside;
  }

  bool take(std::string_view token) {
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }

  std::string_view text_;
  std::map<std::string, double> symbols_;
};

}  // namespace microtape::testing
