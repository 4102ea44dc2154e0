#include <microtape/core/error.hpp>
#include <microtape/core/io/safetensors.hpp>

#include "catch.hpp"
#include "core/file_testing.hpp"

// Files that somebody made to do harm, or that were damaged on the way: each is a FileError that
// names the file and what is wrong with it.

using namespace microtape;
using namespace microtape::testing;

namespace {

std::string file_of(const std::string& header, std::size_t data_bytes) {
  return length_of(header.size()) + header + std::string(data_bytes, '\0');
}

std::string failure(const std::string& bytes) {
  return failure_of("read_safetensors", bytes, read_safetensors);
}

std::string failure(const std::string& header, std::size_t data_bytes) {
  return failure(file_of(header, data_bytes));
}

constexpr const char* kGood = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

}  // namespace

TEST_CASE("a file cut short anywhere is refused") {
  const Folder folder;
  write_safetensors(
      folder / "x", {{"a", Tensor::of({1, 2})}, {"b", Tensor::of({3}, int64)}}, {{"k", "v"}});
  const std::string whole = bytes_of(folder / "x");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO("cut to " << length << " of " << whole.size() << " bytes");
    REQUIRE(starts_with(failure(whole.substr(0, length)), "truncated: "));
  }
  CHECK(failure("") == "truncated: it has 0 bytes; the header length alone takes 8");
  CHECK(failure(whole + "x").substr(0, 16) == "data left over: ");
  CHECK(failure(whole) == "");
}

TEST_CASE("a flipped bit gives numbers or a FileError, nothing else") {
  const Folder folder;
  write_safetensors(
      folder / "x", {{"a", Tensor::of({1, 2})}, {"b", Tensor::of({3}, int64)}}, {{"k", "v"}});
  std::string bytes = bytes_of(folder / "x");
  int refused = 0;
  for (std::size_t i = 0; i < bytes.size() - 16; ++i)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] = static_cast<char>(bytes[i] ^ 1 << bit);
      refused += failure(bytes).empty() ? 0 : 1;
      bytes[i] = static_cast<char>(bytes[i] ^ 1 << bit);
    }
  CHECK(refused > 500);
}

TEST_CASE("a header length that lies is refused before memory is asked for") {
  const std::string rest = kGood + std::string(8, '\0');
  CHECK(failure(length_of(~std::uint64_t{0}) + rest) ==
        "header too long: 18446744073709551615 bytes; at most 100000000 are allowed");
  CHECK(starts_with(failure(length_of(1ull << 63) + rest), "header too long: "));
  CHECK(starts_with(failure(length_of(100'000'001) + rest), "header too long: "));
  CHECK(failure(length_of(100'000'000) + "{}") ==
        "truncated: it has 10 bytes, but a header of 100000000 after the first 8");
  CHECK(failure(length_of(3) + "{}") ==
        "truncated: it has 10 bytes, but a header of 3 after the first 8");
  CHECK(failure(length_of(0)) == "header is not a JSON object: it must begin with {");
}

TEST_CASE("a header that is not one JSON object is refused") {
  for (const char* header : {"", " ", "[]", "1", "null", "\"a\"", " {}", "\xEF\xBB\xBF{}"}) {
    INFO(header);
    CHECK(failure(header, 0) == "header is not a JSON object: it must begin with {");
  }
  for (const char* header : {"{", "{]", "{}}", "{}{}", "{} x", "{\"a\"", "{\"a\":", "{a:1}", "{,}",
           "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,],\"data_offsets\":[0,4]}}", "{\"\xFF\":{}}",
           "{\"a\":{\"dtype\":\"F32\",\"shape\":[01],\"data_offsets\":[0,4]}}", "{}//"}) {
    INFO(header);
    CHECK(starts_with(failure(header, 4), "header is not JSON: at byte "));
  }
  CHECK(failure("{}      \n", 0) == "");
  // The parser takes a zero byte for the end of the text: what follows once went unseen.
  CHECK(
      failure(std::string("{}\0garbage", 10), 0) == "header is not JSON: at byte 3 of the header");
}

TEST_CASE("nested brackets without end are refused at the second") {
  std::string header = R"({"a":)";
  header += std::string(5'000'000, '[');
  CHECK(starts_with(
      failure(header, 0), "header holds what does not belong there: an array at \"a\""));
  header = R"({"a":{"dtype":"F32","shape":)";
  header += std::string(5'000'000, '[');
  CHECK(starts_with(failure(header, 0),
      "header holds what does not belong there: an array in shape of tensor \"a\""));
  header.clear();
  for (int i = 0; i < 1'000'000; ++i) header += R"({"a":)";
  CHECK(starts_with(
      failure(header, 0), "unknown field: \"a\" in a of tensor \"a\"; a tensor has dtype"));
}

TEST_CASE("a name that stands twice is refused") {
  CHECK(failure(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                R"("a":{"dtype":"F32","shape":[],"data_offsets":[4,8]}})",
            8) == "a name stands twice: \"a\" at \"a\"");
  CHECK(
      starts_with(failure(R"({"__metadata__":{},"__metadata__":{}})", 0), "a name stands twice: "));
  CHECK(starts_with(failure(R"({"__metadata__":{"k":"1","k":"2"}})", 0), "a name stands twice: "));
  CHECK(starts_with(
      failure(R"({"a":{"dtype":"F32","dtype":"F64","shape":[],"data_offsets":[0,4]}})", 4),
      "a name stands twice: "));
  // Escaped in another way, it is the same name.
  CHECK(starts_with(failure(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                            R"("\u0061":{"dtype":"F32","shape":[],"data_offsets":[4,8]}})",
                        8),
      "a name stands twice: "));
}

TEST_CASE("a dtype that is not F32, F64 or I64 is named") {
  for (const char* dtype : {"F16", "BF16", "U8", "BOOL", "f32", "", "F32 "})
    CHECK(failure(cat(R"({"w":{"dtype":")", dtype, R"(","shape":[1],"data_offsets":[0,4]}})"), 4) ==
          cat("unknown dtype: \"", dtype,
              "\" in dtype of tensor \"w\"; F32, F64 and I64 can be read"));
}

TEST_CASE("a shape that is not a list of whole numbers is refused") {
  const auto with_shape = [](const std::string& shape) {
    return failure(cat(R"({"w":{"dtype":"F32","shape":)", shape, R"(,"data_offsets":[0,4]}})"), 4);
  };
  CHECK(with_shape("[1]") == "");
  CHECK(with_shape("[1,1,1,1,1,1,1,1]") == "");
  CHECK(starts_with(with_shape("[-1]"),
      "header holds what does not belong there: the negative number -1 in shape of tensor "
      "\"w\"; "));
  for (const char* shape : {"[1.0]", "[1e0]", "[\"1\"]", "[null]", "[true]", "[[1]]", "[{}]", "1",
           "null", "{}", "\"1\"", "[18446744073709551616]"}) {
    INFO(shape);
    CHECK(starts_with(with_shape(shape), "header holds what does not belong there: "));
  }
  CHECK(with_shape("[9223372036854775808]") ==
        "extent too large: 9223372036854775808 in shape of tensor \"w\"");
  CHECK(with_shape("[1,1,1,1,1,1,1,1,1]") == "too many axes: more than 8 in shape of tensor \"w\"");
  CHECK(with_shape("[4294967296,4294967296]") ==
        "too many elements: shape [4294967296, 4294967296] of tensor \"w\" overflows 63 bits");
  // 2^62 elements of 4 bytes are 2^64 bytes: 0 in 64 bits.
  CHECK(starts_with(with_shape("[4611686018427387904]"), "offsets do not fit the shape: "));
  CHECK(starts_with(with_shape("[4611686018427387905]"), "offsets do not fit the shape: "));
  CHECK(starts_with(with_shape("[0,9223372036854775807,3]"), "too many elements: "));
}

TEST_CASE("offsets that do not fit shape and data are refused") {
  const auto with_offsets = [](const std::string& offsets, std::size_t data_bytes) {
    return failure(
        cat(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":)", offsets, "}}"), data_bytes);
  };
  CHECK(with_offsets("[0,8]", 8) == "");
  CHECK(with_offsets("[8,0]", 8) == "offsets reversed: tensor \"w\" has data_offsets [8, 0]");
  CHECK(with_offsets("[0,8]", 7) ==
        "truncated: tensor \"w\" has data_offsets [0, 8], but 7 bytes of data follow the header");
  CHECK(with_offsets("[0,12]", 12) ==
        "offsets do not fit the shape: tensor \"w\" has data_offsets [0, 12], 12 bytes, but shape "
        "[2] of F32, 2 elements of 4 bytes");
  CHECK(starts_with(with_offsets("[0,7]", 8), "offsets do not fit the shape: "));
  CHECK(starts_with(with_offsets("[0,9]", 9), "offsets do not fit the shape: "));
  CHECK(with_offsets("[4,12]", 12) ==
        "gap in the data: tensor \"w\" begins at 4, the one before ends at 0");
  CHECK(with_offsets("[0,8]", 12) ==
        "data left over: the tensors end at 8, but 12 bytes of data follow the header");
  CHECK(starts_with(with_offsets("[18446744073709551608,18446744073709551615]", 8), "truncated: "));
  CHECK(starts_with(with_offsets("[0]", 8), "wrong offsets: "));
  CHECK(starts_with(with_offsets("[]", 8), "wrong offsets: "));
  CHECK(starts_with(with_offsets("[0,8,8]", 8), "wrong offsets: "));
  for (const char* offsets : {"[-8,0]", "[0,8.0]", "[\"0\",8]", "8", "null", "[[0,8]]"}) {
    INFO(offsets);
    CHECK(starts_with(with_offsets(offsets, 8), "header holds what does not belong there: "));
  }
}

TEST_CASE("tensors that overlap, or leave a gap between them, are refused") {
  const auto with_two = [](const char* a, const char* b, std::size_t data_bytes) {
    return failure(cat(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)", a,
                       R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)", b, "}}"),
        data_bytes);
  };
  CHECK(with_two("[0,8]", "[8,16]", 16) == "");
  CHECK(with_two("[8,16]", "[0,8]", 16) == "");
  CHECK(with_two("[0,8]", "[4,12]", 12) ==
        "tensors overlap: tensor \"b\" begins at 4, the one before ends at 8");
  CHECK(with_two("[0,8]", "[0,8]", 8) ==
        "tensors overlap: tensor \"b\" begins at 0, the one before ends at 8");
  CHECK(with_two("[0,8]", "[12,20]", 20) ==
        "gap in the data: tensor \"b\" begins at 12, the one before ends at 8");
}

TEST_CASE("a tensor with a field missing or too many is refused") {
  CHECK(starts_with(failure(R"({"a":{}})", 0), "missing field: "));
  CHECK(starts_with(failure(R"({"a":{"dtype":"F32","shape":[0]}})", 0), "missing field: "));
  CHECK(starts_with(failure(R"({"a":{"shape":[0],"data_offsets":[0,0]}})", 0), "missing field: "));
  CHECK(
      starts_with(failure(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4), "missing field: "));
  CHECK(failure(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"strides":[1]}})", 0) ==
        "unknown field: \"strides\" in strides of tensor \"a\"; a tensor has dtype, shape and "
        "data_offsets");
  CHECK(starts_with(failure(R"({"a":1})", 0),
      "header holds what does not belong there: a number at \"a\"; it maps names to "));
  CHECK(starts_with(failure(R"({"a":{"dtype":1,"shape":[0],"data_offsets":[0,0]}})", 0),
      "header holds what does not belong there: a number in dtype of tensor \"a\"; "));
  CHECK(starts_with(failure(R"({"a":{"dtype":"F32","shape":"0","data_offsets":[0,0]}})", 0),
      "header holds what does not belong there: a string in shape of tensor \"a\"; "));
}

TEST_CASE("metadata maps texts to texts, and is no tensor") {
  CHECK(failure(R"({"__metadata__":{}})", 0) == "");
  CHECK(failure(R"({"__metadata__":{"dtype":"F32","shape":"any"}})", 0) == "");
  CHECK(starts_with(failure(R"({"__metadata__":{"k":1}})", 0),
      "header holds what does not belong there: a number at \"k\" in __metadata__; "));
  for (const char* value : {"null", "1", "\"x\"", "[]", "{\"k\":null}", "{\"k\":{}}", "{\"k\":[]}",
           "{\"k\":true}", "{\"k\":1.5}", "{\"k\":-1}"}) {
    INFO(value);
    CHECK(starts_with(failure(cat(R"({"__metadata__":)", value, "}"), 0),
        "header holds what does not belong there: "));
  }
  // It cannot be a tensor.
  CHECK_FALSE(
      failure(R"({"__metadata__":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4).empty());
}
