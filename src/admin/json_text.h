#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::admin {

// Writes a JSON document of one line, front to back, into one string: a document with a thousand values that
// is made every second costs microseconds this way, and milliseconds as a tree. Pure.
//   JsonText json;
//   json.begin_object().member("name", row.name).key("loads").begin_array()...end_array().end_object();
// What is begun is ended, and each member of an object has one key; that is the caller's part. Text from
// outside goes through displayable() first, or is known to be UTF-8. Source: RFC 8259.
class JsonText {
 public:
  JsonText& begin_object() { return open('{'); }
  JsonText& end_object() { return close('}'); }
  JsonText& begin_array() { return open('['); }
  JsonText& end_array() { return close(']'); }
  // Any text, escaped.
  JsonText& key(std::string_view name);

  JsonText& value(std::string_view text);
  JsonText& value(const char* text) { return value(std::string_view(text)); }
  JsonText& value(const std::string& text) { return value(std::string_view(text)); }
  JsonText& value(std::int64_t number);
  JsonText& value(bool yes) { return raw(yes ? "true" : "false"); }
  JsonText& null() { return raw("null"); }
  template <class T>
  JsonText& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : null();
  }
  template <class T>
  JsonText& member(std::string_view name, const T& what) {
    key(name);
    return value(what);
  }
  std::string take() { return std::move(text_); }

 private:
  JsonText& open(char bracket);
  JsonText& close(char bracket);
  JsonText& raw(std::string_view text);
  void separate();
  void quote(std::string_view text);

  std::string text_;
  bool follows_ = false;  // a value stands before, on the same level
};

}  // namespace sluice::admin
