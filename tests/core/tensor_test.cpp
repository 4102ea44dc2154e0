#include <string>
#include <thread>
#include <vector>

#include <microtape/core/error.hpp>
#include <microtape/core/tensor.hpp>

#include "catch.hpp"

using namespace microtape;
using microtape::testing::says;

namespace {

template <class T>
std::vector<T> numbers_of(const Tensor& x) {
  const std::span<const T> data = x.data<T>();
  return {data.begin(), data.end()};
}

}  // namespace

TEST_CASE("a copy shares its numbers until one of the two is written to") {
  Tensor x = Tensor::of({1, 2, 3});
  Tensor y = x;
  CHECK(y.shares_memory_with(x));
  y.mutable_data<float>()[0] = 9;
  CHECK_FALSE(y.shares_memory_with(x));
  CHECK(numbers_of<float>(x) == std::vector<float>{1, 2, 3});
  CHECK(numbers_of<float>(y) == std::vector<float>{9, 2, 3});
  // The source can be written to first, too.
  const Tensor z = x;
  x.mutable_data<float>()[1] = 8;
  CHECK(numbers_of<float>(z) == std::vector<float>{1, 2, 3});
}

TEST_CASE("a Tensor that is alone is written in place") {
  Tensor x = Tensor::of({1, 2, 3});
  const void* before = x.raw();
  x.mutable_data<float>()[0] = 9;
  {
    const Tensor y = x;
  }
  {
    const Tensor y = x.reshape({3, 1});
  }
  x.mutable_data<float>()[1] = 8;
  CHECK(x.raw() == before);
  CHECK(numbers_of<float>(x) == std::vector<float>{9, 8, 3});
}

TEST_CASE("a write through a view reaches neither its source nor other views") {
  const Tensor x = Tensor::of({{1, 2, 3}, {4, 5, 6}});
  Tensor row = x.slice(0, 1, 2), flat = x.reshape({6}), turned = x.transpose();
  Tensor wide = x.slice(1, 0, 1).broadcast_to({2, 2});
  for (Tensor* view : {&row, &flat, &turned, &wide}) {
    const Shape shape = view->shape();
    view->mutable_data<float>()[0] = 99;
    CHECK(view->shape() == shape);
    CHECK_FALSE(view->shares_memory_with(x));
    CHECK(view->is_contiguous());
  }
  CHECK(numbers_of<float>(x) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(numbers_of<float>(row) == std::vector<float>{99, 5, 6});
  CHECK(numbers_of<float>(flat) == std::vector<float>{99, 2, 3, 4, 5, 6});
  CHECK(numbers_of<float>(turned) == std::vector<float>{99, 4, 2, 5, 3, 6});
  // Each number of a broadcast is one of its own now.
  CHECK(numbers_of<float>(wide) == std::vector<float>{99, 1, 4, 4});
}

TEST_CASE("a source can be written to while views look at it, and they do not see it") {
  Tensor x = Tensor::of({1, 2, 3, 4});
  const Tensor view = x.reshape({2, 2}).transpose();
  x.mutable_data<float>()[1] = 99;
  CHECK(view.at({1, 0}) == 2);
  CHECK(x.at({1}) == 99);
}

TEST_CASE("a Tensor that was moved from has no value") {
  Tensor x = Tensor::of({1, 2}), y = std::move(x), z = Tensor::of({3});
  CHECK_FALSE(x.defined());
  // Move assignment once swapped, so that the old value of z lived on in y.
  z = std::move(y);
  CHECK_FALSE(y.defined());
  CHECK(z.at({1}) == 2);
  Tensor& self = z;
  z = std::move(self);
  CHECK(z.at({1}) == 2);
  z = self;
  CHECK(z.at({1}) == 2);
  const auto text =
      says("Tensor: it has no value: it was default-constructed or moved from; give it one first");
  CHECK_THROWS_MATCHES(x.shape(), ValueError, text);
  CHECK_THROWS_MATCHES(x.size(), ValueError, text);
  CHECK_THROWS_MATCHES(x.dtype(), ValueError, text);
  CHECK_THROWS_MATCHES(x.strides(), ValueError, text);
  CHECK_THROWS_MATCHES(x.raw(), ValueError, text);
  CHECK_THROWS_MATCHES(x.data<float>(), ValueError, text);
  CHECK_THROWS_MATCHES(x.mutable_data<float>(), ValueError, text);
  CHECK_THROWS_MATCHES(x.item(), ValueError, text);
  CHECK_THROWS_MATCHES(x.at({0}), ValueError, text);
  CHECK_THROWS_MATCHES(x.reshape({1}), ValueError, text);
  CHECK_THROWS_MATCHES(x.permute({}), ValueError, text);
  CHECK_THROWS_MATCHES(x.transpose(), ValueError, text);
  CHECK_THROWS_MATCHES(x.slice(0, 0, 0), ValueError, text);
  CHECK_THROWS_MATCHES(x.broadcast_to({1}), ValueError, text);
  CHECK_THROWS_MATCHES(x.contiguous(), ValueError, text);
  CHECK_THROWS_MATCHES(x.to(float64), ValueError, text);
  CHECK_THROWS_MATCHES(x.shares_memory_with(z), ValueError, text);
  CHECK_THROWS_MATCHES(z.shares_memory_with(x), ValueError, text);
}

TEST_CASE("data asks for the right number type and for row-major order") {
  const Tensor x = Tensor::of({{1, 2}, {3, 4}});
  CHECK_THROWS_MATCHES(x.data<double>(), DTypeError,
      says("data: wrong number type: tensor [2, 2] is float32, asked for float64; ask for float32, "
           "or convert with to(float64)"));
  CHECK_THROWS_AS(Tensor(x).mutable_data<std::int64_t>(), DTypeError);
  CHECK_THROWS_MATCHES(x.transpose().data<float>(), ValueError,
      says("data: not in row-major order: tensor [2, 2] with strides [1, 2] is a view; call "
           "contiguous() first"));
  CHECK(numbers_of<float>(x.transpose().contiguous()) == std::vector<float>{1, 3, 2, 4});
  CHECK(x.contiguous().shares_memory_with(x));
}

TEST_CASE("at and item read one number") {
  const Tensor x = Tensor::of({{1, 2, 3}, {4, 5, 6}});
  CHECK(x.at({1, 2}) == 6);
  CHECK(x.at({-1, -3}) == 4);
  CHECK(x.transpose().at({2, 1}) == 6);
  CHECK(Tensor::of(0.1, float64).item() == 0.1);
  CHECK(Tensor::of({{{-3}}}, int64).item() == -3);
  CHECK(Tensor::of(2).at({}) == 2);
  CHECK_THROWS_MATCHES(x.at({2, 0}), IndexError,
      says("at: [2, 0] lies outside: tensor [2, 3]; one index an axis, each at least minus its "
           "extent and below it"));
  CHECK_THROWS_AS(x.at({0, -4}), IndexError);
  CHECK_THROWS_AS(x.at({0}), IndexError);
  CHECK_THROWS_AS(x.at({0, 0, 0}), IndexError);
  CHECK_THROWS_MATCHES(x.item(), ShapeError,
      says("item: not one number: tensor [2, 3] has 6; use at(), or reduce it first"));
  CHECK_THROWS_AS(Tensor::zeros({0}).item(), ShapeError);
}

TEST_CASE("eight axes work from end to end") {
  const Tensor x = Tensor::arange(0, 256).reshape({2, 2, 2, 2, 2, 2, 2, 2});
  CHECK(x.at({1, 0, 1, 0, 1, 0, 1, 0}) == 170);
  CHECK(x.permute({7, 6, 5, 4, 3, 2, 1, 0}).at({1, 0, 1, 0, 1, 0, 1, 0}) == 85);
  CHECK_THROWS_AS(x.reshape({2, 2, 2, 2, 2, 2, 2, 2, 1}), ShapeError);
  CHECK_THROWS_AS(x.broadcast_to({3, 2, 2, 2, 2, 2, 2, 2, 2}), ShapeError);
}

TEST_CASE("two threads may copy, view, read and drop one Tensor at the same time") {
  const Tensor shared = Tensor::arange(0, 100);
  double sums[2] = {};
  const auto work = [&shared](double& sum) {
    for (int i = 0; i < 2000; ++i) {
      Tensor mine = shared;
      const Tensor view = shared.reshape({10, 10}).transpose();
      sum += view.at({i % 10, 3}) + mine.at({i % 100});
      // Copies first: the other thread goes on reading the old numbers.
      mine.mutable_data<float>()[0] = -1;
    }
  };
  std::thread other([&] { work(sums[1]); });
  work(sums[0]);
  other.join();
  // The sum of view(j, 3) = 30 + j over ten j, 200 times, and of 0 .. 99, 20 times.
  CHECK(sums[0] == 200 * 345 + 20 * 4950);
  CHECK(sums[1] == sums[0]);
  CHECK(shared.at({0}) == 0);
}

TEST_CASE("an error keeps its type when a place is added, and says the place first") {
  try {
    try {
      Tensor::zeros({2}).reshape({3});
    } catch (Error& error) {
      error.add_place("encoder/attn");
      throw;
    }
  } catch (const ShapeError& error) {
    CHECK(std::string(error.what()) ==
          "in encoder/attn: reshape: cannot turn x [2] into [3]: 2 elements are not 3; the number "
          "of elements must stay the same");
  }
}
