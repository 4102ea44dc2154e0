#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace microtape {

/// What every mistake of a user throws; nothing has changed when it is thrown.
///
/// The text has one form:
/// `<op>: <what is wrong>: <operand name> <shape> ...; <the rule, with numbers>[; <what to do>]`,
/// and inside a scope of a tape `in <scope>: ` stands before it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// Puts `in <place>: ` before the text, the first time; the innermost place is the one to know.
  void add_place(std::string_view place) {
    if (std::exchange(has_place_, true)) return;
    std::string text = "in ";
    text.append(place).append(": ").append(what());
    static_cast<std::runtime_error&>(*this) = std::runtime_error(text);
  }

 private:
  bool has_place_ = false;
};

/// The shapes of the operands do not fit the operation.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// The number types of the operands do not fit the operation.
class DTypeError : public Error {
 public:
  using Error::Error;
};

/// An argument lies outside its range.
class ValueError : public Error {
 public:
  using Error::Error;
};

/// An index or an axis does not exist.
class IndexError : public Error {
 public:
  using Error::Error;
};

/// A tape was used against its rules: cleared, mixed with another, swept from a constant.
class TapeError : public Error {
 public:
  using Error::Error;
};

/// A file cannot be read or written, or does not hold what its format promises.
class FileError : public Error {
 public:
  using Error::Error;
};

}  // namespace microtape
