#include <microtape/core/io/npy.hpp>

#include "catch.hpp"
#include "core/file_testing.hpp"

// Files that somebody made to do harm, or that were damaged on the way: each is a FileError that
// names the file and what is wrong with it.

using namespace microtape;
using namespace microtape::testing;

namespace {

std::string failure(const std::string& bytes) { return failure_of("read_npy", bytes, read_npy); }

/// A file of version 1.0 with this header.
std::string file_of(const std::string& header, const std::string& data) {
  return std::string("\x93NUMPY\1\0", 8) + length_of(header.size()).substr(0, 2) + header + data;
}

/// What is wrong with a header before 8 bytes of data.
std::string of_header(const std::string& header) {
  return failure(file_of(header, std::string(8, '\0')));
}

std::string of_shape(const std::string& shape) {
  return of_header("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}");
}

const std::string kGood = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
const std::string kAsIn =
    " of the header, as in {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}";

}  // namespace

TEST_CASE("an npy file cut short anywhere is refused") {
  const Folder folder;
  write_npy(folder / "x", Tensor::of({{1, 2, 3}, {4, 5, 6}}));
  const std::string whole = bytes_of(folder / "x");
  REQUIRE(whole.size() == 152);
  CHECK(failure(whole) == "");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO("cut to " << length << " bytes");
    REQUIRE(starts_with(failure(whole.substr(0, length)), "truncated: "));
  }
  CHECK(failure(whole.substr(0, 7)) ==
        "truncated: expected 8 bytes of magic string and version, found 7");
  CHECK(failure(whole.substr(0, 9)) == "truncated: expected 2 bytes of header length, found 1");
  CHECK(failure(whole.substr(0, 50)) == "truncated: expected 118 bytes of header, found 40");
  CHECK(failure(whole.substr(0, 138)) ==
        "truncated: expected 24 bytes of data for shape [2, 3] of \"<f4\", found 10");
}

TEST_CASE("bytes after the array are refused, even a second array") {
  const std::string one = file_of(kGood, std::string(8, '\0'));
  CHECK(failure(one) == "");
  CHECK(failure(one + "x") ==
        "data left over: expected 8 bytes of data for shape [2] of \"<f4\", found 9; a file holds "
        "one array");
  CHECK(starts_with(failure(one + one), "data left over: "));
}

TEST_CASE("a flipped bit in an npy file gives numbers or a FileError, nothing else") {
  std::string bytes = file_of(kGood, std::string(8, '\0'));
  int refused = 0;
  for (std::size_t i = 0; i < bytes.size() - 8; ++i)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] = static_cast<char>(bytes[i] ^ 1 << bit);
      refused += failure(bytes).empty() ? 0 : 1;
      bytes[i] = static_cast<char>(bytes[i] ^ 1 << bit);
    }
  CHECK(refused > 450);
}

TEST_CASE("another magic string or version is refused") {
  const std::string rest = file_of(kGood, std::string(8, '\0')).substr(8);
  CHECK(failure(std::string("\x93NUMPX\1\0", 8) + rest) ==
        "not an npy file: it does not begin with \\x93NUMPY");
  CHECK(failure("PK\3\4 a zip file") == "not an npy file: it does not begin with \\x93NUMPY");
  CHECK(failure("\x93NUMPY\4" + std::string(1, '\0') + rest) ==
        "unknown version: 4.0; 1.0, 2.0 and 3.0 can be read");
  CHECK(failure("\x93NUMPY\1\1" + rest) == "unknown version: 1.1; 1.0, 2.0 and 3.0 can be read");
  CHECK(failure("\x93NUMPY\xff\xfe" + rest) ==
        "unknown version: 255.254; 1.0, 2.0 and 3.0 can be read");
  CHECK(starts_with(failure(std::string("\x93NUMPY\0\0", 8) + rest), "unknown version: 0.0; "));
}

TEST_CASE("an npy header length that lies is refused before memory is asked for") {
  CHECK(failure("\x93NUMPY\1" + std::string(1, '\0') + "\xff\xff{}") ==
        "truncated: expected 65535 bytes of header, found 2");
  CHECK(failure("\x93NUMPY\2" + std::string(1, '\0') + "\xff\xff\xff\xff{}") ==
        "truncated: expected 4294967295 bytes of header, found 2");
  CHECK(failure("\x93NUMPY\3" + std::string(1, '\0') + "\xff\xff\xff") ==
        "truncated: expected 4 bytes of header length, found 3");
  CHECK(starts_with(of_header(""), "malformed header: expected '{' at byte 0 of the header"));
}

TEST_CASE("an npy header may have any order of keys, blanks and quotation marks") {
  for (const char* header : {"{'shape':(2,),'fortran_order':False,'descr':'<f4'}",
           " {\t'descr' : \"<f4\" , 'shape' : ( 2 , ) ,\n'fortran_order' : True , } \r\n",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, ), }",
           "{\"descr\": \"<f8\", \"fortran_order\": True, \"shape\": ()}"}) {
    INFO(header);
    CHECK(of_header(header) == "");
  }
}

TEST_CASE("an npy header that is not the dictionary it should be is refused where it errs") {
  // % marks the place.
  const char* headers[] = {"%[]", "%'descr'", "{%descr: '<f4'}", "{'descr' %'<f4'}", "{%,}",
      "{'descr': '<f4' %'fortran_order': False}", "{'descr': '<f4'%", "{'descr': '<f4%",
      "{'descr': '<f4\"}%", "{'descr': '%\\x3cf4'}", "{'descr': '%\xc3\xa4'}", "{'descr': '%\x7f'}",
      "{'descr': '<f4', 'fortran_order': %0}", "{'descr': '<f4', 'fortran_order': %true}",
      "{'descr': '<f4', 'fortran_order': %'True'}", "{'fortran_order': %Falsehood}",
      "{'shape': %[2]}", "{'shape': %2}", "{'shape': (2%)}", "{'shape': (2%", "{'shape': (%,)}",
      "{'shape': (2, 3 %4)}", "{'shape': (%2.0,)}", "{'shape': (%02,)}", "{'shape': (%0x2,)}",
      "{'shape': (%+2,)}", "{'shape': (%-,)}", "{'shape': (%None,)}", "{'shape': (%True,)}",
      "{'shape': (%1_0,)}", "{'shape': (%'2',)}", "{'shape': (%(2,),)}", "{'shape': (%L,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} %x",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}%}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}%# a comment"};
  for (std::string header : headers) {
    INFO(header);
    const std::size_t at = header.find('%');
    header.erase(at, 1);
    const std::string text = of_header(header);
    CHECK(starts_with(text, "malformed header: expected "));
    CHECK(text.find(cat(" at byte ", at, kAsIn)) != std::string::npos);
  }
  CHECK(of_header(kGood + std::string(1, '\0')) ==
        cat("malformed header: expected blanks and a newline to the end at byte 55", kAsIn));
  CHECK(of_header("{'shape': 2}") == cat("malformed header: expected '(' at byte 10", kAsIn));
  CHECK(of_header("{'shape': (2.5,)}") ==
        cat("malformed header: expected a whole number at byte 11", kAsIn));
  CHECK(of_header("{'descr': '\n'}") ==
        cat("malformed header: expected printable ASCII without \\ at byte 11", kAsIn));
  CHECK(of_header("{'fortran_order': 1}") ==
        cat("malformed header: expected True or False at byte 18", kAsIn));
  CHECK(of_header("{7: 1}") == cat("malformed header: expected a string at byte 1", kAsIn));
}

TEST_CASE("nested brackets without end are refused at the first") {
  const std::string many(60'000, '(');
  CHECK(starts_with(of_header("{'shape': (" + many), "malformed header: expected a whole number"));
  CHECK(starts_with(of_header(std::string(60'000, '{')), "malformed header: expected a string"));
}

TEST_CASE("a key that is missing, unknown or there twice is named") {
  CHECK(of_header("{}") == "missing key: \"descr\"; a header has descr, fortran_order and shape");
  CHECK(of_header("{'descr': '<f4', 'shape': (2,)}") ==
        "missing key: \"fortran_order\"; a header has descr, fortran_order and shape");
  CHECK(of_header("{'descr': '<f4', 'fortran_order': False}") ==
        "missing key: \"shape\"; a header has descr, fortran_order and shape");
  CHECK(of_header("{'descr': '<f4', 'strides': (4,)}") ==
        "unknown key: \"strides\"; a header has descr, fortran_order and shape");
  CHECK(of_header("{'shape': (2,), \"shape\": (2,)}") == "a key stands twice: \"shape\"");
}

TEST_CASE("a dtype that has no place in a Tensor is named") {
  const auto of_descr = [](const std::string& descr) {
    return of_header("{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,)}");
  };
  const std::string can =
      "; f2, f4, f8, b1, i1, i2, i4, i8, u1, u2 and u4 can be read, after <, > or =; convert it in "
      "NumPy with astype";
  for (const char* descr : {"<U1", "|S8", "|O", "<c8", "<c16", "<M8[s]", "<u8", ">u8", "<f16",
           "|V8", "f4", "float32", "|f4", "|i2", "!f4", "<F4", "<f3", "<f4 ", " <f4", "<", ""})
    CHECK(of_descr(cat("'", descr, "'")) == cat("unknown dtype: descr is \"", descr, "\"", can));
  for (const char* descr :
      {"[('x', '<f4'), ('y', '<f4')]", "('<f4', (2,))", "None", "b'<f4'", "u'<f4'", "{}"})
    CHECK(of_descr(descr) == cat("unknown dtype: descr is no string, but a record, it seems", can));
  // A text without end does not make a message without end.
  CHECK(of_descr(cat("'", std::string(1000, 'x'), "'")).size() < 250);
}

TEST_CASE("a shape that no Tensor has is refused") {
  CHECK(of_shape("(-1,)") == "negative extent: \"-1\" in shape");
  CHECK(of_shape("(2, -9999999999999999999)") ==
        "negative extent: \"-9999999999999999999\" in shape");
  CHECK(of_shape("(9223372036854775808,)") == "extent too large: \"9223372036854775808\" in shape");
  CHECK(of_shape("(1, 1, 1, 1, 1, 1, 1, 2)") == "");
  CHECK(of_shape("(1, 1, 1, 1, 1, 1, 1, 2, 1)") == "too many axes: shape has more than 8");
  CHECK(of_shape("(4294967296, 4294967296)") ==
        "too many elements: shape [4294967296, 4294967296]; at most 2^59 are allowed");
  CHECK(of_shape("(0, 9223372036854775807, 3)") ==
        "too many elements: shape [0, 9223372036854775807, 3]; at most 2^59 are allowed");
  // 2^62 numbers of 4 bytes are 2^64 bytes: 0 in 64 bits.
  CHECK(starts_with(of_shape("(4611686018427387904,)"), "too many elements: "));
  CHECK(starts_with(of_shape("(576460752303423489,)"), "too many elements: "));
  CHECK(of_shape("(576460752303423488,)") ==
        "truncated: expected 2305843009213693952 bytes of data for shape [576460752303423488] of "
        "\"<f4\", found 8");
  CHECK(starts_with(of_shape("(0,)"), "data left over: expected 0 bytes"));
  CHECK(
      failure(file_of(
          "{'descr': '>i2', 'fortran_order': True, 'shape': (0, 9223372036854775807)}", "")) == "");
}

TEST_CASE("a shape that Python 2 wrote is refused with what to do") {
  CHECK(of_shape("(2L,)") ==
        "extent of Python 2: \"2L\" in shape; load it with NumPy, and save it again");
}
