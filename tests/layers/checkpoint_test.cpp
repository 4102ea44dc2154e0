// checkpoint() around whole layers.

#include <microtape/tape/checkpoint.hpp>

#include <microtape/layers/transformer.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

enum class With { nothing, checkpoint };

/// The loss and the gradients of three blocks one after the other, in two rounds: the draws of the
/// second go on where the first stopped.
std::vector<Tensor> train(With with, double drop, Keep keep) {
  std::vector<TransformerBlock> blocks;
  for (std::uint64_t i = 0; i < 3; ++i)
    blocks.emplace_back(8, 2, drop, true, LayerOptions{.dtype = float64, .seed = i});
  std::vector<Tensor> out;
  MicroTape tape(keep);
  for (std::uint64_t round = 0; round < 2; ++round) {
    const Var x = tape.leaf(Tensor::randn({2, 5, 8}, 9 + round, float64));
    Var h = x;
    for (TransformerBlock& block : blocks)
      h = with == With::nothing
              ? block(h)
              : checkpoint([&block](std::span<const Var> in) { return block(in[0]); }, {h});
    const Gradients g = backward(sum(square(h)));
    out.push_back(h.value());
    out.push_back(g[x].value());
    for (TransformerBlock& block : blocks)
      for (const Parameter& p : block.parameters()) out.push_back(g[p].value());
    tape.clear();
  }
  return out;
}

}  // namespace

TEST_CASE("blocks under checkpoint() train as without, to the bit, also with dropout") {
  for (const Keep keep : {Keep::everything, Keep::needed})
    for (const double drop : {0.0, 0.3}) {
      const std::vector<Tensor> expected = train(With::nothing, drop, keep);
      const std::vector<Tensor> got = train(With::checkpoint, drop, keep);
      REQUIRE(got.size() == expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(identical(got[i], expected[i]));
    }
}

TEST_CASE("checkpoint() inside checkpoint() drops what the same layers drop without") {
  const auto run = [](With with) {
    Dropout a(0.5, {.dtype = float64, .seed = 1}), b(0.5, {.dtype = float64, .seed = 1});
    const auto inner = [&a](std::span<const Var> in) { return exp(a(in[0])); };
    const auto outer = [&](std::span<const Var> in) {
      return a(b(with == With::nothing ? inner(in) : checkpoint(inner, {in[0]})));
    };
    MicroTape tape;
    const Var x = tape.leaf(Tensor::randn({40}, 2, float64));
    const Var y = with == With::nothing ? outer(std::vector{x}) : checkpoint(outer, {x});
    return std::pair(y.value(), backward(sum(y))[x].value());
  };
  const auto expected = run(With::nothing), got = run(With::checkpoint);
  CHECK(identical(got.first, expected.first));
  CHECK(identical(got.second, expected.second));
}
