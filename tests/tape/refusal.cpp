#include "tape/refusal.hpp"

namespace microtape::testing {
namespace {

/// What run() throws; "nothing" if nothing.
std::string thrown(const Refusal& r, const Make& make) {
  try {
    r.run(make);
    return "nothing";
  } catch (const Error& error) {
    INFO(r.text);
    CHECK(typeid(error) == *r.type);
    return error.what();
  }
}

}  // namespace

void check_refused(const std::vector<Refusal>& refusals) {
  for (const Refusal& r : refusals) {
    CHECK(thrown(r, [](const Tensor& x) { return Var(x); }) == r.text);
    for (const Keep keep : {Keep::everything, Keep::needed}) {
      MicroTape tape(keep);
      NodeId made = 0;
      const Make make = [&](const Tensor& x) {
        const Var v = is_floating(x.dtype()) ? tape.leaf(x) : tape.constant(x);
        made = tape.size();
        return v;
      };
      CHECK(thrown(r, make) == r.text);
      CHECK(tape.size() == made);
      const Scope outer = tape.scope("encoder");
      const Scope inner = tape.scope("attn");
      CHECK(thrown(r, make) == "in encoder/attn: " + r.text);
      CHECK(tape.size() == made);
    }
  }
}

}  // namespace microtape::testing
