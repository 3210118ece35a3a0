#include "admin/json_text.h"

#include <array>
#include <charconv>

namespace sluice::admin {

void JsonText::separate() {
  if (follows_) text_ += ',';
  follows_ = true;
}

void JsonText::quote(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  text_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text_.append("\\u00");
      text_ += kDigits[static_cast<unsigned char>(c) >> 4];
      text_ += kDigits[static_cast<unsigned char>(c) & 15];
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

JsonText& JsonText::open(char bracket) {
  separate();
  text_ += bracket;
  follows_ = false;
  return *this;
}

JsonText& JsonText::close(char bracket) {
  text_ += bracket;
  follows_ = true;
  return *this;
}

JsonText& JsonText::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ':';
  follows_ = false;  // its value
  return *this;
}

JsonText& JsonText::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonText& JsonText::value(std::int64_t number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return raw({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

JsonText& JsonText::raw(std::string_view text) {
  separate();
  text_ += text;
  return *this;
}

}  // namespace sluice::admin
