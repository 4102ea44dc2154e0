#include <microtape/layers/leaks.hpp>

#include <algorithm>
#include <cmath>

#include <microtape/core/format.hpp>

namespace microtape {
namespace {

/// Of the numbers that are put in. No round number, which somebody may have made x with.
constexpr std::uint64_t kSeed = 0x6c65616b73;

void check_input(const Tensor& x) {
  if (x.rank() < 2)
    throw ShapeError(
        cat("leaks: x has no positions: x ", x.shape(), "; needs [B, T, ..], positions in axis 1"));
}

void check_output(const Tensor& x, const Tensor& y) {
  if (y.rank() < 2 || y.extent(0) != x.extent(0) || y.extent(1) != x.extent(1))
    throw ShapeError(
        cat("leaks: there is no output for each position: x ", x.shape(), ", the result ",
            y.shape(), "; both must begin with [", x.extent(0), ", ", x.extent(1), "]"));
}

/// For each token of x another one that stands in x, so that every vocabulary has it.
Tensor other_tokens(const Tensor& x) {
  Tensor out = x.contiguous();
  const std::span<std::int64_t> tokens = out.mutable_data<std::int64_t>();
  if (tokens.empty()) return out;
  const std::int64_t first = tokens[0];
  const auto other = std::find_if(
      tokens.begin(), tokens.end(), [&](std::int64_t token) { return token != first; });
  if (other == tokens.end())
    throw ValueError(cat("leaks: no token can be changed: x ", x.shape(), " holds only ", first,
        "; it must hold two different ones, to exchange them"));
  const std::int64_t second = *other;
  for (std::int64_t& token : tokens) token = token == first ? second : first;
  return out;
}

/// x with the numbers of `others` at one position.
Tensor with_position(const Tensor& x, const Tensor& others, Index position) {
  const Var parts[] = {x.slice(1, 0, position), others.slice(1, position, position + 1),
      x.slice(1, position + 1, x.extent(1))};
  return concat(parts, 1).value();
}

/// The largest |a - b|, NaN if only one of them is NaN; nothing if all numbers are the same.
std::optional<double> difference(const Tensor& a, const Tensor& b) {
  const Tensor wide_a = a.to(float64).contiguous(), wide_b = b.to(float64).contiguous();
  const std::span<const double> numbers_a = wide_a.data<double>(),
                                numbers_b = wide_b.data<double>();
  std::optional<double> largest;
  for (std::size_t i = 0; i < numbers_a.size(); ++i) {
    const double u = numbers_a[i], v = numbers_b[i];
    if (u == v || (std::isnan(u) && std::isnan(v))) continue;
    const double d = std::abs(u - v);
    if (!largest || std::isnan(d) || d > *largest) largest = d;
  }
  return largest;
}

/// Puts a layer and all layers inside into eval mode; at the end each has its own mode again.
class EvalMode {
 public:
  explicit EvalMode(Layer& layer) {
    remember(layer);
    layer.eval();
  }
  ~EvalMode() {
    // A layer takes its children along, so they come after it.
    for (const auto& [layer, was_training] : before_) was_training ? layer->train() : layer->eval();
  }
  EvalMode(const EvalMode&) = delete;
  EvalMode& operator=(const EvalMode&) = delete;

 private:
  void remember(Layer& layer) {
    before_.emplace_back(&layer, layer.is_training());
    for (const Member& member : layer.members())
      if (member.layer) remember(*member.layer);
  }

  std::vector<std::pair<Layer*, bool>> before_;
};

}  // namespace

std::string Leak::str() const {
  return cat("the output at position ", seen, " changes with the token at position ", changed,
      " (by ", number(by, 3), ")");
}

std::vector<Leak> leaks(FunctionRef<Var(const Var& x)> f, const Tensor& x) {
  check_input(x);
  const Index positions = x.extent(1);
  if (positions < 2) return {};
  const Tensor others =
      is_floating(x.dtype()) ? Tensor::randn(x.shape(), kSeed, x.dtype()) : other_tokens(x);
  const Tensor y = f(x).value();
  check_output(x, y);

  std::vector<Leak> found;
  for (Index s = 1; s < positions; ++s) {
    const Tensor z = f(with_position(x, others, s)).value();
    if (z.shape() != y.shape())
      throw ShapeError(cat("leaks: the shape of the result depends on the numbers: ", y.shape(),
          ", then ", z.shape(), "; it must stay"));
    for (Index t = 0; t < s; ++t) {
      const auto by = difference(z.slice(1, t, t + 1), y.slice(1, t, t + 1));
      if (by) found.push_back({s, t, *by});
    }
  }
  if (difference(f(x).value(), y))
    throw ValueError(
        "leaks: f(x) differs from one call to the next: it draws random numbers; a layer in eval "
        "mode draws none");
  return found;
}

std::vector<Leak> leaks(Layer& layer, const Tensor& x) {
  const EvalMode mode(layer);
  return leaks([&layer](const Var& in) { return layer(in); }, x);
}

}  // namespace microtape
