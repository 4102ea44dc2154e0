// libFuzzer calls this with bytes of its own making: tests/fuzz/run.sh.

#include "fuzz/invariant.hpp"

using namespace microtape::testing;

extern "C" int LLVMFuzzerTestOneInput(const char* data, std::size_t size) {
  static const Folder folder;
  put(folder / "x", std::string(data, size));
  check_npy(folder / "x", folder / "copy");
  return 0;
}
