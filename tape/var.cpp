#include <microtape/tape/var.hpp>

#include <microtape/core/error.hpp>
#include <microtape/tape/latex.hpp>
#include <microtape/tape/micro_tape.hpp>

namespace microtape {

bool Var::is_active() const {
  const MicroTape* tape = this->tape();
  return tape && node_ != kNoNode && tape->node(node_).is_active();
}

const Var& Var::named(std::string_view name, std::string_view latex) const {
  MicroTape* tape = this->tape();
  check_latex("named", name, latex);
  if (tape && node_ != kNoNode) tape->set_name(node_, name, latex);
  return *this;
}

void Var::fail_stale() {
  throw TapeError(
      "Var: its tape is gone: the tape was cleared or destroyed after this Var was computed; "
      "compute it again");
}

}  // namespace microtape
