#include <microtape/layers/attention.hpp>

#include <cmath>
#include <limits>

#include <microtape/core/format.hpp>
#include <microtape/core/random.hpp>
#include <microtape/tape/ops/attention.hpp>

namespace microtape {
namespace {

/// Embed, once all arguments are known to be good: the projections are made from it.
Index checked_embed(Index embed, Index num_heads, double dropout) {
  if (num_heads < 1)
    throw ValueError(cat("MultiHeadAttention: num_heads out of range: embed ", embed,
        ", num_heads ", num_heads, "; needs num_heads >= 1"));
  if (embed < 1 || embed % num_heads != 0)
    throw ValueError(cat("MultiHeadAttention: the heads do not divide embed: embed ", embed,
        ", num_heads ", num_heads, "; embed must be a positive multiple of num_heads"));
  if (!(dropout >= 0 && dropout < 1))
    throw ValueError(
        cat("MultiHeadAttention: dropout out of range: ", dropout, "; needs 0 <= dropout < 1"));
  return embed;
}

/// The first operand that stands on a tape; the first of all if none does.
const Var& first_on_tape(std::initializer_list<const Var*> operands) {
  for (const Var* x : operands)
    if (x->tape()) return *x;
  return **operands.begin();
}

/// Opens a scope on the tape of x, if there is one.
std::optional<Scope> open_scope(
    const Var& x, std::string_view name, std::string_view formula, std::string_view rule) {
  if (MicroTape* tape = x.tape()) return tape->scope(name, formula, rule);
  return std::nullopt;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(
    Index embed, Index num_heads, double dropout, bool causal, const LayerOptions& options)
    : Layer(options, "attention"),
      embed_(checked_embed(embed, num_heads, dropout)),
      num_heads_(num_heads),
      causal_(causal),
      q_proj_(embed, embed, part_options(options, "q_proj", 0, "Q")),
      k_proj_(embed, embed, part_options(options, "k_proj", 1, "K")),
      v_proj_(embed, embed, part_options(options, "v_proj", 2, "V")),
      out_proj_(embed, embed, part_options(options, "out_proj", 3, "O")),
      dropout_(dropout, part_options(options, "dropout", 4)) {}

Var MultiHeadAttention::operator()(
    const Var& query, const Var& key, const Var& value, const Var& mask) {
  const Var& on_tape = first_on_tape({&query, &key, &value, &mask});
  const auto scope = enter(on_tape);
  in_scope_of(on_tape, [&] { check(query, key, value, mask); });
  // Data beside Vars of a tape goes there too: its projection would find no tape otherwise.
  const auto placed = [tape = on_tape.tape()](const Var& x) {
    return tape && !x.tape() ? tape->constant(x.value()) : x;
  };

  // Project, and cut the features into heads.
  const Var q = heads(q_proj_(placed(query))).named("Q");  // [B, H, Tq, D]
  const Var k = heads(k_proj_(placed(key))).named("K");    // [B, H, Tk, D]
  const Var v = heads(v_proj_(placed(value))).named("V");  // [B, H, Tk, D]

  // Each head attends on its own: C [B, H, Tq, D].
  const Var m = additive_mask(on_tape, key.shape()[1], mask);
  const auto drop = [&](const Var& p) { return dropout_(p).named("P_drop", R"(\tilde P)"); };
  weights_ = Tensor();  // those of the last call would stand beside the new ones
  const Attended attended =
      is_training() && dropout_.p() > 0 ? attend(q, k, v, m, drop) : attend(q, k, v, m);
  weights_ = attended.p;

  // Glue the heads back together, and map once more.
  return out_proj_(merge(attended.c)).named("Y");
}

Var MultiHeadAttention::heads(const Var& x) const {
  const auto scope =
      open_scope(x, "heads", R"(\operatorname{heads}(@x))", R"(\operatorname{merge}(@g))");
  const Index b = x.shape()[0], t = x.shape()[1];
  // [B, T, E] as [B, T, H, D] -> [B, H, T, D]
  return permute(reshape(x, {b, t, num_heads_, embed_ / num_heads_}), {0, 2, 1, 3});
}

Var MultiHeadAttention::merge(const Var& c) const {
  const auto scope =
      open_scope(c, "merge", R"(\operatorname{merge}(@x))", R"(\operatorname{heads}(@g))");
  const Index b = c.shape()[0], t = c.shape()[2];
  // [B, H, T, D] -> [B, T, H, D] as [B, T, E]
  return reshape(permute(c, {0, 2, 1, 3}), {b, t, embed_});
}

Var MultiHeadAttention::additive_mask(const Var& on_tape, Index keys, const Var& mask) const {
  if (!mask.defined() && !causal_) return {};
  const auto named = [&](const Tensor& m) {
    return on_tape.tape() ? on_tape.tape()->constant(m, "M") : Var(m);
  };
  if (!causal_) return mask.tape() ? mask : named(mask.value());
  const Tensor causal = causal_mask(keys, on_tape.dtype());
  if (!mask.defined()) return named(causal);
  return mask.tape() ? (mask + causal).named("M") : named(add(mask, Var(causal)).value());
}

// --- checks ------------------------------------------------------------------------------------

void MultiHeadAttention::check(
    const Var& query, const Var& key, const Var& value, const Var& mask) const {
  const auto shapes = [&] {
    return cat("query ", query.shape(), ", key ", key.shape(), ", value ", value.shape());
  };
  for (const auto& [name, x] : {std::pair{"query", &query}, {"key", &key}, {"value", &value}}) {
    if (x->rank() != 3 || x->shape()[2] != embed_)
      throw ShapeError(cat("MultiHeadAttention: ", name, " does not fit: ", shapes(), "; ", name,
          " must be [B, T, ", embed_, "]"));
    const DType dtype = q_proj_.weight().value().dtype();
    if (x->dtype() != dtype)
      throw DTypeError(cat("MultiHeadAttention: dtypes differ: ", name, " is ", x->dtype(),
          ", the parameters ", dtype, "; convert it with to(", dtype, ")"));
  }
  // Before anything is recorded on either.
  const MicroTape* tape = nullptr;
  for (const Var* x : {&query, &key, &value, &mask}) {
    if (tape && x->tape() && x->tape() != tape)
      throw TapeError("MultiHeadAttention: the inputs stand on two tapes; put all of them on one");
    if (x->tape()) tape = x->tape();
  }
  if (query.shape()[0] != key.shape()[0] || query.shape()[0] != value.shape()[0])
    throw ShapeError(
        cat("MultiHeadAttention: batches differ: ", shapes(), "; all need the same B"));
  if (key.shape()[1] != value.shape()[1])
    throw ShapeError(cat("MultiHeadAttention: lengths differ: ", shapes(),
        "; key and value need the same length, got ", key.shape()[1], " and ", value.shape()[1]));
  const Index queries = query.shape()[1], keys = key.shape()[1];
  if (causal_ && queries != keys)
    throw ShapeError(cat("MultiHeadAttention: causal attention needs as many queries as keys: ",
        shapes(), "; Tq is ", queries, ", Tk is ", keys));
  if (queries > 0 && keys == 0)
    throw ShapeError(cat(
        "MultiHeadAttention: there is no key to attend to: ", shapes(), "; Tk must be 1 or more"));
  if (mask.defined()) check_mask(mask.value(), queries, keys, query.dtype());
}

void MultiHeadAttention::check_mask(
    const Tensor& mask, Index queries, Index keys, DType dtype) const {
  if (mask.dtype() != dtype)
    throw DTypeError(cat("MultiHeadAttention: the mask is ", mask.dtype(), ", the inputs ", dtype,
        "; a mask is added to the scores (0 allows, a large negative number suppresses; it is not "
        "boolean): convert it with to(",
        dtype, ")"));
  if (mask.shape() != Shape({queries, keys}))
    throw ShapeError(cat("MultiHeadAttention: the mask does not fit: mask ", mask.shape(),
        "; it must be [Tq, Tk] = ", Shape({queries, keys})));
  check_rows(mask.to(float64).contiguous());
}

void MultiHeadAttention::check_rows(const Tensor& mask) const {
  const Index queries = mask.extent(0), keys = mask.extent(1);
  const double* m = mask.data<double>().data();
  for (Index i = 0; i < queries; ++i) {
    bool has_key = false;
    for (Index j = 0; j < keys; ++j, ++m) {
      if (std::isnan(*m) || *m == std::numeric_limits<double>::infinity())
        throw ValueError(cat("MultiHeadAttention: the mask holds ", *m, ": row ", i, ", column ", j,
            " of mask ", mask.shape(), "; entries are finite or -inf"));
      has_key |= (!causal_ || j <= i) && std::isfinite(*m);
    }
    if (!has_key)
      throw ValueError(cat("MultiHeadAttention: no key is left: row ", i, " of mask ", mask.shape(),
          " is -inf at every ", causal_ ? "key that is not in the future" : "key",
          "; each row must keep an allowed key"));
  }
}

// --- on Tensors --------------------------------------------------------------------------------

Tensor MultiHeadAttention::forward(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask) {
  const Var m = mask ? Var(*mask) : Var();
  if (mask) static_cast<void>(mask->shape());  // throws if it has no value, and says why
  if (&query == &key && &key == &value) {
    const Tensor* const inputs[] = {&query};
    return run_forward(
        inputs, [&](std::span<const Var> x) { return (*this)(x[0], x[0], x[0], m); });
  }
  const Tensor* const inputs[] = {&query, &key, &value};
  return run_forward(inputs, [&](std::span<const Var> x) { return (*this)(x[0], x[1], x[2], m); });
}

const Tensor& MultiHeadAttention::cross_gradient(std::size_t input, std::string_view op) const {
  const Tensor* gradient = input_gradient(input);
  if (!gradient)
    throw TapeError(cat(op,
        ": the last backward was not of cross attention; call forward() with "
        "three Tensors, then backward()"));
  return *gradient;
}

const Tensor& MultiHeadAttention::weights() const {
  if (!weights_.defined())
    throw TapeError(
        "weights: there was no call yet, or the last one failed; call the layer or forward() "
        "first");
  return weights_;
}

TensorMap MultiHeadAttention::with_own_names(TensorMap state, const std::string& prefix) const {
  for (const auto& [packed, own] :
      {std::pair{"in_proj_weight", "weight"}, {"in_proj_bias", "bias"}}) {
    const auto found = state.find(prefix + packed);
    if (found == state.end()) continue;
    const Tensor all = found->second;
    if (all.rank() < 1 || all.shape()[0] != 3 * embed_)
      throw ShapeError(cat("load_state_dict: ", prefix, packed, " has another shape: ", all.shape(),
          "; its rows are those of q, k and v: ", 3 * embed_));
    Index row = 0;
    for (const char* projection : {"q_proj.", "k_proj.", "v_proj."}) {
      const bool is_new =
          state.emplace(cat(prefix, projection, own), all.slice(0, row, row + embed_)).second;
      if (!is_new)
        throw ValueError(cat("load_state_dict: ", prefix, projection, own,
            " is given twice: also in ", prefix, packed, "; give one of the two"));
      row += embed_;
    }
    state.erase(prefix + packed);
  }
  return state;
}

}  // namespace microtape
