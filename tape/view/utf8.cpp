#include <microtape/tape/view/utf8.hpp>

#include <algorithm>

namespace microtape::utf8 {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

struct Range {
  char32_t first, last;
};

bool is_in(char32_t c, std::initializer_list<Range> ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
      [c](const Range& range) { return range.first <= c && c <= range.last; });
}

/// Marks and joiners, which take no column of their own.
bool combines(char32_t c) {
  return is_in(c, {{0x300, 0x36f}, {0x1ab0, 0x1aff}, {0x200b, 0x200d}, {0x20d0, 0x20ff},
                      {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0x1f3fb, 0x1f3ff}});
}

/// East Asian characters and emoji.
bool is_wide(char32_t c) {
  return is_in(
      c, {{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
             {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}});
}

/// A code point and the bytes it takes; 0 bytes if it is not UTF-8.
struct Decoded {
  char32_t c;
  std::size_t bytes;
};

/// Source: The Unicode Standard, table 3-7, "Well-Formed UTF-8 Byte Sequences".
Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead < 0xc2   ? 0
                            : lead < 0xe0 ? 2
                            : lead < 0xf0 ? 3
                            : lead < 0xf5 ? 4
                                          : 0;
  if (bytes == 0) return {0, 0};
  char32_t c = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return {0, 0};
    c = c << 6 | (byte(i) & 0x3fu);
  }
  const bool is_overlong = (bytes == 3 && c < 0x800) || (bytes == 4 && c < 0x10000);
  if (is_overlong || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff) return {0, 0};
  return {c, bytes};
}

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

/// Bytes that are not UTF-8, and two code points that XML does not have.
bool is_no_character(const Decoded& decoded) {
  return decoded.bytes == 0 || decoded.c == 0xfffe || decoded.c == 0xffff;
}

std::size_t width_of(const std::string& character) { return is_wide(decode(character).c) ? 2 : 1; }

}  // namespace

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const Decoded next = decode(text);
    const std::string_view bytes = is_no_character(next) ? kReplacement
                                   : is_control(next.c)  ? " "
                                                         : text.substr(0, next.bytes);
    if (next.bytes > 0 && combines(next.c) && !out.empty())
      out.back() += bytes;
    else
      out.emplace_back(bytes);
    text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  for (const std::string& character : characters(text)) out += character;
  return out;
}

std::string drawable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Decoded next = decode(text);
    const bool is_kept =
        !is_no_character(next) && (!is_control(next.c) || next.c == '\n' || next.c == '\t');
    if (!text.starts_with("\r\n")) out += is_kept ? text.substr(0, next.bytes) : kReplacement;
    text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const std::string& character : characters(text)) width += width_of(character);
  return width;
}

std::string padded(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(text) + std::string(width - std::min(used, width), ' ');
}

std::string shortened(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::string out;
  std::size_t used = 1;
  for (const std::string& character : characters(text)) {
    used += width_of(character);
    if (used > width) break;
    out += character;
  }
  return out + "…";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t used = 0, last_space = std::string::npos;
  for (const std::string& character : characters(text)) {
    const std::size_t needs = width_of(character);
    const bool is_space = character == " ";
    bool is_full = false;
    while (used + needs > width && !line.empty()) {
      // Break at the last space; within a word only if it fills the line.
      is_full = true;
      const bool in_word = is_space || last_space == std::string::npos;
      const std::size_t cut = in_word ? line.size() : last_space;
      if (cut > 0) lines.push_back(line.substr(0, cut));
      line.erase(0, in_word ? cut : cut + 1);
      used = display_width(line);
      last_space = line.rfind(' ');
    }
    if (is_full && is_space) continue;
    if (is_space) last_space = line.size();
    line += character;
    used += needs;
  }
  if (!line.empty() || lines.empty()) lines.push_back(line);
  return lines;
}

}  // namespace microtape::utf8
