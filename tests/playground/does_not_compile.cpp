#include <microtape/microtape.hpp>

int main() {
  const microtape::Tensor x = "no number";  // the line to be named
}
