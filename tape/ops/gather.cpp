// Ops of index.hpp that take numbers by their place.

#include <microtape/core/format.hpp>
#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/core/kernels/index.hpp>
#include <microtape/tape/ops/broadcast.hpp>
#include <microtape/tape/ops/index.hpp>

namespace microtape {
namespace {

/// 1 where the sign of column - row - diagonal is allowed. -> [m, n] int64
template <class Keep>
Tensor triangle(const char* op, const Var& x, Keep keep) {
  if (x.rank() < 2)
    throw ShapeError(
        cat(op, ": no matrix: x ", x.shape(), " has rank ", x.rank(), "; needs rank 2 or more"));
  const Index m = x.shape()[-2], n = x.shape()[-1];
  Tensor mask = Tensor::zeros({m, n}, int64);
  std::int64_t* at = mask.mutable_data<std::int64_t>().data();
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) *at++ = keep(j - i);
  return mask;
}

/// Row sums of g by index: the adjoint of embedding.
Var add_rows(const Var& g, const Var& rows, Index n) {
  return record(
      {"add_rows", R"(\operatorname{addrows}(@x, @rows))", {{"n", static_cast<double>(n)}}},
      [&] { return kernels::add_rows(g.value(), rows.value(), n); },
      {
          {"x", g, R"(\operatorname{rows}(@g, @rows))",
              [rows](const Var& h) { return embedding(h, rows); }},
          {"rows", rows},
      });
}

}  // namespace

Var greater(const Var& a, const Var& b) {
  if (needs_broadcast(a, b)) return broadcast_pair("greater", greater, a, b);
  return record({"greater", "[@a > @b]"}, [&] { return kernels::greater(a.value(), b.value()); },
      {{"a", a}, {"b", b}});
}

Var equal(const Var& a, const Var& b) {
  if (needs_broadcast(a, b)) return broadcast_pair("equal", equal, a, b);
  return record({"equal", "[@a = @b]"}, [&] { return kernels::equal(a.value(), b.value()); },
      {{"a", a}, {"b", b}});
}

Var tril(const Var& x, Index diagonal) {
  const Var mask =
      in_scope_of(x, [&] { return triangle("tril", x, [=](Index d) { return d <= diagonal; }); });
  return where(mask, x, 0);
}

Var triu(const Var& x, Index diagonal) {
  const Var mask =
      in_scope_of(x, [&] { return triangle("triu", x, [=](Index d) { return d >= diagonal; }); });
  return where(mask, x, 0);
}

Var argmax(const Var& x, Index axis) {
  axis = in_scope_of(x, [&] { return normalize_axis("argmax", x.shape(), axis); });
  return record({"argmax", R"(\operatorname{argmax}_{@axis}(@x))",
                    {{"axis", static_cast<double>(axis - x.rank())}}},
      [&] { return kernels::argmax(x.value(), axis); }, {{"x", x}});
}

Var one_hot(const Var& labels, Index classes, DType dtype) {
  return record({"one_hot", R"(\operatorname{onehot}_{@classes}(@labels))",
                    {{"classes", static_cast<double>(classes)}}},
      [&] { return kernels::one_hot(labels.value(), classes, dtype); }, {{"labels", labels}});
}

Var gather(const Var& x, Index axis, const Var& index) {
  axis = in_scope_of(x, [&] { return normalize_axis("gather", x.shape(), axis); });
  const double from_end = static_cast<double>(axis - x.rank());
  return record({"gather", R"(\operatorname{gather}_{@axis}(@x, @i))", {{"axis", from_end}}},
      [&] { return kernels::gather(x.value(), axis, index.value()); },
      {
          {"x", x, R"(\operatorname{scatter}_{@axis}(@g, @i))",
              [axis, index, s = x.shape()](const Var& g) {
                return scatter_add(Tensor::zeros(s, g.dtype()), axis, index, g);
              }},
          {"i", index},
      });
}

Var scatter_add(const Var& x, Index axis, const Var& index, const Var& source) {
  axis = in_scope_of(x, [&] { return normalize_axis("scatter_add", x.shape(), axis); });
  const double from_end = static_cast<double>(axis - x.rank());
  return record(
      {"scatter_add", R"(@x + \operatorname{scatter}_{@axis}(@source, @i))", {{"axis", from_end}}},
      [&] { return kernels::scatter_add(x.value(), axis, index.value(), source.value()); },
      {
          {"x", x, "@g", [](const Var& g) { return g; }},
          {"source", source, R"(\operatorname{gather}_{@axis}(@g, @i))",
              [axis, index](const Var& g) { return gather(g, axis, index); }},
          {"i", index},
      });
}

Var embedding(const Var& table, const Var& rows) {
  return record({"embedding", R"(\operatorname{rows}(@table, @rows))"},
      [&] { return kernels::take_rows(table.value(), rows.value()); },
      {
          {"table", table, R"(\operatorname{addrows}(@g, @rows))",
              [rows, n = table.rank() == 2 ? table.shape()[0] : 0](
                  const Var& g) { return add_rows(g, rows, n); }},
          {"rows", rows},
      });
}

}  // namespace microtape
