#include <microtape/core/io/safetensors_header.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape::safetensors {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";

std::string_view dtype_name(DType dtype) {
  switch (dtype) {
    case float32:
      return "F32";
    case float64:
      return "F64";
    default:
      return "I64";
  }
}

/// Takes the header from the JSON parser piece by piece. Nothing that the format does not know is
/// passed over, and a key that stands twice is seen, which a finished JSON value would hide.
class HeaderReader {
 public:
  explicit HeaderReader(const InputFile& file) : file_(file) {}

  Header take() { return std::move(header_); }

  // What the parser calls. Each throws, or returns true: go on.
  bool start_object(std::size_t) {
    switch (place_) {
      case Place::start:
        place_ = Place::names;
        return true;
      case Place::names:
        place_ = name_ == kMetadata ? Place::metadata : Place::tensor;
        if (place_ == Place::tensor) header_.entries.emplace_back().name = name_;
        extents_ = {};
        offsets_.clear();
        fields_.clear();
        return true;
      default:
        return refuse("an object");
    }
  }

  bool key(std::string& key) {
    const bool is_new =
        place_ == Place::names ? names_.insert(key).second : fields_.insert(key).second;
    (place_ == Place::names ? name_ : field_) = key;
    if (!is_new) file_.fail("a name stands twice", cat(in_quotes(key), where()));
    if (place_ == Place::tensor && key != "dtype" && key != "shape" && key != "data_offsets")
      file_.fail("unknown field",
          cat(in_quotes(key), where(), "; a tensor has dtype, shape and data_offsets"));
    return true;
  }

  bool end_object() {
    if (place_ == Place::tensor) {
      if (fields_.size() != 3)
        file_.fail("missing field", cat("a tensor has dtype, shape and data_offsets", where()));
      finish_tensor();
    }
    place_ = place_ == Place::names ? Place::start : Place::names;
    return true;
  }

  bool start_array(std::size_t) {
    if (place_ != Place::tensor || field_ == "dtype") return refuse("an array");
    place_ = field_ == "shape" ? Place::shape : Place::offsets;
    return true;
  }

  bool end_array() {
    if (place_ == Place::offsets && offsets_.size() != 2) fail_offsets_count();
    place_ = Place::tensor;
    return true;
  }

  bool number_unsigned(std::uint64_t number) {
    if (place_ == Place::offsets) {
      if (offsets_.size() == 2) fail_offsets_count();
      offsets_.push_back(number);
      return true;
    }
    if (place_ != Place::shape) return refuse("a number");
    if (extents_.size() == Indices::kMax)
      file_.fail("too many axes", cat("more than ", Indices::kMax, where()));
    if (number > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
      file_.fail("extent too large", cat(number, where()));
    extents_.push_back(static_cast<Index>(number));
    return true;
  }

  bool string(std::string& text) {
    if (place_ == Place::metadata) {
      header_.metadata[field_] = text;
      return true;
    }
    if (place_ != Place::tensor || field_ != "dtype") return refuse("a string");
    for (const DType dtype : {float32, float64, int64})
      if (text == dtype_name(dtype)) {
        header_.entries.back().dtype = dtype;
        return true;
      }
    file_.fail("unknown dtype", cat(in_quotes(text), where(), "; F32, F64 and I64 can be read"));
  }

  bool null() { return refuse("null"); }
  bool boolean(bool) { return refuse("a boolean"); }
  bool number_integer(std::int64_t number) { return refuse(cat("the negative number ", number)); }
  bool number_float(double, const std::string& text) { return refuse(cat("the number ", text)); }
  bool binary(Json::binary_t&) { return refuse("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) {
    file_.fail("header is not JSON", cat("at byte ", position, " of the header"));
  }

 private:
  enum class Place { start, names, tensor, metadata, shape, offsets };

  /// Names the tensor, and the field, that is being read.
  std::string where() const {
    switch (place_) {
      case Place::start:
        return " at the top";
      case Place::names:
        return cat(" at ", in_quotes(name_));
      case Place::metadata:
        return cat(" at ", in_quotes(field_), " in ", kMetadata);
      default:
        return cat(" in ", field_, " of tensor ", in_quotes(name_));
    }
  }

  [[noreturn]] bool refuse(std::string_view what) const {
    file_.fail("header holds what does not belong there",
        cat(what, where(),
            "; it maps names to {dtype: string, shape: [whole numbers], data_offsets: ",
            "[begin, end]}, and ", kMetadata, " to {name: string}"));
  }

  [[noreturn]] void fail_offsets_count() const {
    file_.fail("wrong offsets", cat("needs two numbers, begin and end,", where()));
  }

  void finish_tensor() {
    Entry& entry = header_.entries.back();
    entry.begin = offsets_[0];
    entry.end = offsets_[1];
    try {
      entry.shape = Shape(extents_);
    } catch (const ShapeError&) {
      file_.fail("too many elements",
          cat("shape ", extents_, " of tensor ", in_quotes(name_), " overflows 63 bits"));
    }
  }

  const InputFile& file_;
  Header header_;
  Place place_ = Place::start;
  std::set<std::string> names_, fields_;  ///< seen in the file, in the object at hand
  std::string name_, field_;              ///< the keys on the way to the value at hand
  Indices extents_;
  std::vector<std::uint64_t> offsets_;
};

/// Checks the entries against the data, and puts them in the order of the data.
void check_offsets(const InputFile& file, std::vector<Entry>& entries) {
  const std::uint64_t data_bytes = file.left();
  for (const Entry& e : entries) {
    const auto offsets = [&] {
      return cat("tensor ", in_quotes(e.name), " has data_offsets [", e.begin, ", ", e.end, "]");
    };
    if (e.end < e.begin) file.fail("offsets reversed", offsets());
    if (e.end > data_bytes)
      file.fail(
          "truncated", cat(offsets(), ", but ", data_bytes, " bytes of data follow the header"));
    // Divide instead of multiplying: the product might overflow.
    const auto count = static_cast<std::uint64_t>(e.shape.size());
    const std::uint64_t bytes = e.end - e.begin;
    if (bytes % size_of(e.dtype) != 0 || bytes / size_of(e.dtype) != count)
      file.fail("offsets do not fit the shape",
          cat(offsets(), ", ", bytes, " bytes, but shape ", e.shape, " of ", dtype_name(e.dtype),
              ", ", count, " elements of ", size_of(e.dtype), " bytes"));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t covered = 0;
  for (const Entry& e : entries) {
    if (e.begin != covered)
      file.fail(e.begin < covered ? "tensors overlap" : "gap in the data",
          cat("tensor ", in_quotes(e.name), " begins at ", e.begin, ", the one before ends at ",
              covered));
    covered = e.end;
  }
  if (covered != data_bytes)
    file.fail("data left over", cat("the tensors end at ", covered, ", but ", data_bytes,
                                    " bytes of data follow the header"));
}

std::string json_string(const std::string& text) {
  try {
    return Json(text).dump();
  } catch (const Json::type_error&) {
    throw ValueError(cat(
        "write_safetensors: not UTF-8: ", in_quotes(text), "; names and metadata must be UTF-8"));
  }
}

}  // namespace

Header parse_header(const InputFile& file, std::string_view text) {
  if (text.empty() || text.front() != '{')
    file.fail("header is not a JSON object", "it must begin with {");
  // The parser would take a zero byte for the end, and not look at what follows.
  if (const std::size_t at = text.find('\0'); at != text.npos)
    file.fail("header is not JSON", cat("at byte ", at + 1, " of the header"));
  HeaderReader reader(file);
  Json::sax_parse(text, &reader);
  Header header = reader.take();
  check_offsets(file, header.entries);
  return header;
}

std::string header_text(const Header& header) {
  std::string text = "{";
  if (!header.metadata.empty()) {
    text += cat(json_string(std::string(kMetadata)), ":{");
    for (const auto& [name, value] : header.metadata)
      text += cat(json_string(name), ":", json_string(value), ",");
    text.back() = '}';
    text += ',';
  }
  for (const Entry& e : header.entries) {
    if (e.name == kMetadata)
      throw ValueError(cat("write_safetensors: reserved name: a tensor is named ", kMetadata,
          "; rename it, or pass text as metadata"));
    std::string shape = e.shape.str();
    std::erase(shape, ' ');
    text += cat(json_string(e.name), ":{\"dtype\":\"", dtype_name(e.dtype), "\",\"shape\":", shape,
        ",\"data_offsets\":[", e.begin, ",", e.end, "]},");
  }
  if (text.back() == ',') text.pop_back();
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace microtape::safetensors
