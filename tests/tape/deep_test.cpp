// Chains of a million nodes: recorded, swept and destroyed on a stack of 256 KB.

#include <exception>

#include <pthread.h>

#include <microtape/tape/ops.hpp>
#include <microtape/tape/view/derivation.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

/// Runs f in a thread whose stack has 256 KB, and throws what it throws.
void on_a_small_stack(void (*f)()) {
  struct Call {
    void (*f)();
    std::exception_ptr error;
  } call{f, nullptr};
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
  pthread_t thread;
  const auto body = [](void* at) -> void* {
    auto* it = static_cast<Call*>(at);
    try {
      it->f();
    } catch (...) {
      it->error = std::current_exception();
    }
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, body, &call) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  if (call.error) std::rethrow_exception(call.error);
}

void require(bool holds, const char* what) {  // Catch2's macros are for the main thread
  if (!holds) throw std::runtime_error(what);
}

constexpr int kLength = 1'000'000;

Var chain(MicroTape& tape, const Var& x) {
  Var y = x;
  for (int i = 0; i < kLength; ++i) y = y + 1;
  require(tape.size() == kLength + 1, "one node for each addition");
  return y;
}

}  // namespace

TEST_CASE("a chain of a million nodes is recorded, swept and destroyed on a stack of 256 KB") {
  on_a_small_stack([] {
    for (const Keep keep : {Keep::everything, Keep::needed}) {
      MicroTape tape(keep);
      const Var x = tape.leaf(f64(0.5)), y = chain(tape, x);
      require(y.item() == kLength + 0.5, "value");
      require(backward(y)[x].item() == 1, "adjoint");
    }
  });
}

TEST_CASE("a chain of a million nodes is destroyed without ever being swept") {
  on_a_small_stack([] {
    MicroTape tape;
    chain(tape, tape.leaf(f64(0.5)));
  });
}

TEST_CASE("a recorded sweep over a long chain does not recurse either") {
  on_a_small_stack([] {
    MicroTape tape;
    const Var x = tape.leaf(f64(1));
    Var y = x;
    for (int i = 0; i < 100'000; ++i) y = y * x;
    const Var dx = backward(y, Record::yes)[x];
    require(dx.item() == 100'001, "adjoint");
    require(backward(dx)[x].item() == 100'001.0 * 100'000, "second derivative");
  });
}

TEST_CASE("a chain of 100,000 nodes has a derivation, in lines of 80 columns") {
  on_a_small_stack([] {
    MicroTape tape;
    const Var x = tape.leaf(f64(0.5), "x");
    Var y = x;
    // Every other node adds nothing to a line, so that lines alone do not bound what is folded.
    for (int i = 0; i < 100'000; ++i) y = i % 2 ? scale(y, {1.0}) : y + 1;
    const std::string text = to_text(derivation(tape, y));
    std::size_t lines = 0, start = 0;
    for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
      require(end - start <= 80, "a line of 80 columns");
      ++lines;
    }
    require(lines > 5000, "many lines");
  });
}
