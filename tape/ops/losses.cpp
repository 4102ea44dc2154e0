#include <microtape/tape/ops/losses.hpp>

#include <microtape/core/format.hpp>
#include <microtape/core/kernels/elementwise.hpp>
#include <microtape/core/kernels/index.hpp>
#include <microtape/core/kernels/reduce.hpp>
#include <microtape/core/kernels/softmax.hpp>
#include <microtape/tape/ops/arithmetic.hpp>
#include <microtape/tape/ops/functions.hpp>
#include <microtape/tape/ops/normalize.hpp>
#include <microtape/tape/ops/reduce.hpp>

namespace microtape {

Var mse_loss(const Var& a, const Var& b) {
  in_scope_of(a.tape() ? a : b, [&] {
    if (a.shape() != b.shape())
      throw ShapeError(
          cat("mse_loss: shapes differ: a ", a.shape(), ", b ", b.shape(), "; they must be equal"));
  });
  return mean(square(a - b));
}

namespace {

/// The labels of cross_entropy, checked, as its loss and its rule need them.
struct Targets {
  Tensor places;   // [.., 1] int64: the label, 0 where a row does not count
  Tensor counts;   // [.., 1]: 1 where a row counts, else 0
  Tensor one_hot;  // [.., C]: 1 at the label; 0 throughout where a row does not count
  double n;        // rows that count
};

Targets targets(const Var& logits, const Var& labels, Index ignore_index) {
  if (labels.dtype() != int64)
    throw DTypeError(cat("cross_entropy: labels must be int64: labels ", labels.dtype(), " ",
        labels.shape(), "; convert them with to(int64)"));
  Indices rows = labels.shape();
  rows.push_back(logits.rank() > 0 ? logits.shape()[-1] : 0);
  if (logits.rank() == 0 || !(logits.shape().extents() == rows))
    throw ShapeError(cat("cross_entropy: the labels do not fit: logits ", logits.shape(),
        ", labels ", labels.shape(), "; needs logits [.., C] and a label for each row"));

  Tensor places = labels.value().contiguous(), counted = Tensor::zeros(labels.shape(), int64);
  const std::span<std::int64_t> place = places.mutable_data<std::int64_t>();
  const std::span<std::int64_t> counts = counted.mutable_data<std::int64_t>();
  const Index classes = logits.shape()[-1];
  double n = 0;
  for (std::size_t i = 0; i < place.size(); ++i) {
    counts[i] = place[i] != ignore_index;
    if (counts[i] && (place[i] < 0 || place[i] >= classes))
      throw IndexError(cat("cross_entropy: label ", place[i], " is out of range: row ", i,
          " of labels ", labels.shape(), "; needs 0 <= label < ", classes, ", or ignore_index ",
          ignore_index));
    if (!counts[i]) place[i] = 0;
    n += static_cast<double>(counts[i]);
  }
  rows[rows.size() - 1] = 1;
  const Tensor weights = counted.to(logits.dtype()).reshape(rows);
  const Tensor one_hot = kernels::mul(
      kernels::one_hot(places, classes, logits.dtype()), weights.broadcast_to(logits.shape()));
  return {places.reshape(rows), weights, one_hot, n};
}

}  // namespace

Var cross_entropy(const Var& logits, const Var& labels, const CrossEntropyOptions& options) {
  static constexpr Literal kRule =
      R"(\frac{@g}{@n} \odot (\operatorname{softmax}_{@axis}(@x) - \operatorname{onehot}_{@classes}(@labels)))";
  // The sum of a row of onehot is 0 where a label is ignored.
  static constexpr Literal kRuleOfSomeRows =
      R"(\frac{@g}{@n} \odot (\operatorname{rowsum}_{@axis}(\operatorname{onehot}_{@classes}(@labels)) \odot \operatorname{softmax}_{@axis}(@x) - \operatorname{onehot}_{@classes}(@labels)))";
  const Targets t =
      in_scope_of(logits, [&] { return targets(logits, labels, options.ignore_index); });
  const auto classes = static_cast<double>(logits.shape()[-1]);
  return record(
      {"cross_entropy",
          R"(-\frac{1}{@n} \operatorname{sum}(\operatorname{onehot}_{@classes}(@labels) \odot \operatorname{logsoftmax}_{@axis}(@x)))",
          {{"n", t.n}, {"classes", classes}, {"axis", -1.0}}},
      [&] {
        const Tensor logp = kernels::log_softmax(logits.value(), logits.rank() - 1);
        const Tensor picked = kernels::gather(logp, logits.rank() - 1, t.places);
        const Tensor zero = Tensor::zeros(picked.shape(), picked.dtype());
        const Tensor counted = kernels::where(t.counts.to(int64), picked, zero);
        return kernels::div(kernels::neg(kernels::sum_to(counted, {})), t.n);
      },
      {
          // The famous difference: what was predicted less what was right.
          {"x", logits, t.n == static_cast<double>(labels.size()) ? kRule : kRuleOfSomeRows,
              [logits, counts = Var(t.counts), right = Var(t.one_hot), n = t.n](const Var& g) {
                const Var predicted = counts * softmax(logits);
                const Var share = g / n;
                return share * (predicted - right);
              }},
          {"labels", labels},
      });
}

}  // namespace microtape
