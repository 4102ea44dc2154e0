#pragma once

#include <map>
#include <string>

#include <microtape/core/tensor.hpp>

namespace microtape {

/// Tensors by name, in the order of their names.
using TensorMap = std::map<std::string, Tensor>;
/// Text by name: the "__metadata__" of a safetensors file.
using Metadata = std::map<std::string, std::string>;

/// What a safetensors file holds.
struct Safetensors {
  TensorMap tensors;  ///< by name
  Metadata metadata;  ///< empty if the file has none
};

/// Reads a file in the safetensors format: an 8-byte little-endian header length, a JSON header
/// {name: {dtype, shape, data_offsets}}, then raw little-endian numbers. F32, F64 and I64.
/// @throws FileError that names the path and what is wrong: a file that is missing, truncated or
///         longer than its header says, a header that is not JSON or longer than the file, an
///         unknown dtype, a shape that overflows, offsets that overlap, leave gaps or do not fit
///         the shape, a name that stands twice
/// Source: https://github.com/huggingface/safetensors, README, "Format".
Safetensors read_safetensors(const std::string& path);

/// Writes such a file: to a temporary one beside it, which is then renamed, so that a failure
/// leaves what was there before.
/// @throws FileError that names the path; ValueError if a name or a text is not UTF-8, or a tensor
///         is named "__metadata__"
void write_safetensors(
    const std::string& path, const TensorMap& tensors, const Metadata& metadata = {});

}  // namespace microtape
