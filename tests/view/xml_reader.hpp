#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <microtape/tape/view/utf8.hpp>

namespace microtape::testing {

/// Reads XML as strictly as a browser reads SVG, and keeps its texts and ids.
/// @throws std::runtime_error if it is not well-formed
class XmlReader {
 public:
  explicit XmlReader(std::string_view xml) : rest_(xml) {
    if (utf8::drawable(xml) != xml) fail("a character that XML does not have");
    while (!rest_.empty()) {
      if (rest_[0] != '<')
        read_text();
      else if (take("<!--"))
        skip_to("-->");
      else if (take("<?"))
        skip_to("?>");
      else if (take("<!DOCTYPE"))
        skip_to(">");
      else
        read_tag();
    }
    if (!open_.empty()) fail("an open " + open_.back());
  }

  std::vector<std::string> texts;  ///< what stands between tags, white space at its ends included
  std::vector<std::string> ids;

  bool has_text(const std::string& text) const {
    for (const std::string& each : texts)
      if (each == text) return true;
    return false;
  }

 private:
  [[noreturn]] static void fail(const std::string& why) { throw std::runtime_error("XML: " + why); }

  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::string_view skip_to(std::string_view token) {
    const std::size_t at = rest_.find(token);
    if (at == std::string_view::npos) fail("no " + std::string(token));
    const std::string_view skipped = rest_.substr(0, at);
    rest_.remove_prefix(at + token.size());
    return skipped;
  }

  void read_text() {
    const std::size_t end = std::min(rest_.find('<'), rest_.size());
    const std::string text = decoded(rest_.substr(0, end));
    if (text.find_first_not_of(" \n\t\r") != std::string::npos) texts.push_back(text);
    rest_.remove_prefix(end);
  }

  void read_tag() {
    rest_.remove_prefix(1);
    if (take("/")) {
      const std::string_view name = skip_to(">");
      if (open_.empty() || open_.back() != name) fail("unexpected end of " + std::string(name));
      open_.pop_back();
      return;
    }
    const std::size_t end = rest_.find_first_of(" \n\t/>");
    if (end == std::string_view::npos || end == 0) fail("a tag without a name");
    open_.emplace_back(rest_.substr(0, end));
    rest_.remove_prefix(end);
    for (;;) {
      while (take(" ") || take("\n")) {
      }
      if (take("/>")) return open_.pop_back();
      if (take(">")) return;
      const std::string name(skip_to("=\""));
      const std::string_view value = skip_to("\"");
      if (value.find('<') != std::string_view::npos) fail("< in an attribute");
      if (name == "id") ids.push_back(decoded(value));
    }
  }

  static std::string decoded(std::string_view text) {
    std::string out;
    while (!text.empty()) {
      if (text[0] != '&') {
        out += text[0];
        text.remove_prefix(1);
        continue;
      }
      const std::size_t end = text.find(';');
      if (end == std::string_view::npos) fail("a bare &");
      out += entity(std::string(text.substr(1, end - 1)));
      text.remove_prefix(end + 1);
    }
    return out;
  }

  static std::string entity(const std::string& name) {
    if (name == "amp") return "&";
    if (name == "lt") return "<";
    if (name == "gt") return ">";
    if (name == "quot") return "\"";
    if (name == "apos" || name == "#39") return "'";
    if (name == "#45") return "-";
    if (name == "#160") return "\xc2\xa0";
    fail("an unknown entity " + name);
  }

  std::string_view rest_;
  std::vector<std::string> open_;
};

}  // namespace microtape::testing
