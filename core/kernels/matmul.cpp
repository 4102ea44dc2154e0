#include <microtape/core/kernels/matmul.hpp>

#include <algorithm>
#include <climits>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/kernels/matrix.hpp>
#include <microtape/core/kernels/strided.hpp>

namespace microtape::kernels {
namespace {

/// One of the three products: its name and which operand it transposes.
struct Product {
  std::string_view op;
  Transpose a, b;

  /// The axis of a and of b that the sum runs over, and those that remain.
  Index inner_a() const { return a == Transpose::yes ? -2 : -1; }
  Index inner_b() const { return b == Transpose::yes ? -1 : -2; }
  Index outer_a() const { return -3 - inner_a(); }
  Index outer_b() const { return -3 - inner_b(); }
  /// Whether b of rank 2 serves every row of a. If a is transposed its rows are not the result's.
  bool shares_b() const { return a == Transpose::no; }
};

/// op(X) in the terms of BLAS.
template <class T>
Matrix<const T> transposed_if(const Matrix<const T>& x, Transpose transpose) {
  return transpose == Transpose::yes ? x.transposed() : x;
}

/// All axes but the last two.
std::span<const Index> batch(const Tensor& x) { return x.extents().first(x.extents().size() - 2); }

// --- checks ------------------------------------------------------------------------------

[[noreturn]] void fail_rank(std::string_view op, const Tensor& a, const Tensor& b) {
  const Tensor& flat = a.rank() < 2 ? a : b;
  const Index n = flat.size();
  const std::string hint = flat.rank() == 0 ? "[1, 1]" : cat(Shape({1, n}), " or ", Shape({n, 1}));
  throw ShapeError(cat(op, ": needs matrices: a ", a.shape(), " has rank ", a.rank(), ", b ",
      b.shape(), " has rank ", b.rank(), "; both need rank 2 or more; reshape it to ", hint));
}

[[noreturn]] void fail_inner(const Product& product, const Tensor& a, const Tensor& b) {
  const auto count = [](const Tensor& x, Index axis) {
    const Index n = x.extent(axis);
    return cat(x.shape(), " has ", n, axis == -1 ? " column" : " row", n == 1 ? "" : "s");
  };
  throw ShapeError(cat(product.op, ": inner extents differ: a ", count(a, product.inner_a()),
      ", b ", count(b, product.inner_b()), "; a ",
      product.a == Transpose::yes ? "[.., k, m]" : "[.., m, k]", " needs b ",
      product.b == Transpose::yes ? "[.., n, k]" : "[.., k, n]"));
}

void check(const Product& product, const Tensor& a, const Tensor& b) {
  require_same_floating(product.op, "a", a, "b", b);
  if (a.rank() < 2 || b.rank() < 2) fail_rank(product.op, a, b);
  if (a.extent(product.inner_a()) != b.extent(product.inner_b())) fail_inner(product, a, b);
  const bool serves_all = product.shares_b() && b.rank() == 2;
  if (!serves_all && !same_extents(batch(a), batch(b)))
    throw ShapeError(cat(product.op, ": batch axes differ: a ", a.shape(), " has ",
        batch_axes(a.shape()), ", b ", b.shape(), " has ", batch_axes(b.shape()),
        "; they must be equal", product.shares_b() ? ", or b of rank 2" : "",
        "; broadcast_to() repeats without copying"));
}

void check_extents(
    const Product& product, const Tensor& a, const Tensor& b, Index m, Index n, Index k) {
  if (std::max({m, n, k}) <= INT_MAX) return;
  throw ValueError(cat(product.op, ": too large for BLAS: a ", a.shape(), ", b ", b.shape(),
      " make m ", m, ", n ", n, ", k ", k, "; each may be at most ", INT_MAX));
}

// --- the product -------------------------------------------------------------------------

/// Fills `out`, matrix by matrix, each in panels of rows; no extent is 0.
template <class T>
void multiply(const Product& product, const Tensor& a, const Tensor& b, T alpha, Tensor& out) {
  const Index m = a.extent(product.outer_a()), n = b.extent(product.outer_b());
  const Index k = a.extent(product.inner_a());
  check_extents(product, a, b, m, n, k);
  const Matrices left(a), right(b);
  Nest<2> batches;
  for (Index i = 0; i < a.rank() - 2; ++i)
    batches.push({a.extent(i), {left.step(i), right.step(i)}});
  // BLAS does not look at its operands if alpha is 0; but 0 * nan is nan.
  const T factor = alpha == 0 ? T{1} : alpha;
  T* y = out.mutable_data<T>().data();
  const Panels panels{m};
  const auto multiply_panel = [&](Index piece) {
    const Index matrix = piece / panels.count, i = piece % panels.count;
    batches.for_each(matrix, matrix + 1, [&](const Steps<2>& at) {
      const Matrix<const T> x = transposed_if(left.at<T>(at[0]), product.a);
      const Matrix<T> to{y + matrix * m * n, m, n, n};
      multiply(panels.cut(x, i), transposed_if(right.at<T>(at[1]), product.b), factor,
          panels.cut(to, i));
    });
  };
  share_products(batches.count() * panels.count, panels.height, n, k, multiply_panel);
  if (alpha == 0)
    for (T& number : out.mutable_data<T>()) number *= alpha;
}

Tensor multiply(const Product& product, const Tensor& a, const Tensor& b, double alpha) {
  check(product, a, b);
  Indices extents(batch(a));
  extents.push_back(a.extent(product.outer_a()));
  extents.push_back(b.extent(product.outer_b()));
  const Index k = a.extent(product.inner_a());
  Tensor out = Tensor::uninitialized(Shape(extents), a.dtype());
  if (out.size() == 0) return out;
  if (k == 0) return Tensor::zeros(out.shape(), a.dtype());
  // With b of rank 2 the leading axes of a are further rows: one product does them all.
  const bool has_more_rows = product.shares_b() && b.rank() == 2 && a.rank() > 2;
  const Tensor rows = has_more_rows ? a.reshape({a.size() / k, k}) : Tensor();
  with_floating_type(a.dtype(), [&]<class T>() {
    multiply<T>(product, has_more_rows ? rows : a, b, static_cast<T>(alpha), out);
  });
  return out;
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, double alpha) {
  return multiply({"matmul", Transpose::no, Transpose::no}, a, b, alpha);
}

Tensor matmul_nt(const Tensor& a, const Tensor& b, double alpha) {
  return multiply({"matmul_nt", Transpose::no, Transpose::yes}, a, b, alpha);
}

Tensor matmul_tn(const Tensor& a, const Tensor& b, double alpha) {
  return multiply({"matmul_tn", Transpose::yes, Transpose::no}, a, b, alpha);
}

}  // namespace microtape::kernels
