#include <microtape/tape/view/utf8.hpp>

#include "catch.hpp"

using namespace microtape;

using Words = std::vector<std::string>;

TEST_CASE("a Turkish letter takes one column, an emoji two, a mark none") {
  CHECK(utf8::display_width("ağaç") == 4);
  CHECK(utf8::display_width("İıŞşÇçÖöÜüĞğ") == 12);
  CHECK(utf8::display_width("🙂") == 2);
  CHECK(utf8::display_width("漢字") == 4);
  CHECK(utf8::display_width("e\u0301") == 1);
  CHECK(utf8::display_width("") == 0);
}

TEST_CASE("bytes that are not UTF-8 and control characters are replaced") {
  CHECK(utf8::printable("a\xff"
                        "b\n\tc") == "a\uFFFDb  c");
  CHECK(utf8::printable("\xc3") == "\uFFFD");            // cut off
  CHECK(utf8::printable("\xc0\xaf") == "\uFFFD\uFFFD");  // overlong
  CHECK(utf8::printable("\xe0\x80\xaf") == "\uFFFD\uFFFD\uFFFD");
  CHECK(utf8::printable("\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD");  // half of a surrogate pair
  CHECK(utf8::printable("\xf0\x9f\x99\x82\x7f") == "🙂 ");
  CHECK(utf8::printable("\xef\xbf\xbe\xef\xbf\xbf") == "\uFFFD\uFFFD");  // no characters
  CHECK(utf8::characters("ğ🙂e\u0301") == Words{"ğ", "🙂", "e\u0301"});
}

TEST_CASE("text is padded and shortened by columns, not by bytes") {
  CHECK(utf8::padded("ağ", 4) == "ağ  ");
  CHECK(utf8::padded("abc", 2) == "abc");
  CHECK(utf8::shortened("çıktı", 5) == "çıktı");
  CHECK(utf8::shortened("çıktılar", 5) == "çıkt…");
  CHECK(utf8::shortened("a🙂🙂", 4) == "a🙂…");
}

TEST_CASE("lines break at spaces, and within a word only if they must") {
  CHECK(utf8::wrapped("ab cd ef", 5) == Words{"ab cd", "ef"});
  CHECK(utf8::wrapped("ab cd ef", 4) == Words{"ab", "cd", "ef"});
  CHECK(utf8::wrapped("abcdef gh", 4) == Words{"abcd", "ef", "gh"});
  CHECK(utf8::wrapped("a bcdefg", 4) == Words{"a", "bcde", "fg"});
  CHECK(utf8::wrapped("ğşç ıüö", 3) == Words{"ğşç", "ıüö"});
  CHECK(utf8::wrapped("", 3) == Words{""});
  CHECK(utf8::wrapped(" x🙂", 2) == Words{"x", "🙂"});
}

TEST_CASE("what XML does not have is replaced, and all else stays") {
  CHECK(utf8::drawable("a\tb\nc\r\nd ğ🙂e\u0301") == "a\tb\nc\nd ğ🙂e\u0301");
  CHECK(utf8::drawable("\r\x07\x7f\xff") == "\uFFFD\uFFFD\uFFFD\uFFFD");
  CHECK(utf8::drawable("\xc2\x85") == "\uFFFD");      // a control character of two bytes
  CHECK(utf8::drawable("\xef\xbf\xbe") == "\uFFFD");  // U+FFFE is no character
  CHECK(utf8::drawable("\xef\xbf\xbf") == "\uFFFD");
  CHECK(utf8::drawable(std::string_view("a\0b", 3)) == "a\uFFFDb");
}
