// The classic mistake in an op of one's own: its rule captures a local variable by reference, and
// runs when that variable is gone.

#include <microtape/microtape.hpp>

using namespace microtape;

Var tripled(const Var& x) {
  double factor = 3;
  return record({"tripled", "3 @x"}, [&] { return (x * factor).value(); },
      {
          {"x", x, "3 @g",
              [&factor](const Var& g) {
                return g * factor;  // the line to be named
              }},
      });
}

int main() {
  MicroTape tape;
  const Var x = tape.leaf(Tensor::of({1, 2}));
  backward(sum(tripled(x)));
}
