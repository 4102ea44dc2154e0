#include <microtape/core/io/npy_header.hpp>

#include <array>
#include <charconv>
#include <set>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>

namespace microtape::npy {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kTypes[] = {
    "f2", "f4", "f8", "b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4"};
constexpr std::string_view kKeys[] = {"descr", "fortran_order", "shape"};
/// With so many numbers of 8 bytes, no product of extents overflows.
constexpr Index kMostNumbers = Index{1} << 59;

/// Reads the one Python literal that a header is: a dictionary of a string, True or False, and a
/// tuple of whole numbers.
class HeaderReader {
 public:
  HeaderReader(const InputFile& file, std::string_view text) : file_(file), text_(text) {}

  Header read() {
    take('{');
    while (next() != '}') {
      read_entry();
      if (next() != ',') break;
      take(',');
    }
    take('}');
    next();
    if (at_ < text_.size()) fail_expected("blanks and a newline to the end");
    for (const std::string_view key : kKeys)
      if (!keys_.contains(key))
        file_.fail(
            "missing key", cat(in_quotes(key), "; a header has descr, fortran_order and shape"));
    return header_;
  }

 private:
  void read_entry() {
    const std::string_view key = take_string();
    take(':');
    if (!keys_.insert(key).second) file_.fail("a key stands twice", in_quotes(key));
    if (key == "descr")
      read_type();
    else if (key == "fortran_order")
      read_order();
    else if (key == "shape")
      read_shape();
    else
      file_.fail(
          "unknown key", cat(in_quotes(key), "; a header has descr, fortran_order and shape"));
  }

  void read_type() {
    // A record is [('x', '<f4'), ('y', '<i8')].
    if (next() != '\'' && next() != '"') fail_type("descr is no string, but a record, it seems");
    header_.descr = take_string();
    const std::string_view descr = header_.descr;
    for (const std::string_view type : kTypes) {
      // A single byte has no order, which is written `|`.
      const std::string_view orders = type[1] == '1' ? "<>=|" : "<>=";
      if (descr.size() != 3 || descr.substr(1) != type || orders.find(descr[0]) == orders.npos)
        continue;
      header_.type = {type[0], static_cast<std::size_t>(type[1] - '0'), descr[0] == '>'};
      return;
    }
    fail_type(cat("descr is ", in_quotes(descr)));
  }

  [[noreturn]] void fail_type(std::string_view what) const {
    file_.fail("unknown dtype",
        cat(what, "; f2, f4, f8, b1, i1, i2, i4, i8, u1, u2 and u4 can be read, after <, > or =; ",
            "convert it in NumPy with astype"));
  }

  void read_order() {
    const std::string_view word = take_word();
    if (word != "True" && word != "False") fail_expected("True or False", word);
    header_.is_fortran = word == "True";
  }

  void read_shape() {
    Indices extents;
    take('(');
    while (next() != ')') {
      if (extents.size() == Indices::kMax)
        file_.fail("too many axes", cat("shape has more than ", Indices::kMax));
      extents.push_back(take_extent());
      // In Python (2) is a number; (2,) is a tuple.
      if (extents.size() > 1 && next() != ',') break;
      take(',');
    }
    take(')');
    try {
      header_.shape = Shape(extents);
    } catch (const ShapeError&) {
      fail_too_many(extents);
    }
    if (header_.shape.size() > kMostNumbers) fail_too_many(extents);
  }

  [[noreturn]] void fail_too_many(const Indices& extents) const {
    file_.fail("too many elements", cat("shape ", extents, "; at most 2^59 are allowed"));
  }

  Index take_extent() {
    const std::string_view word = take_word();
    Index extent = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), extent);
    const std::string_view rest(end, static_cast<std::size_t>(word.data() + word.size() - end));
    if (rest == "L" && word.size() > 1)
      file_.fail("extent of Python 2",
          cat(in_quotes(word), " in shape; load it with NumPy, and save it again"));
    // Python 2 took 010 for 8.
    const bool has_zeros = word.size() > 1 && word[0] == '0';
    if (word.empty() || !rest.empty() || has_zeros) fail_expected("a whole number", word);
    if (word[0] == '-') file_.fail("negative extent", cat(in_quotes(word), " in shape"));
    if (error != std::errc()) file_.fail("extent too large", cat(in_quotes(word), " in shape"));
    return extent;
  }

  /// Passes over blanks. The character that follows; 0 at the end.
  char next() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string::npos)
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void take(char wanted) {
    if (next() != wanted) fail_expected(std::string{'\'', wanted, '\''});
    ++at_;
  }

  /// The text between two quotation marks of one kind. No name that is known needs more than
  /// printable ASCII without escapes.
  std::string_view take_string() {
    const char quote = next();
    if (quote != '\'' && quote != '"') fail_expected("a string");
    const std::size_t begin = ++at_;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_)
      if (text_[at_] < ' ' || text_[at_] > '~' || text_[at_] == '\\')
        fail_expected("printable ASCII without \\");
    take(quote);
    return text_.substr(begin, at_ - 1 - begin);
  }

  /// Letters, digits and signs up to what is neither; may be empty.
  std::string_view take_word() {
    next();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_of_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  static bool is_of_word(char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '-' ||
           c == '+' || c == '.' || c == '_';
  }

  /// @param word  what was read last, and stands there instead
  [[noreturn]] void fail_expected(std::string_view what, std::string_view word = {}) const {
    file_.fail("malformed header",
        cat("expected ", what, " at byte ", at_ - word.size(),
            " of the header, as in {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}"));
  }

  const InputFile& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::set<std::string_view> keys_;  ///< seen so far
  Header header_;
};

}  // namespace

void require_bytes(const InputFile& file, std::uint64_t bytes, std::string_view of_what) {
  if (bytes > file.left())
    file.fail("truncated", cat("expected ", bytes, " bytes of ", of_what, ", found ", file.left()));
}

Header read_header(InputFile& file) {
  std::string start(kMagic.size() + 2, '\0');
  require_bytes(file, start.size(), "magic string and version");
  file.read(start.data(), start.size());
  if (!start.starts_with(kMagic)) file.fail("not an npy file", "it does not begin with \\x93NUMPY");
  const int major = static_cast<unsigned char>(start[kMagic.size()]);
  const int minor = static_cast<unsigned char>(start.back());
  if (major < 1 || major > 3 || minor != 0)
    file.fail("unknown version", cat(major, ".", minor, "; 1.0, 2.0 and 3.0 can be read"));

  const std::uint64_t length_bytes = major == 1 ? 2 : 4;
  std::uint64_t length = 0;
  require_bytes(file, length_bytes, "header length");
  file.read(&length, length_bytes);
  require_bytes(file, length, "header");
  std::string text(length, '\0');
  file.read(text.data(), length);
  return HeaderReader(file, text).read();
}

std::string header_bytes(DType dtype, const Shape& shape) {
  // A tuple: (), (2,), (2, 3).
  std::string tuple = shape.str();
  tuple.front() = '(';
  tuple.back() = ')';
  if (shape.rank() == 1) tuple.insert(tuple.size() - 1, ",");
  const char* descr = dtype == float32 ? "<f4" : dtype == float64 ? "<f8" : "<i8";
  // Version 1.0, and a header of 118 = 0x76 bytes. NumPy leaves room for the first extent to grow
  // to 21 digits, and fills a multiple of 64: 128 bytes, for no Shape has more than 26 digits.
  std::string out = cat(kMagic, std::string_view("\1\0\x76\0", 4), "{'descr': '", descr,
      "', 'fortran_order': False, 'shape': ", tuple, ", }");
  out.resize(127, ' ');
  return out + '\n';
}

}  // namespace microtape::npy
