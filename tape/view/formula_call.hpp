#pragma once

#include <string>

#include <microtape/tape/view/formula.hpp>

namespace microtape {

/// How a person writes the function of a call: softmax over the last axis is just softmax, and
/// rowsum_{axes} is rowsum or colsum where the axis is the last or the one before.
struct CallName {
  std::string function;  ///< "softmax", "rowsum"
  std::string note;      ///< what must be said of the axes: "axis 0", "axis 1, 0:4"; may be empty
};
/// @param call  of Kind::call
/// How a person writes a call.
CallName call_name(const Formula& call);

}  // namespace microtape
