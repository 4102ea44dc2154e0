#pragma once

#include <memory>
#include <string>
#include <utility>

#include <microtape/core/tensor.hpp>

namespace microtape {

/// A named Tensor that training changes. It outlives tapes and enters one through MicroTape::watch.
///
/// A copy is a handle on the same value, so a layer can move, and two layers can share (tie) one.
class Parameter {
 public:
  /// @param name    in its layer: "weight"; part of the name in a state_dict
  /// @param symbol  on a tape: "W_Q"; empty: the name
  Parameter(std::string name, Tensor value, std::string symbol = "")
      : state_(
            std::make_shared<State>(State{std::move(name), std::move(symbol), std::move(value)})) {}
  /// Another handle. A move is a copy, so that no handle is ever empty: a layer that was moved from
  /// still works.
  Parameter(const Parameter&) = default;
  /// As above.
  Parameter& operator=(const Parameter&) = default;

  /// In its layer: "weight".
  const std::string& name() const { return state_->name; }
  /// On a tape: "W_Q".
  const std::string& symbol() const { return state_->symbol.empty() ? name() : state_->symbol; }
  /// What training has made of it so far.
  const Tensor& value() const { return state_->value; }

  /// The value, to be changed in place by an optimizer: after backward and tape.clear(). A tape
  /// that watches this parameter keeps the value it had when watch() was first called.
  Tensor& mutable_value() const { return state_->value; }

  /// Two handles are equal if they share one value.
  friend bool operator==(const Parameter& a, const Parameter& b) { return a.state_ == b.state_; }

 private:
  struct State {
    std::string name;
    std::string symbol;
    Tensor value;
  };
  std::shared_ptr<State> state_;
};

}  // namespace microtape
