// Cases A of cases.json about long tapes: the stack, and the memory that comes back.

#include <fstream>
#include <thread>

#include <pthread.h>
#include <unistd.h>

#include <microtape/tape/ops.hpp>

#include "cases/case_file.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

/// Bytes of this process that are in memory now.
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// A sanitizer keeps freed memory for a while, so its processes do not shrink.
bool has_sanitizer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
  return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
  return false;
#endif
}

/// A08 once, in a thread with a stack of 256 KB.
struct LongTape {
  bool sweeps;
  double y = 0, dx = 0;

  void run() {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    pthread_t thread;
    const auto body = [](void* at) -> void* {
      static_cast<LongTape*>(at)->build();
      return nullptr;
    };
    REQUIRE(pthread_create(&thread, &attributes, body, this) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
  }
  void build() {
    MicroTape tape;
    const Var x = tape.leaf(f64(0.5));
    Var last = x;
    for (int i = 0; i < 1'000'000; ++i) last = last + 1;
    y = last.item();
    if (sweeps) dx = backward(last)[x].item();
  }
};

}  // namespace

TEST_CASE("A06: a chain of 100000 additions is swept and destroyed without overflowing the stack") {
  const Case c("A06");
  MicroTape tape;
  const Var x = tape.leaf(c.input("x"));
  Var y = x;
  for (int i = 0; i < c.json().at("inputs").at("n"); ++i)
    y = y + y * c.json().at("inputs").at("c").get<double>();
  CHECK(c.holds("y", y));
  CHECK(c.holds("grad.x", backward(y)[x]));
}

TEST_CASE("A08: a tape of a million nodes is destroyed, swept or not, and gives its memory back") {
  const Case c("A08");
  const double before = resident_bytes();
  for (const bool sweeps : {false, true}) {
    LongTape once{.sweeps = sweeps};
    once.run();
    CHECK(c.holds("y", f64(once.y)));
    if (sweeps) CHECK(c.holds("grad.x", f64(once.dx)));
  }
  const double grown = resident_bytes() - before;
  if (!has_sanitizer()) CHECK(grown < 4e6);  // of some 350 MB
}

TEST_CASE("a tape gives its memory back, whatever it keeps") {
  if (has_sanitizer()) return;
  const auto grown = [](Keep keep, const Shape& shape) {
    const double before = resident_bytes();
    std::thread([&] {  // not the first thread, whose memory the C library watches more closely
      MicroTape tape(keep);
      Var y = tape.leaf(Tensor::full(shape, 0.5));
      for (int i = 0; i < 500'000; ++i) y = y + 1;
      backward(sum(y));
    })
        .join();
    return resident_bytes() - before;
  };
  for (const Keep keep : {Keep::everything, Keep::needed})
    for (const Shape& shape : {Shape{}, Shape{4}, Shape{100}}) {
      CAPTURE(keep == Keep::needed, shape.str());
      CHECK(grown(keep, shape) < 6e6);  // of 85 MB and more
    }
}

TEST_CASE("A09: ops whose rules use their own output leave nothing behind") {
  const std::vector<std::pair<const char*, Var (*)(const Var&)>> ops{{"exp", exp}, {"tanh", tanh},
      {"sigmoid", sigmoid}, {"sqrt", sqrt}, {"softmax", [](const Var& x) { return softmax(x); }},
      {"log_softmax", [](const Var& x) { return log_softmax(x); }},
      {"layer_norm", [](const Var& x) { return standardize(x); }},
      {"max", [](const Var& x) { return max(x, -1); }},
      {"attention", [](const Var& x) { return matmul(softmax(matmul_nt(x, x, {0.125})), x); }}};
  const Tensor data = Tensor::uniform({64, 64}, 0.5, 1.5, 1);
  for (const auto& [name, op] : ops) {
    double after_some = 0;
    for (int i = 0; i < 1000; ++i) {
      MicroTape tape;
      op(tape.leaf(data));
      if (i == 99) after_some = resident_bytes();
    }
    INFO(name);
    if (!has_sanitizer()) CHECK(resident_bytes() - after_some < 1e6);
  }
}
