#pragma once

#include <string_view>
#include <utility>

#include <microtape/tape/view/formula.hpp>

namespace microtape::testing {

/// Reads a printed formula as a person does: `*`, `/` and the space between two factors bind
/// equally and from left to right, a minus in front stands for the whole product. Single letters
/// are names.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  Formula sum() {
    Formula left = term();
    for (;;) {
      if (take(" + "))
        left = formula(Formula::Kind::add, {std::move(left), term()});
      else if (take(" - "))
        left = formula(Formula::Kind::subtract, {std::move(left), term()});
      else
        return left;
    }
  }

  bool is_done() const { return text_.empty(); }

 private:
  Formula term() {
    if (take("-")) return formula(Formula::Kind::negate, {term()});
    Formula left = factor();
    for (;;) {
      if (take(" * "))
        left = formula(Formula::Kind::hadamard, {std::move(left), factor()});
      else if (take(" / "))
        left = formula(Formula::Kind::divide, {std::move(left), factor()});
      else if (!text_.starts_with(" + ") && !text_.starts_with(" - ") && take(" "))
        left = formula(Formula::Kind::product, {std::move(left), factor()});
      else
        return left;
    }
  }

  Formula factor() {
    Formula base = atom();
    if (take("^T")) return formula(Formula::Kind::transpose, {std::move(base)});
    if (take("^")) return formula(Formula::Kind::power, {std::move(base), atom()});
    return base;
  }

  Formula atom() {
    if (take("sqrt(")) return formula(Formula::Kind::root, {rest_of_group()});
    if (take("(")) return rest_of_group();
    const char c = text_.empty() ? '0' : text_.front();
    text_.remove_prefix(text_.empty() ? 0 : 1);
    return c >= '0' && c <= '9' ? number_formula(c - '0') : name_formula(std::string(1, c));
  }

  Formula rest_of_group() {
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
};

}  // namespace microtape::testing
