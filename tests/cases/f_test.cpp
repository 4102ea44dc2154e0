// Cases F of cases.json: files that are hostile, and files with names that are hard to say.

#include <filesystem>

#include <microtape/core/io/npy.hpp>
#include <microtape/tape/ops.hpp>
#include <microtape/tape/view/svg.hpp>

#include "cases/case_list.hpp"
#include "core/file_testing.hpp"
#include "view/dot_program.hpp"

using namespace microtape;
using namespace microtape::testing;
namespace fs = std::filesystem;

namespace {

std::string from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.find('='))) {
    bits = bits << 6 | static_cast<std::uint32_t>(digits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

/// A path as the file writes it, in UTF-8.
fs::path path_of(const std::string& text) {
  return fs::path(std::u8string(text.begin(), text.end()));
}

/// Checks that f throws a file error that names the path.
template <class F>
void check_names(const fs::path& path, F f) {
  INFO(path);
  try {
    f();
    FAIL_CHECK("nothing was thrown");
  } catch (const FileError& error) {
    CHECK(std::string(error.what()).find(path.string()) != std::string::npos);
  }
}

/// The Tensor in the npy file that an entry of the cases holds.
Tensor npy_of(const Json& file) {
  const Folder folder;
  put(folder / "x.npy", from_base64(file.at("base64")));
  return read_npy(folder / "x.npy");
}

}  // namespace

TEST_CASE("F01: each hostile safetensors file is an error that names the file") {
  const Folder folder;
  const Json& files = case_of("F01").at("inputs").at("files");
  CHECK(files.size() == 7);
  for (const auto& [name, file] : files.items()) {
    const fs::path path = folder.path / name;
    put(path, from_base64(file.at("base64")));
    REQUIRE(fs::file_size(path) > 8);
    check_names(path, [&] { read_safetensors(path); });
  }
}

TEST_CASE("F04: an npy file in Fortran order is read column by column") {
  const Case c("F04", float32);
  const Json& files = c.json().at("inputs");
  CHECK(same_bits(npy_of(files.at("file")), c.expected("value")));
  CHECK(same_bits(npy_of(files.at("file_2x1")), c.expected("value_2x1")));
}

TEST_CASE("F05: the numbers of a big-endian npy file keep their values") {
  const Json& files = case_of("F05").at("inputs");
  CHECK(same_bits(npy_of(files.at("file_f4")), Case("F05", float32).expected("f4")));
  CHECK(same_bits(npy_of(files.at("file_f8")), Case("F05").expected("f8")));
}

TEST_CASE("F06: npy headers may be long, in any order, not aligned, of version 2.0") {
  const Case c("F06");
  const Json& files = c.json().at("inputs");
  for (const char* name : {"long_header", "odd_order", "zero_d"})
    CHECK(same_bits(npy_of(files.at(name)), c.expected(name)));
  // The file that the case says how to make.
  REQUIRE(files.at("v2").at("generate") ==
          "magic, version 2 0, uint32 length, same dict padded with 70000 blanks and newline");
  const std::string header =
      "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }" + std::string(70000, ' ') + "\n";
  const std::string old = from_base64(files.at("odd_order").at("base64"));
  const Folder folder;
  put(folder / "x", std::string("\x93NUMPY\2\0", 8) + length_of(header.size()).substr(0, 4) +
                        header + old.substr(old.size() - 16));
  CHECK(same_bits(read_npy(folder / "x"), c.expected("v2")));
  CHECK(same_bits(read_npy(tests_folder("reference") / "npy/nothing.npy"), Tensor::zeros({0})));
}

TEST_CASE("F07: each truncated or corrupted npy file is an error that names the file") {
  const Folder folder;
  const Json& files = case_of("F07").at("inputs").at("files");
  CHECK(files.size() == 6);
  for (const auto& [name, file] : files.items()) {
    const fs::path path = folder.path / name;
    put(path, from_base64(file.at("base64")));
    REQUIRE(fs::file_size(path) >= 6);
    check_names(path, [&] { read_npy(path); });
  }
  CHECK_THROWS_MATCHES(read_npy(folder / "truncated_data"), FileError,
      says(cat("read_npy: truncated: file \"", (folder / "truncated_data").string(),
          "\": expected 24 bytes of data for shape [2, 3] of \"<f4\", found 10")));
}

TEST_CASE("F09: an npy file of another dtype is converted by value, never by its bytes") {
  const Case in32("F09", float32), in64("F09", float64);
  for (const auto& [name, file] : in32.json().at("inputs").items()) {
    INFO(name);
    const Tensor x = npy_of(file);
    CHECK(x.dtype() == (name == "f8" ? float64 : name == "f2" ? float32 : int64));
    CHECK(same_bits(x.to(float32), in32.expected("float32/" + name)));
    // The case has no bool in float64: 1 and 0, as in float32.
    CHECK(same_bits(x.to(float64),
        name == "b1" ? in64.expected("float32/b1") : in64.expected("float64/" + name)));
  }
}

TEST_CASE("F10: files keep every bit under names with blanks and letters of any script") {
  const Folder folder;
  const std::string text = case_of("F10").at("inputs").at("path");
  const fs::path given = path_of(text.substr(text.find('/') + 1)).parent_path();
  fs::create_directories(folder.path / given);
  const Tensor x = Tensor::randn({3, 2}, 1, float64);
  for (const char* name : {"mödel 1", "it's", "-x", "a;b", "$(echo)", "\"quoted\""}) {
    const fs::path path = folder.path / given / path_of(name);
    write_safetensors(path, {{"x", x}});
    CHECK(same_bits(read_safetensors(path).tensors.at("x"), x));
    write_npy(path, x);
    CHECK(same_bits(read_npy(path), x));
    CHECK(fs::is_regular_file(path));
  }
}

TEST_CASE("F10: a missing file, a missing folder and a folder are errors that show the path") {
  const Folder folder;
  const TensorMap x{{"x", Tensor::zeros({2})}};
  const fs::path missing = folder.path / path_of("ağ") / "x",
                 is_folder = folder.path / path_of("模型");
  fs::create_directory(is_folder);
  for (const fs::path& path : {missing, is_folder}) {
    check_names(path, [&] { read_safetensors(path); });
    check_names(path, [&] { write_safetensors(path, x); });
    check_names(path, [&] { read_npy(path); });
    check_names(path, [&] { write_npy(path, x.at("x")); });
    check_names(path, [&] { write_svg(path, "digraph { a }"); });
  }
  CHECK(folder.count() == 2);  // the folder, and the graph of a picture that could not replace it
}

TEST_CASE("F10: a picture is drawn whatever its name, which no shell sees") {
  if (!has_dot()) {
    WARN("there is no dot here");
    return;
  }
  const Folder folder;
  MicroTape tape;
  exp(tape.leaf(f64({1, 2})));
  const char* names[] = {
      "mödel 1", "it's.svg", "-x.svg", "a;touch b", "$(touch b)", "\"`touch b`\""};
  for (const char* name : names) {
    const fs::path path = folder.path / path_of(name);
    write_svg(path, tape);
    INFO(path);
    CHECK(bytes_of(path).find("</svg>") != std::string::npos);
  }
  // Beside each picture stands its graph.
  CHECK(folder.count() == 2 * static_cast<std::ptrdiff_t>(std::size(names)));
}

TEST_CASE("F: every case about files is tested") {
  CHECK(missing_cases("f", {"F01", "F04", "F05", "F06", "F07", "F09", "F10"}).empty());
}
