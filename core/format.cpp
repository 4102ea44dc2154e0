#include <microtape/core/format.hpp>

#include <array>
#include <cmath>

namespace microtape {
namespace {

/// Longest text of a double with up to 32 significant digits: sign, digits, point, "0.000",
/// exponent.
constexpr std::size_t kLongest = 64;
constexpr int kMostDigits = 32;

/// How nan and the infinities are spelled everywhere; the sign bit of a nan does not show.
std::string_view spell_non_finite(double value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

}  // namespace

void append(std::string& out, const Indices& list) {
  out += '[';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    append(out, list[i]);
  }
  out += ']';
}

std::string number(double value, int digits) {
  if (!std::isfinite(value)) return std::string(spell_non_finite(value));
  std::array<char, kLongest> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
      std::chars_format::general, digits < kMostDigits ? digits : kMostDigits);
  return {text.data(), end.ptr};
}

std::string exact(double value) {
  if (!std::isfinite(value)) return std::string(spell_non_finite(value));
  std::array<char, kLongest> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return cat("\"", text.substr(0, kMost), text.size() > kMost ? "..\"" : "\"");
}

}  // namespace microtape
