#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include <microtape/core/error.hpp>
#include <microtape/core/format.hpp>
#include <microtape/core/random.hpp>

#include "catch.hpp"

using namespace microtape;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a list of integers prints in brackets, with a comma and a space between") {
  CHECK(cat(Indices{}) == "[]");
  CHECK(cat(Indices{7}) == "[7]");
  CHECK(cat(Indices{2, -3, 0}) == "[2, -3, 0]");
  CHECK(cat(Shape{2, 3}) == "[2, 3]");
}

TEST_CASE("cat puts texts, shapes, dtypes and numbers one after another") {
  CHECK(cat("a ", Shape{2, 3}, " is ", float64, ", ", 7, " and ", std::size_t{8}, ", ", 0.5) ==
        "a [2, 3] is float64, 7 and 8, 0.5");
  CHECK(cat() == "");
  CHECK(cat(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(cat(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
}

TEST_CASE("number prints as printf's %g does") {
  // Expected: the C standard's rules for %g, with 6 digits where none are named.
  CHECK(number(0) == "0");
  CHECK(number(-0.0) == "-0");
  CHECK(number(0.75) == "0.75");
  CHECK(number(1.0 / 3) == "0.333333");
  CHECK(number(100000) == "100000");
  CHECK(number(1000000) == "1e+06");
  CHECK(number(1e-9) == "1e-09");
  CHECK(number(0.0001) == "0.0001");
  CHECK(number(0.00001) == "1e-05");
  CHECK(number(-123456789) == "-1.23457e+08");
  CHECK(number(2.0 / 3, 3) == "0.667");
  CHECK(number(1234.5, 2) == "1.2e+03");
  CHECK(number(0.1, 17) == "0.10000000000000001");
}

TEST_CASE("number agrees with printf over all exponents and signs") {
  for (int i = 0; i < 2000; ++i) {
    const double x =
        random_normal(1, static_cast<std::uint64_t>(i)) * std::pow(10.0, i % 617 - 308);
    const int digits = 1 + i % 17;
    char expected[64];
    std::snprintf(expected, sizeof expected, "%.*g", digits, x);
    REQUIRE(number(x, digits) == expected);
  }
}

TEST_CASE("exact prints the shortest text that reads back as the same number") {
  CHECK(exact(3.0) == "3");
  CHECK(exact(-0.5) == "-0.5");
  CHECK(exact(0.1) == "0.1");
  CHECK(exact(0.1 + 0.2) == "0.30000000000000004");
  CHECK(exact(1e300) == "1e+300");
  CHECK(exact(5e-324) == "5e-324");
  CHECK(exact(std::numeric_limits<double>::max()) == "1.7976931348623157e+308");
  for (int i = 0; i < 2000; ++i) {
    const double x =
        random_normal(2, static_cast<std::uint64_t>(i)) * std::pow(10.0, i % 617 - 308);
    REQUIRE(std::strtod(exact(x).c_str(), nullptr) == x);
  }
}

TEST_CASE("nan has no sign, infinities have one") {
  CHECK(number(kNan) == "nan");
  CHECK(number(-kNan) == "nan");
  CHECK(number(kInf) == "inf");
  CHECK(number(-kInf) == "-inf");
  CHECK(exact(-kNan) == "nan");
  CHECK(exact(kInf) == "inf");
  CHECK(cat(-kInf) == "-inf");
}

TEST_CASE("the C locale of the program does not change a number") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* locale : {"de_DE.UTF-8", "de_DE", "tr_TR.UTF-8", "fr_FR.UTF-8"})
    if (std::setlocale(LC_ALL, locale)) {
      CHECK(number(0.75) == "0.75");
      CHECK(exact(1234567.5) == "1234567.5");
    }
  std::setlocale(LC_ALL, before.c_str());
  CHECK(number(0.75) == "0.75");
}
