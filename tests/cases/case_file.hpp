#pragma once

#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "testing.hpp"

// The failure cases of other frameworks, from cases.json: what to compute, and what must come out.

namespace microtape::testing {

using Json = nlohmann::json;

/// The case of this id. @throws std::out_of_range if there is none
inline const Json& case_of(const std::string& id) {
  static const Json file = Json::parse(std::ifstream(tests_folder("cases") / "cases.json"));
  for (const Json& item : file.at("cases"))
    if (item.at("id") == id) return item;
  throw std::out_of_range("cases.json has no case " + id);
}

/// A number of the file; nan, inf and -inf are written as strings.
inline double number_of(const Json& value) {
  if (value.is_string()) return std::stod(value.get<std::string>());
  return value.get<double>();
}

/// A Tensor of the file: a number, a list of numbers, or {shape, data}.
inline Tensor tensor_of(const Json& value, DType dtype = float64) {
  if (value.is_number() || value.is_string()) return Tensor::full({}, number_of(value), dtype);
  const Json& data = value.is_object() ? value.at("data") : value;
  std::vector<double> numbers;
  for (const Json& item : data) numbers.push_back(number_of(item));
  std::vector<Index> extents{static_cast<Index>(numbers.size())};
  if (value.is_object()) extents = value.at("shape").get<std::vector<Index>>();
  return Tensor::of(Shape(Indices(extents)), numbers, dtype);
}

/// The Tensors and the tolerances of one case, for one dtype.
class Case {
 public:
  explicit Case(const std::string& id, DType dtype = float64) : json_(case_of(id)), dtype_(dtype) {}

  const Json& json() const { return json_; }
  DType dtype() const { return dtype_; }
  Tensor input(const std::string& name) const {
    return tensor_of(json_.at("inputs").at(name), dtype_);
  }
  /// What `name` must be; "a-b/value" is value inside of a-b.
  Tensor expected(const std::string& name) const {
    return tensor_of(find(json_.at("expected"), name), dtype_);
  }

  /// Whether x has the shape of expected `name`, and |x - expected| <= atol + rtol * |expected|.
  bool holds(const std::string& name, const Var& x) const {
    const Tensor wanted = expected(name).to(float64), found = x.value().to(float64).contiguous();
    if (x.shape() != wanted.shape()) return false;
    const auto a = found.data<double>(), b = wanted.data<double>();
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!(std::abs(a[i] - b[i]) <= tolerance("atol") + tolerance("rtol") * std::abs(b[i])))
        return false;
    return true;
  }

 private:
  static const Json& find(const Json& from, const std::string& path) {
    if (from.contains(path)) return from.at(path);
    const std::size_t slash = path.rfind('/');
    return from.at(path.substr(0, slash)).at(path.substr(slash + 1));
  }
  double tolerance(const char* which) const {
    return json_.at("tolerance").at(dtype_ == float32 ? "float32" : "float64").at(which);
  }

  const Json& json_;
  DType dtype_;
};

}  // namespace microtape::testing
