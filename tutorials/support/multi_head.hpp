#pragma once

// MultiHeadAttention with PyTorch's parameters and inputs on a tape, and two judges of it: the sum
// over heads by plain loops, and what PyTorch computed.

#include <optional>
#include <string>
#include <vector>

#include "heads.hpp"
#include "many_heads.hpp"

namespace multi_head {

using closed_form::Matrix;
using microtape::Comparison;
using microtape::Index;
using microtape::Tensor;
using microtape::TensorMap;
using microtape::Var;

/// What PyTorch computed, for parameters, inputs and an adjoint of the result.
struct Reference {
  /// @throws microtape::FileError if the file cannot be read, or is none of attention without a
  /// mask
  explicit Reference(const std::string& from)
      : path(from),
        file(microtape::read_safetensors(from)),
        embed(number("embed")),
        heads(number("heads")),
        is_self(number("self") == 1) {
    if (number("causal") != 0 || file.tensors.count("mask") != 0) throw failure("it has a mask");
  }
  const Tensor& operator[](const std::string& name) const {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end()) throw failure("there is no tensor " + name);
    return found->second;
  }
  TensorMap parameters() const {
    TensorMap out;
    for (const char* p : {"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"})
      out[p] = (*this)[p];
    return out;
  }
  std::string text(const std::string& key) const {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end()) throw failure("its metadata lacks " + key);
    return found->second;
  }
  Index number(const std::string& key) const {
    const std::string digits = text(key);
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      throw failure(key + " is no whole number: " + digits);
    return std::stoi(digits);
  }
  microtape::FileError failure(const std::string& what) const {
    return microtape::FileError(path + " is no reference of attention: " + what);
  }

  std::string path;
  microtape::Safetensors file;
  Index embed, heads;
  bool is_self;
};

/// The layer on a tape, swept.
struct Run {
  Run(const Reference& from, const TensorMap& parameters)
      : layer(from.embed, from.heads, 0, false, {.dtype = microtape::float64}) {
    layer.load_state_dict(parameters);
    query = tape.leaf(from["query"], from.is_self ? "X" : "X_q");
    key = from.is_self ? query : tape.leaf(from["key"], "X_k");
    value = from.is_self ? query : tape.leaf(from["value"], "X_v");
    Y = layer(query, key, value);
    sweep.emplace(Y, from["dy"]);
    while (!sweep->done()) sweep->advance();
    // W_Q, b_Q, W_K, .. b_O, by their names in a state_dict.
    for (const auto& [name, parameter] : layer.named_parameters())
      d[name] = sweep->gradients()[parameter].value();
  }
  Tensor adjoint(const Var& x) const { return sweep->gradients()[x].value(); }

  microtape::MultiHeadAttention layer;
  microtape::MicroTape tape;
  Var query, key, value, Y;
  std::optional<microtape::Sweep> sweep;
  TensorMap d;
};

/// The projections of q, k and v in one, as PyTorch has them. On its own db_K would be nothing but
/// rounding: it is 0, since a key bias adds the same to all scores of a row.
inline TensorMap packed(const TensorMap& d) {
  const auto three = [&](const std::string& what) {
    const Var parts[] = {d.at("q_proj." + what), d.at("k_proj." + what), d.at("v_proj." + what)};
    return microtape::concat(parts, 0).value();
  };
  return {{"in_proj_weight", three("weight")}, {"in_proj_bias", three("bias")},
      {"out_proj.weight", d.at("out_proj.weight")}, {"out_proj.bias", d.at("out_proj.bias")}};
}
/// @param found, expected  packed gradients of parameters
inline std::vector<Comparison> compare_parameters(
    const TensorMap& found, const TensorMap& expected, double tolerance) {
  std::vector<Comparison> rows;
  for (const auto& [name, shown] :
      {std::pair{"in_proj_weight", "dW_Q, dW_K, dW_V"}, {"in_proj_bias", "db_Q, db_K, db_V"},
          {"out_proj.weight", "dW_O"}, {"out_proj.bias", "db_O"}})
    rows.push_back(microtape::compare(shown, found.at(name), expected.at(name), tolerance));
  return rows;
}

/// A weight and its bias as matrices.
inline many_heads::Projection projection(const TensorMap& from, const std::string& name) {
  return {heads::matrix(from.at(name + ".weight"), 0),
      heads::matrix(from.at(name + ".bias").reshape({1, -1}), 0)};
}
inline many_heads::Projections projections(const TensorMap& from) {
  return {projection(from, "q_proj"), projection(from, "k_proj"), projection(from, "v_proj"),
      projection(from, "out_proj")};
}
inline Tensor zeros_like(const Tensor& x) { return Tensor::zeros(x.shape(), microtape::float64); }

/// Y and all gradients, of which each sequence of the batch gives its part.
inline std::vector<Comparison> against_sum_over_heads(const Reference& from, Run& run) {
  TensorMap zeros;
  for (const auto& [name, gradient] : run.d) zeros[name] = zeros_like(gradient);
  const many_heads::Projections p = projections(run.layer.state_dict());
  many_heads::Projections d = projections(zeros);
  std::vector<double> Y, dquery, dkey, dvalue;
  const auto append = [](std::vector<double>& to, const Matrix& m) {
    to.insert(to.end(), m.numbers.begin(), m.numbers.end());
  };
  for (Index b = 0; b < run.Y.shape()[0]; ++b) {
    const auto matrix = [&](const Var& x) { return heads::matrix(x.value(), b); };
    const many_heads::Result r = many_heads::attend(p, static_cast<std::size_t>(from.heads),
        {matrix(run.query), matrix(run.key), matrix(run.value), heads::matrix(from["dy"], b)}, d);
    append(Y, r.Y), append(dquery, r.dquery), append(dkey, r.dkey), append(dvalue, r.dvalue);
  }
  if (from.is_self)  // one X in three places
    for (std::size_t i = 0; i < dquery.size(); ++i) dquery[i] += dkey[i] + dvalue[i];

  std::vector<Comparison> rows;
  const auto row = [&](const std::string& name, const Tensor& x,
                       const std::vector<double>& by_sum) {
    rows.push_back(
        microtape::compare(name, x, Tensor::of(x.shape(), by_sum, microtape::float64), 1e-12));
  };
  row("Y", run.Y.value(), Y);
  row(from.is_self ? "dX" : "dX_q", run.adjoint(run.query), dquery);
  if (!from.is_self) row("dX_k", run.adjoint(run.key), dkey);
  if (!from.is_self) row("dX_v", run.adjoint(run.value), dvalue);
  TensorMap by_loops;
  for (const auto& [name, part] :
      {std::pair{"q_proj", &d.Q}, {"k_proj", &d.K}, {"v_proj", &d.V}, {"out_proj", &d.O}})
    for (const auto& [what, m] : {std::pair{".weight", &part->W}, {".bias", &part->b}}) {
      const std::string whole = std::string(name) + what;
      by_loops[whole] = Tensor::of(run.d.at(whole).shape(), m->numbers, microtape::float64);
    }
  for (const Comparison& c : compare_parameters(packed(run.d), packed(by_loops), 1e-12))
    rows.push_back(c);
  return rows;
}

/// The same numbers by PyTorch, which packs three projections into one.
inline std::vector<Comparison> against_pytorch(const Reference& from, const Run& run) {
  const auto row = [&](const char* name, const Tensor& x, const char* theirs) {
    return microtape::compare(name, x, from[theirs], 1e-9);
  };
  std::vector<Comparison> rows{row("Y", run.Y.value(), "y"),
      row("P", run.layer.weights(), "attn_weights"),
      row(from.is_self ? "dX" : "dX_q", run.adjoint(run.query), "grad.query")};
  if (!from.is_self) rows.push_back(row("dX_k", run.adjoint(run.key), "grad.key"));
  if (!from.is_self) rows.push_back(row("dX_v", run.adjoint(run.value), "grad.value"));
  const TensorMap theirs{{"in_proj_weight", from["grad.in_proj_weight"]},
      {"in_proj_bias", from["grad.in_proj_bias"]},
      {"out_proj.weight", from["grad.out_proj.weight"]},
      {"out_proj.bias", from["grad.out_proj.bias"]}};
  for (const Comparison& c : compare_parameters(packed(run.d), theirs, 1e-9)) rows.push_back(c);
  return rows;
}

}  // namespace multi_head
