#pragma once

#include <functional>
#include <typeinfo>

#include "tape/op_testing.hpp"

namespace microtape::testing {

/// Makes a Var of a Tensor: plain, or on a tape.
using Make = std::function<Var(const Tensor&)>;

/// A mistake, the type of the error that it must be, and its text.
struct Refusal {
  const std::type_info* type;
  std::function<void(const Make&)> run;
  std::string text;
};

template <class E>
Refusal refusal(std::function<void(const Make&)> run, std::string text) {
  return {&typeid(E), std::move(run), std::move(text)};
}

/// Checks that each is refused with its text: plain, on a tape, and in a scope of a tape, whose
/// path then stands in front; and that nothing is recorded.
void check_refused(const std::vector<Refusal>& refusals);

}  // namespace microtape::testing
