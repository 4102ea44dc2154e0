// A write beyond the end of a Tensor.

#include <microtape/microtape.hpp>

int main() {
  microtape::Tensor x = microtape::Tensor::zeros({3, 3});
  x.mutable_data<float>()[9] = 1;  // the line to be named
}
