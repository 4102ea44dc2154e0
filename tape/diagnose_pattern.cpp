#include <algorithm>
#include <cmath>
#include <utility>

#include <microtape/core/format.hpp>
#include <microtape/tape/diagnose_mistakes.hpp>

// What is wrong, where no cause is known: which elements, and which sums.

namespace microtape::diagnosis {
namespace {

/// Which elements of an adjoint are wrong.
class Wrong {
 public:
  explicit Wrong(const Evidence& e) : shape_(e.right.shape) {
    for (Index i = 0; i < e.right.size(); ++i) {
      const bool is_wrong = difference(e.found[i], e.right[i]) > e.allowed;
      is_wrong_.push_back(is_wrong);
      count_ += is_wrong;
      if (is_wrong && count_ == 1) first_ = unravel_index(i, shape_);
    }
  }

  Index count() const { return count_; }
  Index size() const { return shape_.size(); }
  Index rank() const { return shape_.rank(); }
  const Indices& first() const { return first_; }

  /// Whether they are exactly those that a condition names.
  bool are(FunctionRef<bool(const Indices& at)> condition) const {
    for (Index i = 0; i < size(); ++i)
      if (is_wrong_[static_cast<std::size_t>(i)] != condition(unravel_index(i, shape_)))
        return false;
    return true;
  }

  /// Whether they are those at one place of an axis.
  bool is_slice(std::size_t axis) const {
    return are([&](const Indices& at) { return at[axis] == first_[axis]; });
  }

 private:
  Shape shape_;
  std::vector<bool> is_wrong_;
  Index count_ = 0;
  Indices first_;
};

/// The parts of a matrix; of a batch of matrices, the same in each.
std::string part_of_matrix(const Wrong& wrong) {
  struct Part {
    std::string_view name;
    bool (*has)(Index row, Index column);
  };
  constexpr Part kParts[] = {
      {"the diagonal", [](Index i, Index j) { return i == j; }},
      {"all but the diagonal", [](Index i, Index j) { return i != j; }},
      {"the upper triangle", [](Index i, Index j) { return i < j; }},
      {"the lower triangle", [](Index i, Index j) { return i > j; }},
      {"the upper triangle with the diagonal", [](Index i, Index j) { return i <= j; }},
      {"the lower triangle with the diagonal", [](Index i, Index j) { return i >= j; }},
  };
  for (const Part& part : kParts)
    if (wrong.are(
            [&](const Indices& at) { return part.has(at[at.size() - 2], at[at.size() - 1]); }))
      return std::string(part.name);
  return "";
}

std::string sum_name(std::size_t axis, Index rank) {
  if (rank == 1) return "";
  if (static_cast<Index>(axis) == rank - 1) return "each row of ";
  if (rank == 2) return "each column of ";
  return cat("along axis ", axis, " ");
}

/// "row 2", "column 0", "the slice at [0, .., 1]".
std::string slice_name(const Indices& at, std::size_t axis) {
  if (at.size() == 1) return "it";
  if (at.size() == 2) return cat(axis == 1 ? "row " : "column ", at[1 - axis]);
  std::string out = "that at [";
  for (std::size_t i = 0; i < at.size(); ++i)
    out += cat(i ? ", " : "", i == axis ? std::string("..") : cat(at[i]));
  return out + "]";
}

double sum_of(const Array& x, const std::vector<Index>& group) {
  double sum = 0;
  for (const Index i : group) sum += x[i];
  return sum;
}

/// Whether all sums of what is right are 0 to rounding, and not because all is 0.
bool is_balanced(const Evidence& e, Index axis) {
  constexpr double kClear = 1e3;
  if (axis < 0 || e.right.shape[axis] < 2) return false;
  double most = 0;
  for (const double x : e.right.values) most = std::max(most, std::abs(x));
  for (const std::vector<Index>& group : plain::groups(e.right.shape, axis))
    if (!(std::abs(sum_of(e.right, group)) <= static_cast<double>(group.size()) * e.allowed))
      return false;
  return most > kClear * e.allowed;
}

}  // namespace

std::vector<std::string> broken_invariants(
    const std::vector<Evidence>& samples, std::size_t at, const std::string& input) {
  std::vector<std::string> out;
  const Evidence& e = samples[at];
  if (e.found.shape != e.right.shape) return out;
  const Index rank = e.right.shape.rank();
  // Look for a sum that is 0 on every sample.
  for (Index axis = rank; axis-- > 0 && out.empty();) {
    if (!std::all_of(samples.begin(), samples.end(), [&](const Evidence& sample) {
          return is_balanced(sample, axis - rank + sample.right.shape.rank());
        }))
      continue;
    for (const std::vector<Index>& group : plain::groups(e.right.shape, axis)) {
      const double sum = sum_of(e.found, group);
      if (std::abs(sum) <= static_cast<double>(group.size()) * e.allowed) continue;
      const auto along = static_cast<std::size_t>(axis);
      out.push_back(cat(sum_name(along, rank), "d", input, " must sum to 0; ",
          slice_name(unravel_index(group[0], e.right.shape), along), " sums to ", number(sum, 4)));
      break;
    }
  }
  // Look for an element that is 0.
  for (Index i = 0; i < e.right.size(); ++i)
    if (e.right[i] == 0 && !(std::abs(e.found[i]) <= e.allowed)) {
      out.push_back(cat("d", input, " must be 0 at ", unravel_index(i, e.right.shape), "; it is ",
          number(e.found[i], 4)));
      break;
    }
  return out;
}

std::string pattern_of(const Evidence& e) {
  if (e.found.shape != e.right.shape) return "the shape";
  const Wrong wrong(e);
  if (wrong.count() == 0) return "";
  if (wrong.count() == wrong.size()) return "all elements";
  if (wrong.count() == 1) return cat("only element ", wrong.first());
  for (std::size_t axis = 0; axis < wrong.first().size() && wrong.rank() > 1; ++axis)
    if (wrong.is_slice(axis))
      return wrong.rank() > 2 ? cat("all at ", wrong.first()[axis], " of axis ", axis)
                              : cat(axis == 0 ? "row " : "column ", wrong.first()[axis]);
  if (wrong.rank() >= 2)
    if (const std::string part = part_of_matrix(wrong); !part.empty()) return part;
  return cat(wrong.count(), " of ", wrong.size(), " elements");
}

}  // namespace microtape::diagnosis
