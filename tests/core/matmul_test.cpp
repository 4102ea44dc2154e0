#include <cmath>
#include <functional>
#include <limits>

#include <microtape/core/error.hpp>
#include <microtape/core/kernels/matmul.hpp>
#include <microtape/core/random.hpp>

#include "catch.hpp"

using namespace microtape;
using kernels::matmul;
using kernels::matmul_nt;
using kernels::matmul_tn;
using microtape::testing::says;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// Whole numbers from -4 to 4: products of them are exact in float32, so results can be equal.
Tensor whole(const Shape& shape, std::uint64_t seed, DType dtype) {
  std::vector<double> numbers;
  for (Index i = 0; i < shape.size(); ++i)
    numbers.push_back(std::floor(9 * random_uniform(seed, static_cast<std::uint64_t>(i))) - 4);
  return Tensor::of(shape, numbers, dtype);
}

/// The product by its definition, element by element, in long double. a [.., m, k], b [.., k, n] or
/// [k, n]
Tensor expected(const Tensor& a, const Tensor& b, double alpha = 1) {
  const Shape shape = a.shape().with(-1, b.extent(-1));
  const Indices extents = shape;
  const std::size_t rank = extents.size();
  std::vector<double> numbers;
  for (Index turn = 0; turn < shape.size(); ++turn) {
    Indices at = extents;
    Index rest = turn;
    for (std::size_t axis = rank; axis-- > 0; rest /= extents[axis])
      at[axis] = rest % extents[axis];
    Indices in_a = at, in_b = at;
    if (b.rank() == 2) in_b = {0, at[rank - 1]};
    long double sum = 0;
    for (Index p = 0; p < a.extent(-1); ++p) {
      in_a[rank - 1] = p;
      in_b[in_b.size() - 2] = p;
      sum += static_cast<long double>(a.at(in_a)) * b.at(in_b);
    }
    numbers.push_back(static_cast<double>(alpha * sum));
  }
  return Tensor::of(shape, numbers, a.dtype());
}

bool equal(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor x = a.to(float64).contiguous(), y = b.to(float64).contiguous();
  for (Index i = 0; i < x.size(); ++i) {
    const auto n = static_cast<std::size_t>(i);
    if (x.data<double>()[n] != y.data<double>()[n]) return false;
  }
  return true;
}

/// Whole numbers [2, 3, rows, columns] that lie in memory in one of several ways.
struct Layout {
  const char* name;
  std::function<Tensor(Index, Index, std::uint64_t, DType)> make;
};

const std::vector<Layout> kLayouts{
    {"contiguous",
        [](Index r, Index c, auto seed, auto t) { return whole({2, 3, r, c}, seed, t); }},
    {"transposed", [](Index r, Index c, auto seed,
                       auto t) { return whole({2, 3, c, r}, seed, t).transpose(); }},
    {"rows of a wider matrix",
        [](Index r, Index c, auto seed, auto t) {
          return whole({2, 3, r, c + 3}, seed, t).slice(-1, 2, c + 2);
        }},
    {"columns of a wider matrix, transposed",
        [](Index r, Index c, auto seed, auto t) {
          return whole({2, 3, c, r + 3}, seed, t).slice(-1, 1, r + 1).transpose();
        }},
    {"heads of one row: [B, T, H, D] seen as [B, H, T, D]",
        [](Index r, Index c, auto seed, auto t) {
          return whole({2, r, 3, c}, seed, t).permute({0, 2, 1, 3});
        }},
    {"heads, transposed",
        [](Index r, Index c, auto seed, auto t) {
          return whole({2, c, 3, r}, seed, t).permute({0, 2, 3, 1});
        }},
    {"every second number",
        [](Index r, Index c, auto seed, auto t) {
          return whole({2, 3, r, c, 2}, seed, t).slice(-1, 1, 2).reshape({2, 3, r, c});
        }},
    {"one matrix for all batches",
        [](Index r, Index c, auto seed, auto t) {
          return whole({r, c}, seed, t).broadcast_to({2, 3, r, c});
        }},
    {"one row for all rows",
        [](Index r, Index c, auto seed, auto t) {
          return whole({2, 3, 1, c}, seed, t).broadcast_to({2, 3, r, c});
        }},
    {"one column for all columns",
        [](Index r, Index c, auto seed, auto t) {
          return whole({2, 3, r, 1}, seed, t).broadcast_to({2, 3, r, c});
        }},
    {"one number for all", [](Index r, Index c, auto seed,
                               auto t) { return whole({1}, seed, t).broadcast_to({2, 3, r, c}); }},
    {"batches swapped", [](Index r, Index c, auto seed,
                            auto t) { return whole({3, 2, r, c}, seed, t).permute({1, 0, 2, 3}); }},
    {"rows outermost", [](Index r, Index c, auto seed,
                           auto t) { return whole({r, 2, 3, c}, seed, t).permute({1, 2, 0, 3}); }},
};

}  // namespace

TEST_CASE("a product written out by hand") {
  const Tensor a = Tensor::of({{1, 2, 3}, {4, 5, 6}}), b = Tensor::of({{1, 0}, {2, -1}, {0, 3}});
  CHECK(equal(matmul(a, b), Tensor::of({{5, 7}, {14, 13}})));
  CHECK(equal(matmul_nt(a, b.transpose().contiguous()), Tensor::of({{5, 7}, {14, 13}})));
  CHECK(equal(matmul_tn(a.transpose().contiguous(), b), Tensor::of({{5, 7}, {14, 13}})));
  CHECK(equal(matmul(a, b, -0.5), Tensor::of({{-2.5, -3.5}, {-7, -6.5}})));
}

TEST_CASE("every way for operands to lie in memory gives the same products") {
  for (const DType dtype : {float32, float64})
    for (const Layout& left : kLayouts)
      for (const Layout& right : kLayouts)
        for (const auto& [m, k, n] : {std::array<Index, 3>{4, 5, 3}, {1, 4, 3}, {3, 1, 2},
                 {2, 4, 1}, {1, 1, 5}, {1, 3, 1}, {1, 1, 1}}) {
          INFO(left.name << " times " << right.name << ", m " << m << ", k " << k << ", n " << n);
          const Tensor a = left.make(m, k, 1, dtype), b = right.make(k, n, 2, dtype);
          const Tensor y = expected(a, b, 2);
          REQUIRE(equal(matmul(a, b, 2), y));
          const Tensor b_nt = right.make(n, k, 3, dtype);
          REQUIRE(equal(matmul_nt(a, b_nt, 2), expected(a, b_nt.transpose(), 2)));
          const Tensor a_tn = left.make(k, m, 4, dtype);
          REQUIRE(equal(matmul_tn(a_tn, b, 2), expected(a_tn.transpose(), b, 2)));
        }
}

TEST_CASE("a right operand of rank 2 serves every row of the left one") {
  for (const DType dtype : {float32, float64})
    for (const Layout& left : kLayouts) {
      INFO(left.name);
      const Tensor a = left.make(4, 5, 1, dtype);
      const Tensor b = whole({5, 3}, 2, dtype);
      REQUIRE(equal(matmul(a, b), expected(a, b)));
      REQUIRE(equal(matmul(a, b.transpose().contiguous().transpose()), expected(a, b)));
      REQUIRE(equal(matmul_nt(a, b.transpose().contiguous()), expected(a, b)));
      const Tensor wide = whole({5, 9}, 3, dtype).slice(1, 2, 6);
      REQUIRE(equal(matmul(a, wide), expected(a, wide)));
      REQUIRE(equal(matmul_nt(a, wide.transpose()), expected(a, wide)));
    }
}

TEST_CASE("large products are right to the rounding of a sum") {
  const Tensor a = Tensor::randn({2, 65, 130}, 1, float64);
  const Tensor b = Tensor::randn({2, 130, 33}, 2, float64);
  const Tensor y = expected(a, b, 0.3);
  const Tensor y64 = matmul(a, b, 0.3);
  const Tensor y32 = matmul(a.to(float32), b.to(float32), 0.3);
  double worst64 = 0, worst32 = 0;
  for (std::size_t i = 0; i < y.data<double>().size(); ++i) {
    worst64 = std::max(worst64, std::abs(y64.data<double>()[i] - y.data<double>()[i]));
    worst32 = std::max(
        worst32, std::abs(static_cast<double>(y32.data<float>()[i]) - y.data<double>()[i]));
  }
  // A sum of k = 130 products of size 1: k units in the last place at the very most.
  CHECK(worst64 < 130 * 0x1p-52);
  CHECK(worst32 < 130 * 0x1p-23);
}

TEST_CASE("rank 8 multiplies batch by batch") {
  const Tensor a = whole({2, 1, 2, 1, 1, 2, 3, 4}, 1, float32);
  const Tensor b = whole({2, 1, 2, 1, 1, 2, 4, 2}, 2, float32);
  CHECK(equal(matmul(a, b), expected(a, b)));
}

TEST_CASE("an empty sum is 0, an empty product has no elements") {
  CHECK(equal(matmul(Tensor::zeros({2, 0}), Tensor::zeros({0, 3})), Tensor::zeros({2, 3})));
  CHECK(
      equal(matmul_nt(Tensor::zeros({4, 2, 0}), Tensor::zeros({3, 0})), Tensor::zeros({4, 2, 3})));
  CHECK(equal(matmul_tn(Tensor::zeros({0, 2}), Tensor::zeros({0, 3})), Tensor::zeros({2, 3})));
  CHECK(matmul(Tensor::zeros({0, 2}), Tensor::zeros({2, 3})).shape() == Shape{0, 3});
  CHECK(matmul(Tensor::zeros({2, 3}), Tensor::zeros({3, 0})).shape() == Shape{2, 0});
  CHECK(matmul(Tensor::zeros({0, 2, 3}), Tensor::zeros({0, 3, 4})).shape() == Shape{0, 2, 4});
  CHECK(matmul(Tensor::zeros({0, 2, 3}), Tensor::zeros({3, 4})).shape() == Shape{0, 2, 4});
}

TEST_CASE("nan and inf go where arithmetic puts them, and come from nowhere else") {
  for (const DType dtype : {float32, float64}) {
    // Leave nan in the memory that the result is likely to get: beta = 0 must not read it.
    for (int i = 0; i < 4; ++i) Tensor::full({40, 40}, kNan, dtype);
    CHECK(equal(matmul(whole({40, 30}, 1, dtype), whole({30, 40}, 2, dtype)),
        expected(whole({40, 30}, 1, dtype), whole({30, 40}, 2, dtype))));

    // nan * 0 is nan, in the whole row, and only there.
    const Tensor a = Tensor::of({{kNan, 0}, {1, 2}}, dtype);
    const Tensor b = Tensor::zeros({2, 2}, dtype);
    CHECK(std::isnan(matmul(a, b).at({0, 0})));
    CHECK(std::isnan(matmul(a, b).at({0, 1})));
    CHECK(matmul(a, b).at({1, 0}) == 0);
    CHECK(std::isnan(matmul(b, a).at({1, 0})));
    CHECK(matmul(b, a).at({1, 1}) == 0);
    // inf * 0 is nan, inf * 2 is inf; alpha = 0 is no shortcut.
    const Tensor c = Tensor::of({{kInf, 1}}, dtype);
    CHECK(std::isnan(matmul(c, b).at({0, 0})));
    CHECK(matmul(c, Tensor::of({{2}, {3}}, dtype)).item() == kInf);
    CHECK(std::isnan(matmul(c, Tensor::of({{2}, {3}}, dtype), 0).item()));
    CHECK(equal(matmul(whole({3, 2}, 1, dtype), whole({2, 4}, 2, dtype), 0),
        matmul(Tensor::zeros({3, 2}, dtype), whole({2, 4}, 2, dtype))));
  }
}

TEST_CASE("operands are not changed and the result shares no memory with them") {
  const Tensor a = whole({3, 4}, 1, float32), b = whole({4, 4}, 2, float32);
  const Tensor a_before =
      Tensor::of({3, 4}, std::vector<double>(a.data<float>().begin(), a.data<float>().end()));
  const Tensor y = matmul(a, b);
  CHECK(equal(a, a_before));
  CHECK_FALSE(y.shares_memory_with(a));
  CHECK(y.is_contiguous());
}

TEST_CASE("matmul errors name both shapes and the rule") {
  const auto zeros = [](const Shape& shape) { return Tensor::zeros(shape); };
  CHECK_THROWS_MATCHES(matmul(zeros({2, 3}), zeros({2, 2})), ShapeError,
      says("matmul: inner extents differ: a [2, 3] has 3 columns, b [2, 2] has 2 rows; "
           "a [.., m, k] needs b [.., k, n]"));
  CHECK_THROWS_MATCHES(matmul(zeros({2, 3}), zeros({1, 2})), ShapeError,
      says("matmul: inner extents differ: a [2, 3] has 3 columns, b [1, 2] has 1 row; "
           "a [.., m, k] needs b [.., k, n]"));
  CHECK_THROWS_MATCHES(matmul_nt(zeros({2, 3}), zeros({4, 2})), ShapeError,
      says("matmul_nt: inner extents differ: a [2, 3] has 3 columns, b [4, 2] has 2 columns; "
           "a [.., m, k] needs b [.., n, k]"));
  CHECK_THROWS_MATCHES(matmul_tn(zeros({3, 2}), zeros({2, 4})), ShapeError,
      says("matmul_tn: inner extents differ: a [3, 2] has 3 rows, b [2, 4] has 2 rows; "
           "a [.., k, m] needs b [.., k, n]"));
  CHECK_THROWS_MATCHES(matmul(zeros({3}), zeros({3, 2})), ShapeError,
      says("matmul: needs matrices: a [3] has rank 1, b [3, 2] has rank 2; both need rank 2 or "
           "more; reshape it to [1, 3] or [3, 1]"));
  CHECK_THROWS_MATCHES(matmul_nt(zeros({4, 3}), zeros({3})), ShapeError,
      says("matmul_nt: needs matrices: a [4, 3] has rank 2, b [3] has rank 1; both need rank 2 or "
           "more; reshape it to [1, 3] or [3, 1]"));
  CHECK_THROWS_MATCHES(matmul(zeros({3, 2}), zeros({})), ShapeError,
      says("matmul: needs matrices: a [3, 2] has rank 2, b [] has rank 0; both need rank 2 or "
           "more; reshape it to [1, 1]"));
  CHECK_THROWS_MATCHES(matmul(zeros({2, 3, 4}), zeros({5, 4, 2})), ShapeError,
      says("matmul: batch axes differ: a [2, 3, 4] has [2], b [5, 4, 2] has [5]; they must be "
           "equal, or b of rank 2; broadcast_to() repeats without copying"));
  CHECK_THROWS_MATCHES(matmul(zeros({3, 4}), zeros({5, 4, 2})), ShapeError,
      says("matmul: batch axes differ: a [3, 4] has [], b [5, 4, 2] has [5]; they must be "
           "equal, or b of rank 2; broadcast_to() repeats without copying"));
  CHECK_THROWS_MATCHES(matmul_tn(zeros({2, 4, 3}), zeros({4, 2})), ShapeError,
      says("matmul_tn: batch axes differ: a [2, 4, 3] has [2], b [4, 2] has []; they must be "
           "equal; broadcast_to() repeats without copying"));
}

TEST_CASE("matmul takes float32 or float64, and does not mix them") {
  CHECK_THROWS_AS(matmul(Tensor::zeros({2, 2}), Tensor::zeros({2, 2}, float64)), DTypeError);
  CHECK_THROWS_AS(matmul(Tensor::zeros({2, 2}, int64), Tensor::zeros({2, 2}, int64)), DTypeError);
  CHECK(matmul(Tensor::zeros({2, 2}, float64), Tensor::zeros({2, 2}, float64)).dtype() == float64);
}

TEST_CASE("extents that BLAS cannot count are refused before anything is copied") {
  const Index huge = 3'000'000'000;
  const Tensor one = Tensor::zeros({1, 1});
  CHECK_THROWS_MATCHES(matmul(one.broadcast_to({1, huge}), one.broadcast_to({huge, 1})), ValueError,
      says("matmul: too large for BLAS: a [1, 3000000000], b [3000000000, 1] make m 1, n 1, "
           "k 3000000000; each may be at most 2147483647"));
}
