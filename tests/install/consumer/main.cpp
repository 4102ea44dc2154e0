// A program of someone else's. d sum(x * x) / dx = 2 x.

#include <cstdio>
#include <string_view>

#include "core/tensor.hpp"

#include <microtape/microtape.hpp>
#include <microtape/tape/micro_tape.hpp>

int main() {
  using namespace microtape;
  if (std::string_view(consumer::whose_tensor()) != "the consumer's") return 1;

  MicroTape tape;
  const Var x = tape.leaf(Tensor::of({{1, 2}, {3, 4}}), "x");
  const Gradients gradients = backward(sum(x * x));
  if (gradients[x].value().at({1, 0}) != 6) return 2;

  // A mistake arrives as the type that it was thrown as, also out of a shared library.
  try {
    reshape(x, {3});
    return 3;
  } catch (const ShapeError& error) {
    std::printf("as expected: %s\n", error.what());
  }
  std::printf("MicroTape works from here.\n");
  return 0;
}
