#pragma once

#include "layer_testing.hpp"
#include "plain_attention.hpp"

// The plain loops of plain_attention.hpp, fed with Tensors: numbers in, numbers out.

namespace microtape::testing {

/// [m, n], or [n] as one row.
inline plain::Matrix matrix_of(const Tensor& x) {
  const Tensor rows = x.to(float64).contiguous().reshape({-1, x.extent(-1)});
  plain::Matrix out(
      static_cast<std::size_t>(rows.extent(0)), static_cast<std::size_t>(rows.extent(1)));
  const auto data = rows.data<double>();
  out.data.assign(data.begin(), data.end());
  return out;
}

inline Tensor tensor_of(const plain::Matrix& m, const Shape& shape) {
  return Tensor::of(shape, m.data, float64);
}

/// Matrix (i, j, ..) of the leading axes. [.., m, n] -> [m, n]
inline Tensor part(Tensor x, std::initializer_list<Index> at) {
  for (const Index i : at) {
    Indices rest;
    for (Index axis = 1; axis < x.rank(); ++axis) rest.push_back(x.extent(axis));
    x = x.slice(0, i, i + 1).reshape(rest);
  }
  return x;
}

/// All that attention gives for these inputs and parameters (by their names in state_dict), one
/// sequence after another: y, weights, query, key, value (the adjoints), and each parameter's.
inline TensorMap plain_attention(const TensorMap& state, Index heads, const Tensor& query,
    const Tensor& key, const Tensor& value, const Tensor& mask, const Tensor& dy) {
  const auto affine = [&](const std::string& name) {
    return plain::Affine{
        matrix_of(state.at(name + ".weight")), matrix_of(state.at(name + ".bias")), {}, {}};
  };
  plain::Affine q = affine("q_proj"), k = affine("k_proj"), v = affine("v_proj"),
                o = affine("out_proj");
  const plain::Matrix m = matrix_of(mask);
  std::map<std::string, std::vector<double>> numbers;
  const auto put = [&](const char* name, const plain::Matrix& part) {
    numbers[name].insert(numbers[name].end(), part.data.begin(), part.data.end());
  };
  for (Index b = 0; b < query.extent(0); ++b) {
    const plain::Pass pass =
        plain::attend(q, k, v, o, static_cast<std::size_t>(heads), matrix_of(part(query, {b})),
            matrix_of(part(key, {b})), matrix_of(part(value, {b})), m, matrix_of(part(dy, {b})));
    put("y", pass.y);
    put("query", pass.dquery);
    put("key", pass.dkey);
    put("value", pass.dvalue);
    for (const plain::Matrix& p : pass.weights) put("weights", p);
  }
  TensorMap out;
  for (const auto& [name, shape] : {std::pair<std::string, Shape>{"y", query.shape()},
           {"query", query.shape()}, {"key", key.shape()}, {"value", value.shape()},
           {"weights", {query.extent(0), heads, query.extent(1), key.extent(1)}}})
    out[name] = Tensor::of(shape, numbers[name], float64);
  for (const auto& [name, a] : {std::pair<std::string, const plain::Affine&>{"q_proj", q},
           {"k_proj", k}, {"v_proj", v}, {"out_proj", o}}) {
    out[name + ".weight"] = tensor_of(a.dw, state.at(name + ".weight").shape());
    out[name + ".bias"] = tensor_of(a.db, state.at(name + ".bias").shape());
  }
  return out;
}

/// -1e9 above the diagonal.
inline Tensor future(Index n) {
  std::vector<double> m;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) m.push_back(j > i ? -1e9 : 0);
  return Tensor::of({n, n}, m, float64);
}

}  // namespace microtape::testing
