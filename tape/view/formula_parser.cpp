#include <algorithm>
#include <array>
#include <charconv>
#include <numbers>
#include <utility>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/view/formula.hpp>

namespace microtape {
namespace {

using Kind = Formula::Kind;

/// Bounds the depth of the tree, and so the recursion of all that walk it.
constexpr std::size_t kLongest = 1000;

constexpr std::array<std::string_view, 24> kGreek{"alpha", "beta", "gamma", "delta", "epsilon",
    "varepsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi", "rho",
    "sigma", "tau", "upsilon", "phi", "varphi", "chi", "psi", "omega"};

// Not <cctype>: that depends on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Recursive descent, one function for each rule of the grammar:
///
///     sum     = term (("+" | "-") term)*
///     term    = "-" term | factor (["\odot"] factor)*
///     factor  = primary ("^\top" | "^{" sum "}")*
///     primary = number | letter | @name | "(" sum ")" | "[" sum (">" | "=") sum "]"
///             | "\frac{" sum "}{" sum "}" | "\sqrt{" sum "}"
///             | "\operatorname{" f "}" ["_{" @name ("," @name)* "}"] "(" sum ("," sum)* ")"
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Formula parse() {
    if (text_.size() > kLongest)
      throw ValueError(
          cat("parse_formula: too long: ", text_.size(), " characters; at most ", kLongest));
    Formula result = sum();
    if (at_ != text_.size()) fail("nothing more");
    return result;
  }

 private:
  Formula sum() {
    Formula left = term();
    for (;;) {
      if (take("+"))
        left = formula(Kind::add, {std::move(left), term()});
      else if (take("-"))
        left = formula(Kind::subtract, {std::move(left), term()});
      else
        return left;
    }
  }

  Formula term() {
    if (take("-")) return formula(Kind::negate, {term()});
    Formula left = factor();
    for (;;) {
      if (take_command("odot"))
        left = formula(Kind::hadamard, {std::move(left), factor()});
      else if (at_primary())
        left = formula(Kind::product, {std::move(left), factor()});
      else
        return left;
    }
  }

  Formula factor() {
    Formula base = primary();
    while (take("^")) {
      if (take_command("top")) {
        base = formula(Kind::transpose, {std::move(base)});
      } else {
        expect("{");
        base = formula(Kind::power, {std::move(base), sum()});
        expect("}");
      }
    }
    return base;
  }

  Formula primary() {
    skip_space();
    if (take("@")) return slot();
    if (take("(")) return group(")");
    if (take("[")) return iverson();
    if (take_command("frac")) {
      Formula numerator = braced();
      return formula(Kind::divide, {std::move(numerator), braced()});
    }
    if (take_command("sqrt")) return formula(Kind::root, {braced()});
    if (take_command("operatorname")) return call();
    if (at_ < text_.size() && is_digit(text_[at_])) return literal();
    return symbol();
  }

  Formula group(std::string_view close) {
    Formula inside = sum();
    expect(close);
    return inside;
  }

  Formula braced() {
    expect("{");
    return group("}");
  }

  Formula iverson() {
    Formula left = sum();
    const Kind kind = take(">") ? Kind::greater : Kind::equal;
    if (kind == Kind::equal && !take("=")) fail("\">\" or \"=\"");
    Formula right = sum();
    expect("]");
    return formula(kind, {std::move(left), std::move(right)});
  }

  Formula call() {
    expect("{");
    Formula result;
    result.kind = Kind::call;
    result.text = word("the name of a function");
    expect("}");
    if (take("_")) {
      expect("{");
      do {
        expect("@");
        result.subscript.push_back(slot());
      } while (take(","));
      expect("}");
    }
    expect("(");
    do result.children.push_back(sum());
    while (take(","));
    expect(")");
    return result;
  }

  Formula slot() {
    Formula result;
    result.kind = Kind::slot;
    result.text = word("a name");
    return result;
  }

  Formula literal() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1])) {
      ++at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    }
    double value = 0;
    std::from_chars(text_.data() + start, text_.data() + at_, value, std::chars_format::fixed);
    return number_formula(value);
  }

  /// A letter, a word or a Greek letter, perhaps with an index: d, d_k, d_{model}, \tau.
  Formula symbol() {
    skip_space();
    const std::size_t start = at_;
    Formula result;
    result.kind = Kind::symbol;
    if (take_command("pi")) {
      result.value = std::numbers::pi;
    } else if (!std::any_of(kGreek.begin(), kGreek.end(),
                   [this](std::string_view letter) { return take_command(letter); })) {
      word("a number, a name or a bracket");
    }
    std::size_t end = at_;
    if (take("_")) {
      const bool has_brace = take("{");
      word("an index");
      if (has_brace) expect("}");
      end = at_;
    }
    result.text = text_.substr(start, end - start);
    return result;
  }

  /// Letters, then letters and digits.
  std::string word(std::string_view what) {
    const std::size_t start = at_;
    if (at_ == text_.size() || !is_letter(text_[at_])) fail(what);
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  bool at_primary() {
    skip_space();
    if (at_ == text_.size()) return false;
    const char c = text_[at_];
    if (c == '\\') return !text_.substr(at_).starts_with("\\top");
    return c == '@' || c == '(' || c == '[' || is_digit(c) || is_letter(c);
  }

  void skip_space() {
    for (;;) {
      if (at_ < text_.size() && text_[at_] == ' ')
        ++at_;
      else if (text_.substr(at_).starts_with("\\,"))
        at_ += 2;
      else
        return;
    }
  }

  bool take(std::string_view token) {
    skip_space();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  /// A command ends where its letters end: \pi is not the beginning of \pick.
  bool take_command(std::string_view name) {
    skip_space();
    const std::size_t end = at_ + 1 + name.size();
    if (at_ == text_.size() || text_[at_] != '\\' || text_.substr(at_ + 1, name.size()) != name)
      return false;
    if (end < text_.size() && is_letter(text_[end])) return false;
    at_ = end;
    return true;
  }

  void expect(std::string_view token) {
    if (!take(token)) fail(cat("\"", token, "\""));
  }

  [[noreturn]] void fail(std::string_view expected) {
    throw ValueError(cat("parse_formula: outside the subset: \"", text_, "\"; expected ", expected,
        at_ == text_.size() ? " at the end" : cat(" at position ", at_)));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Formula parse_formula(std::string_view text) { return Parser(text).parse(); }

}  // namespace microtape
