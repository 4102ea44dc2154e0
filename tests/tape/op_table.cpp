#include "tape/op_table.hpp"

#include <iterator>
#include <numeric>

namespace microtape::testing {

const std::vector<OpRow>& op_table() {
  static const std::vector<OpRow> table = [] {
    std::vector<OpRow> all;
    for (auto part :
        {arithmetic_rows, function_rows, linalg_rows, reduce_rows, shape_rows, choice_rows}) {
      std::vector<OpRow> rows = part();
      std::move(rows.begin(), rows.end(), std::back_inserter(all));
    }
    return all;
  }();
  return table;
}

Tensor apart(const Shape& shape) {
  const Index n = shape.size();
  Index stride = 7;
  while (std::gcd(stride, n) != 1) ++stride;
  std::vector<double> numbers;
  for (Index i = 0; i < n; ++i)
    numbers.push_back(0.2 * static_cast<double>(i * stride % n - n / 3) + 0.1);
  return Tensor::of(shape, numbers, float64);
}

}  // namespace microtape::testing
