// Prints a gradient and its arguments, and ends with 7. d sum(x * x) / dx = 2 x.

#include <iostream>

#include <microtape/microtape.hpp>

int main(int count, char** arguments) {
  using namespace microtape;
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of({1, 2}));
  const Gradients gradients = backward(sum(x * x));
  std::cout << gradients[x].value().at({0}) << ' ' << gradients[x].value().at({1});
  for (int i = 1; i < count; ++i) std::cout << " <" << arguments[i] << '>';
  std::cout << '\n';
  return 7;
}
