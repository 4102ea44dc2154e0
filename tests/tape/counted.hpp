#pragma once

namespace microtape::testing {

/// A copy of a rule adds one; its destruction takes one off.
struct Counted {
  static inline int alive = 0;
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  Counted(Counted&&) noexcept { ++alive; }
  ~Counted() { --alive; }
};

}  // namespace microtape::testing
