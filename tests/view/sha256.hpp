#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace microtape::testing {

/// The digest of a text in base64, as a Content-Security-Policy has it.
/// Source: NIST, "Secure Hash Standard", FIPS PUB 180-4, 2015, section 6.2. The constants are the
/// first bits of the fractional parts of roots of the first primes, computed here.
class Sha256 {
 public:
  static std::string base64(std::string_view text) { return Sha256(text).encoded(); }

 private:
  explicit Sha256(std::string_view text) {
    std::string padded(text);
    padded += '\x80';
    while (padded.size() % 64 != 56) padded += '\0';
    const std::uint64_t bits = text.size() * 8;
    for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift);
    for (std::size_t at = 0; at < padded.size(); at += 64) take(padded.substr(at, 64));
  }

  /// The first 32 bits of the fractional part, of which a double has more.
  static std::uint32_t first_bits(double root) {
    return static_cast<std::uint32_t>(std::ldexp(root - std::floor(root), 32));
  }

  static std::array<unsigned, 64> primes() {
    std::array<unsigned, 64> out{};
    std::size_t count = 0;
    for (unsigned n = 2; count < out.size(); ++n) {
      bool is_prime = true;
      for (unsigned d = 2; d * d <= n; ++d) is_prime &= n % d != 0;
      if (is_prime) out[count++] = n;
    }
    return out;
  }

  static const std::array<std::uint32_t, 64>& constants() {
    static const auto table = [] {
      std::array<std::uint32_t, 64> out{};
      const auto p = primes();
      for (std::size_t i = 0; i < 64; ++i) out[i] = first_bits(std::cbrt(p[i]));
      return out;
    }();
    return table;
  }

  static std::array<std::uint32_t, 8> start() {
    std::array<std::uint32_t, 8> out{};
    const auto p = primes();
    for (std::size_t i = 0; i < 8; ++i) out[i] = first_bits(std::sqrt(p[i]));
    return out;
  }

  void take(std::string_view block) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 64; ++i)
      w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(block[i]);
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t t = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                              ((e & f) ^ (~e & g)) + constants()[i] + w[i];
      const std::uint32_t u =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t, d = c, c = b, b = a, a = t + u;
    }
    const std::array<std::uint32_t, 8> after{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state_[i] += after[i];
  }

  std::string encoded() const {
    static constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bits, out;
    for (const std::uint32_t word : state_)
      for (int shift = 31; shift >= 0; --shift) bits += (word >> shift & 1) ? '1' : '0';
    bits += "00";
    for (std::size_t at = 0; at < bits.size(); at += 6)
      out += kLetters[std::stoul(bits.substr(at, 6), nullptr, 2)];
    return out + "=";
  }

  std::array<std::uint32_t, 8> state_ = start();
};

}  // namespace microtape::testing
