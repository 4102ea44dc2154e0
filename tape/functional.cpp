#include <microtape/tape/functional.hpp>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/tape/backward.hpp>
#include <microtape/tape/ops.hpp>

namespace microtape {
namespace {

void check_directions(std::string_view op, std::span<const Tensor> x, std::span<const Tensor> v) {
  if (x.size() != v.size())
    throw ValueError(cat(op, ": not a direction for each input: ", x.size(), " inputs, ", v.size(),
        " directions; there must be as many"));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i].shape() != v[i].shape())
      throw ShapeError(cat(op, ": direction ", i, " does not fit: x ", x[i].shape(), ", v ",
          v[i].shape(), "; they must be equal"));
    if (x[i].dtype() != v[i].dtype())
      throw DTypeError(cat(op, ": direction ", i, " does not fit: x ", x[i].dtype(), ", v ",
          v[i].dtype(), "; convert it with to(", x[i].dtype(), ")"));
  }
}

void check_scalar(std::string_view op, const Var& y) {
  if (y.size() != 1)
    throw ShapeError(cat(op, ": f(x) is not a scalar: y ", y.shape(), " has ", y.size(),
        " elements; reduce it with sum() or mean()"));
}

std::vector<Var> leaves(MicroTape& tape, std::span<const Tensor> x) {
  std::vector<Var> out;
  for (const Tensor& value : x) out.push_back(tape.leaf(value));
  return out;
}

/// <dx, v> summed over the inputs.
Var along(const Gradients& d, std::span<const Var> x, std::span<const Tensor> v) {
  Var total = Tensor::zeros({}, x[0].dtype());
  for (std::size_t i = 0; i < x.size(); ++i) total = total + sum(d[x[i]] * Var(v[i]));
  return total;
}

Shape joined(const Shape& a, const Shape& b) {
  Indices extents = a;
  for (const Index extent : b) extents.push_back(extent);
  return Shape(extents);
}

/// Row i: the adjoint of x for the seed that is 1 at element i of y.
Tensor rows_of_jacobian(const Var& y, const Var& x) {
  const Shape shape = joined(y.shape(), x.shape());
  if (!y.is_active()) return Tensor::zeros(shape, x.dtype());
  std::vector<Var> rows;
  for (Index i = 0; i < y.size(); ++i) {
    const Var seed = unslice(Tensor::full({1}, 1, y.dtype()), 0, i, y.size());
    rows.push_back(backward(y, reshape(seed, y.shape()))[x]);
  }
  return rows.empty() ? Tensor::zeros(shape, x.dtype()) : stack(rows, 0).value().reshape(shape);
}

}  // namespace

Tangent jvp(Function f, std::span<const Tensor> x, std::span<const Tensor> v) {
  check_directions("jvp", x, v);
  MicroTape tape;
  const std::vector<Var> at = leaves(tape, x);
  const Var y = f(at);
  Tensor tangent = Tensor::zeros(y.shape(), y.dtype());
  if (!y.is_active()) return {y.value(), tangent};
  // First sweep: J^T u as a function of u. Any u will do: it is linear.
  const Var u = tape.leaf(Tensor::full(y.shape(), 1, y.dtype()), "u");
  const Var s = along(backward(y, u, Record::yes), at, v);
  // Second sweep: its derivative by u.
  if (s.is_active()) tangent = backward(s)[u].value();
  return {y.value(), tangent};
}

std::vector<Tensor> hessian_vector_product(
    Function f, std::span<const Tensor> x, std::span<const Tensor> v) {
  check_directions("hessian_vector_product", x, v);
  MicroTape tape;
  const std::vector<Var> at = leaves(tape, x);
  const Var y = f(at);
  check_scalar("hessian_vector_product", y);
  std::vector<Tensor> out;
  for (const Tensor& input : x) out.push_back(Tensor::zeros(input.shape(), input.dtype()));
  if (!y.is_active()) return out;
  const Var s = along(backward(y, Record::yes), at, v);
  if (!s.is_active()) return out;
  const Gradients d = backward(s);
  for (std::size_t i = 0; i < at.size(); ++i) out[i] = d[at[i]].value();
  return out;
}

Tensor jacobian(FunctionRef<Var(const Var& x)> f, const Tensor& x) {
  MicroTape tape;
  const Var at = tape.leaf(x);
  return rows_of_jacobian(f(at), at);
}

Tensor hessian(FunctionRef<Var(const Var& x)> f, const Tensor& x) {
  MicroTape tape;
  const Var at = tape.leaf(x);
  const Var y = f(at);
  check_scalar("hessian", y);
  if (!y.is_active()) return Tensor::zeros(joined(x.shape(), x.shape()), x.dtype());
  return rows_of_jacobian(backward(y, Record::yes)[at], at);
}

}  // namespace microtape
