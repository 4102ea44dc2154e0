// The same mistake with a Var: the rule captures a temporary by reference and hands it to an op.

#include <microtape/microtape.hpp>

using namespace microtape;

Var squared(const Var& x) {
  return record({"squared", "@x^{2}"}, [&] { return (x * x).value(); },
      {
          {"x", x, R"(2 @g \odot @x)",
              [&](const Var& g) {
                return 2 * g * x;  // the line to be named
              }},
      });
}

int main() {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of({1, 2}));
  const Var y = squared(x + 1);
  backward(sum(y));
}
