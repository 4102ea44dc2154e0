#include <microtape/layers/mlp.hpp>

namespace microtape {

Mlp::Mlp(Index in, Index hidden, Index out, const LayerOptions& options)
    : Layer(options, "mlp"),
      fc1_(in, hidden, part_options(options, "fc1", 0, "1")),
      fc2_(hidden, out, part_options(options, "fc2", 1, "2")) {}

Var Mlp::operator()(const Var& x) {
  const auto scope = enter(x);
  return fc2_(gelu(fc1_(x)));  // [.., in] -> [.., hidden] -> [.., out]
}

}  // namespace microtape
