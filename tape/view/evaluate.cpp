#include <microtape/tape/view/evaluate.hpp>

#include <cmath>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape {
namespace {

using Kind = Formula::Kind;

[[noreturn]] void fail_unknown(std::string_view what, const std::string& text) {
  throw ValueError(
      cat("evaluate: unknown ", what, ": ", text, "; every part of a formula must have a value"));
}

/// The integers of a subscript, one behind the other.
Indices integers(const std::vector<Formula>& subscript) {
  Indices out;
  for (const Formula& entry : subscript) {
    if (entry.kind == Kind::number)
      out.push_back(static_cast<Index>(*entry.value));
    else if (entry.kind == Kind::list)
      for (const Formula& item : entry.children) out.push_back(static_cast<Index>(*item.value));
    else
      fail_unknown("subscript", to_text(entry));
  }
  return out;
}

/// Two operands of a formula, combined.
Array combined(Kind kind, const Array& a, const Array& b) {
  switch (kind) {
    case Kind::add:
      return plain::combine(a, b, [](double x, double y) { return x + y; });
    case Kind::subtract:
      return plain::combine(a, b, [](double x, double y) { return x - y; });
    case Kind::hadamard:
      return plain::combine(a, b, [](double x, double y) { return x * y; });
    case Kind::divide:
      return plain::combine(a, b, [](double x, double y) { return x / y; });
    case Kind::power:
      return plain::combine(a, b, [](double x, double y) { return std::pow(x, y); });
    case Kind::greater:
      return plain::combine(a, b, [](double x, double y) { return x > y ? 1.0 : 0.0; });
    case Kind::equal:
      return plain::combine(a, b, [](double x, double y) { return x == y ? 1.0 : 0.0; });
    default:
      if (!a.is_number && !b.is_number) return plain::matrix_product(a, b);
      return plain::combine(a, b, [](double x, double y) { return x * y; });
  }
}

class Evaluator {
 public:
  Evaluator(const Environment& environment, const Shape& target)
      : environment_(environment), target_(target) {}

  Array operator()(const Formula& f) const {
    if (f.value && f.kind != Kind::list) return Array::number(*f.value);
    const auto child = [&](std::size_t i) { return (*this)(f.children[i]); };
    switch (f.kind) {
      case Kind::name:
        return look_up(f.text);
      case Kind::negate:
        return plain::map(child(0), [](double x) { return -x; });
      case Kind::root:
        return plain::map(child(0), [](double x) { return std::sqrt(x); });
      case Kind::transpose:
        return plain::transposed(child(0));
      case Kind::call:
        return call(f);
      case Kind::add:
      case Kind::subtract:
      case Kind::product:
      case Kind::hadamard:
      case Kind::divide:
      case Kind::power:
      case Kind::greater:
      case Kind::equal:
        return combined(f.kind, child(0), child(1));
      case Kind::number:
      case Kind::symbol:
      case Kind::slot:
      case Kind::list:
        break;
    }
    fail_unknown("value", to_text(f));
  }

 private:
  const Array& look_up(const std::string& name) const {
    const auto found = environment_.find(name);
    if (found == environment_.end()) fail_unknown("name", name);
    return found->second;
  }

  Array call(const Formula& f) const {
    std::vector<Array> arguments;
    for (const Formula& argument : f.children) arguments.push_back((*this)(argument));
    return evaluate_call(f.text, integers(f.subscript), arguments, f.shape.value_or(target_));
  }

  const Environment& environment_;
  const Shape& target_;
};

}  // namespace

Array evaluate(const Formula& formula, const Environment& environment, const Shape& target) {
  return plain::fitted(Evaluator(environment, target)(formula), target);
}

}  // namespace microtape
