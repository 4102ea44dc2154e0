#pragma once

// All of a run in one safetensors file: parameters, moments of the optimizer, losses so far, and
// what it was started with. A run that is loaded goes on to the bit.

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <microtape/microtape.hpp>

namespace checkpoint {

using microtape::Index;
using microtape::Tensor;
using microtape::TensorMap;

/// What a run is started with; it never changes.
struct Settings {
  Index context = 64, width = 48, num_heads = 4, depth = 2;
  Index batch = 16;           ///< windows a step
  Index horizon = 1500;       ///< steps until the learning rate has reached its floor
  Index evaluate_every = 50;  ///< steps
  Index seed = 1;
  std::string vocabulary = {};

  /// The numbers by name.
  std::array<std::pair<const char*, Index*>, 8> numbers() {
    return {{{"context", &context}, {"width", &width}, {"num_heads", &num_heads}, {"depth", &depth},
        {"batch", &batch}, {"horizon", &horizon}, {"evaluate_every", &evaluate_every},
        {"seed", &seed}}};
  }
};

/// A tiny model and a few steps, to see that all works.
inline Settings brief_settings() {
  return {.context = 16,
      .width = 16,
      .num_heads = 2,
      .depth = 1,
      .batch = 4,
      .horizon = 20,
      .evaluate_every = 5};
}

/// The losses so far.
struct History {
  std::vector<double> train;       ///< [step]
  std::vector<double> validation;  ///< [k], before step k * evaluate_every
};

struct Loaded {
  Settings settings;
  History history;
  TensorMap model;
  TensorMap optimizer;
};

inline Tensor to_tensor(const std::vector<double>& values) {
  return Tensor::of({static_cast<Index>(values.size())}, values, microtape::float64);
}

/// The file is replaced as a whole: whoever is interrupted keeps the one before.
inline void save(const std::filesystem::path& path, Settings settings, const History& history,
    const TensorMap& model, const TensorMap& optimizer) {
  TensorMap tensors{{"losses.train", to_tensor(history.train)},
      {"losses.validation", to_tensor(history.validation)}};
  for (const auto& [name, value] : model) tensors["model." + name] = value;
  for (const auto& [name, value] : optimizer) tensors["optimizer." + name] = value;
  microtape::Metadata metadata{{"vocabulary", settings.vocabulary}};
  for (const auto& [name, number] : settings.numbers()) metadata[name] = std::to_string(*number);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  microtape::write_safetensors(path, tensors, metadata);
}

/// @throws FileError if the file cannot be read, or lacks a setting or the losses
inline Loaded load(const std::filesystem::path& path) {
  const auto [tensors, metadata] = microtape::read_safetensors(path);
  Loaded out;
  try {
    out.settings.vocabulary = metadata.at("vocabulary");
    for (const auto& [name, number] : out.settings.numbers())
      *number = std::stoll(metadata.at(name));
    const auto losses = [&map = tensors](const char* name) {
      const auto values = map.at(name).data<double>();
      return std::vector<double>(values.begin(), values.end());
    };
    out.history = {losses("losses.train"), losses("losses.validation")};
    if (out.history.validation.empty()) throw std::out_of_range("losses.validation");
  } catch (const std::logic_error&) {  // of at() and stoll(), and the one above
    throw microtape::FileError("14_gpt: not a checkpoint of this program: " + path.string());
  }
  const auto part = [&map = tensors](const std::string& prefix) {
    TensorMap found;
    for (const auto& [name, value] : map)
      if (name.compare(0, prefix.size(), prefix) == 0) found[name.substr(prefix.size())] = value;
    return found;
  };
  out.model = part("model.");
  out.optimizer = part("optimizer.");
  return out;
}

}  // namespace checkpoint
