#include <algorithm>
#include <numeric>
#include <vector>

#include <microtape/core/error.hpp>
#include <microtape/core/random.hpp>
#include <microtape/core/tensor.hpp>

#include "catch.hpp"

using namespace microtape;
using microtape::testing::says;

namespace {

/// What a Tensor should hold: its numbers in row-major order.
struct Model {
  Shape shape;
  std::vector<double> numbers;

  double at(const Indices& index) const {
    Index place = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      place = place * shape.extents()[axis] + index[axis];
    return numbers[static_cast<std::size_t>(place)];
  }
};

/// The multi-indices of a shape in row-major order.
std::vector<Indices> indices_of(const Shape& shape) {
  std::vector<Indices> out;
  for (Index turn = 0; turn < shape.size(); ++turn) {
    Indices at = shape.extents();
    Index rest = turn;
    for (std::size_t axis = at.size(); axis-- > 0; rest /= shape.extents()[axis])
      at[axis] = rest % shape.extents()[axis];
    out.push_back(at);
  }
  return out;
}

/// A new model, filled by a function of the multi-index.
template <class F>
Model model_of(const Shape& shape, F number) {
  Model out{shape, {}};
  for (const Indices& at : indices_of(shape)) out.numbers.push_back(number(at));
  return out;
}

/// Offsets of the numbers from the first, in row-major order, by the definition of strides.
std::vector<Index> offsets_of(const Tensor& x) {
  std::vector<Index> out;
  const Indices strides = x.strides();
  for (const Indices& at : indices_of(x.shape()))
    out.push_back(std::inner_product(at.begin(), at.end(), strides.begin(), Index{0}));
  return out;
}

/// Whether some strides put the same offsets into another shape, found by trying: each stride must
/// be the offset one step along its axis, and all other offsets must then fit.
bool can_be_viewed_as(const Tensor& x, const Shape& shape) {
  const std::vector<Index> offsets = offsets_of(x);
  const Indices steps = shape.strides();
  for (std::size_t turn = 0; turn < offsets.size(); ++turn) {
    const Indices at = indices_of(shape)[turn];
    Index offset = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      if (at[axis] > 0) offset += at[axis] * offsets[static_cast<std::size_t>(steps[axis])];
    if (offset != offsets[turn]) return false;
  }
  return true;
}

/// Random decisions, one after another.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  Index below(Index n) { return static_cast<Index>(philox(seed_, count_++, 0)[0]) % n; }

 private:
  std::uint64_t seed_, count_ = 0;
};

Shape random_shape_of_size(Dice& dice, Index size) {
  Indices extents;
  while (size > 1 && extents.size() < 7) {
    // Take a random divisor.
    Index extent = 1 + dice.below(size);
    while (size % extent != 0) --extent;
    extents.push_back(extent);
    size /= extent;
  }
  extents.push_back(size);
  return Shape(extents);
}

Indices random_order(Dice& dice, Index rank) {
  Indices order;
  for (Index axis = 0; axis < rank; ++axis) order.push_back(axis);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(dice.below(static_cast<Index>(i)))]);
  return order;
}

void check_equal(const Tensor& x, const Model& model) {
  REQUIRE(x.shape() == model.shape);
  REQUIRE(x.size() == static_cast<Index>(model.numbers.size()));
  std::size_t place = 0;
  for (const Indices& at : indices_of(x.shape())) REQUIRE(x.at(at) == model.numbers[place++]);
  // Contiguous is: the offsets count up from 0.
  std::vector<Index> counting(static_cast<std::size_t>(x.size()));
  std::iota(counting.begin(), counting.end(), Index{0});
  REQUIRE(x.is_contiguous() == (offsets_of(x) == counting));
}

/// One random step to another view, of the Tensor and of the model.
void step(Dice& dice, Tensor& x, Model& model) {
  const Shape shape = model.shape;
  const Tensor before = x;
  switch (dice.below(4)) {
    case 0: {
      const Indices order = random_order(dice, shape.rank());
      Indices extents;
      for (const Index axis : order) extents.push_back(shape[axis]);
      x = x.permute(order);
      model = model_of(Shape(extents), [&, old = model](const Indices& at) {
        Indices from = at;
        for (std::size_t j = 0; j < at.size(); ++j)
          from[static_cast<std::size_t>(order[j])] = at[j];
        return old.at(from);
      });
      REQUIRE(x.shares_memory_with(before));
      return;
    }
    case 1: {
      if (shape.rank() == 0) return;
      const Index axis = dice.below(shape.rank());
      const Index start = dice.below(shape[axis]);
      const Index stop = start + 1 + dice.below(shape[axis] - start);
      x = x.slice(axis, start, stop);
      model = model_of(shape.with(axis, stop - start), [&, old = model](Indices at) {
        at[static_cast<std::size_t>(axis)] += start;
        return old.at(at);
      });
      REQUIRE(x.shares_memory_with(before));
      return;
    }
    case 2: {
      if (shape.rank() == 8 || shape.size() > 100) return;
      Indices extents{1 + dice.below(3)};
      for (const Index extent : shape) extents.push_back(extent == 1 ? 1 + dice.below(3) : extent);
      x = x.broadcast_to(Shape(extents));
      model = model_of(Shape(extents), [&, old = model](const Indices& at) {
        Indices from = shape;
        for (std::size_t j = 0; j < from.size(); ++j)
          from[j] = shape.extents()[j] == 1 ? 0 : at[j + 1];
        return old.at(from);
      });
      REQUIRE(x.shares_memory_with(before));
      return;
    }
    default: {
      const Shape wanted = random_shape_of_size(dice, shape.size());
      const bool is_view = can_be_viewed_as(x, wanted);
      x = x.reshape(wanted);
      model.shape = wanted;
      REQUIRE(x.shares_memory_with(before) == is_view);
      return;
    }
  }
}

}  // namespace

TEST_CASE("chains of random views agree with index arithmetic") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Dice dice(seed);
    const Index size =
        std::array<Index, 5>{24, 36, 30, 64, 7}[static_cast<std::size_t>(dice.below(5))];
    Tensor x = Tensor::arange(0, static_cast<double>(size), 1,
        std::array{float32, float64, int64}[static_cast<std::size_t>(dice.below(3))]);
    Model model = model_of({size}, [](const Indices& at) { return static_cast<double>(at[0]); });
    for (int i = 0; i < 8; ++i) {
      INFO("seed " << seed << ", step " << i << ", shape " << x.shape().str());
      step(dice, x, model);
      check_equal(x, model);
    }
    check_equal(x.contiguous(), model);
    REQUIRE(x.contiguous().is_contiguous());
  }
}

TEST_CASE("permute moves axes, and -1 names the last") {
  const Tensor x = Tensor::arange(0, 24).reshape({2, 3, 4});
  const Tensor y = x.permute({-1, 0, 1});
  CHECK(y.shape() == Shape{4, 2, 3});
  CHECK(y.strides() == Indices{1, 12, 4});
  CHECK(y.at({3, 1, 2}) == x.at({1, 2, 3}));
  CHECK(Tensor::of(5).permute({}).item() == 5);
  CHECK_THROWS_MATCHES(x.permute({0, 1}), ValueError,
      says("permute: not a permutation: order [0, 1], x [2, 3, 4]; name each of the 3 axes once"));
  CHECK_THROWS_MATCHES(x.permute({0, 1, -2}), ValueError,
      says("permute: not a permutation: order [0, 1, -2], x [2, 3, 4]; name each of the 3 axes "
           "once"));
  CHECK_THROWS_AS(x.permute({0, 1, 2, 0}), ValueError);
  CHECK_THROWS_MATCHES(x.permute({0, 1, 3}), IndexError,
      says("permute: axis 3 does not exist: x [2, 3, 4] has rank 3; axes are -3 .. 2"));
}

TEST_CASE("transpose swaps the last two axes") {
  const Tensor x = Tensor::arange(0, 24).reshape({2, 3, 4});
  CHECK(x.transpose().shape() == Shape{2, 4, 3});
  CHECK(x.transpose().at({1, 3, 2}) == x.at({1, 2, 3}));
  CHECK_THROWS_MATCHES(Tensor::zeros({3}).transpose(), ShapeError,
      says("transpose: no matrix: x [3] has rank 1; needs rank 2 or more"));
}

TEST_CASE("slice keeps the axis, and may be empty") {
  const Tensor x = Tensor::arange(0, 12).reshape({3, 4});
  CHECK(x.slice(1, 1, 3).shape() == Shape{3, 2});
  CHECK(x.slice(1, 1, 3).at({2, 0}) == 9);
  CHECK(x.slice(-2, 2, 3).at({0, 3}) == 11);
  CHECK(x.slice(0, 1, 3).is_contiguous());
  CHECK(x.slice(0, 1, 3).data<float>()[0] == 4);
  CHECK(x.slice(0, 1, 3).slice(0, 1, 2).data<float>()[0] == 8);
  CHECK(x.slice(0, 3, 3).shape() == Shape{0, 4});
  CHECK_THROWS_MATCHES(x.slice(1, 2, 5), IndexError,
      says("slice: outside the axis: x [3, 4], axis 1, indices 2 to 5; needs 0 <= start <= stop <= "
           "4"));
  CHECK_THROWS_AS(x.slice(1, -1, 2), IndexError);
  CHECK_THROWS_AS(x.slice(1, 3, 2), IndexError);
  CHECK_THROWS_AS(x.slice(2, 0, 1), IndexError);
}

TEST_CASE("broadcast_to repeats with stride 0") {
  const Tensor x = Tensor::of({{1}, {2}});
  const Tensor y = x.broadcast_to({3, 2, 4});
  CHECK(y.strides() == Indices{0, 1, 0});
  CHECK(y.at({2, 1, 3}) == 2);
  CHECK(y.shares_memory_with(x));
  CHECK(x.broadcast_to({2, 1}).strides() == x.strides());
  CHECK(Tensor::of(7).broadcast_to({2, 2}).at({1, 1}) == 7);
  CHECK(Tensor::zeros({1, 3}).broadcast_to({0, 3}).shape() == Shape{0, 3});
  CHECK_THROWS_MATCHES(x.broadcast_to({2}), ShapeError,
      says(
          "broadcast_to: does not fit: x [2, 1] to [2]; each axis, counted from the right, must be "
          "equal, 1 or missing in x"));
  CHECK_THROWS_MATCHES(Tensor::zeros({2, 3}).broadcast_to({2, 1}), ShapeError,
      says(
          "broadcast_to: does not fit: x [2, 3] to [2, 1]; each axis, counted from the right, must "
          "be equal, 1 or missing in x"));
  CHECK_THROWS_AS(Tensor::zeros({2, 3}).broadcast_to({2, 4}), ShapeError);
}

TEST_CASE("reshape of a view is a view where the strides allow it") {
  // Heads: [B, T, E] seen as [B, H, T, D] and back.
  const Tensor x = Tensor::arange(0, 48).reshape({2, 3, 8});
  const Tensor heads = x.reshape({2, 3, 2, 4}).permute({0, 2, 1, 3});
  CHECK(heads.shares_memory_with(x));
  CHECK(heads.strides() == Indices{24, 4, 8, 1});
  CHECK(heads.permute({0, 2, 1, 3}).reshape({2, 3, 8}).shares_memory_with(x));
  CHECK(heads.reshape({1, 2, 2, 1, 3, 4}).shares_memory_with(x));
  CHECK_FALSE(heads.reshape({2, 2, 12}).shares_memory_with(x));
  CHECK(heads.reshape({4, 3, 4}).at({3, 2, 1}) == heads.at({1, 1, 2, 1}));
  CHECK(x.reshape({-1}).shares_memory_with(x));
  CHECK(Tensor::of(3).reshape({1, 1, 1}).at({0, 0, 0}) == 3);
  CHECK(Tensor::zeros({0, 4}).reshape({2, -1}).shape() == Shape{2, 0});
  CHECK_THROWS_AS(x.reshape({5, -1}), ShapeError);
}

TEST_CASE("views of views still find the numbers when the first owner is gone") {
  Tensor view;
  {
    const Tensor x = Tensor::arange(0, 24).reshape({4, 6});
    view = x.slice(0, 1, 3).transpose().slice(0, 2, 5);
  }
  CHECK(view.at({2, 1}) == 16);
}
