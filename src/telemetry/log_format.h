#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>

namespace sluice::log {

enum class Format { KeyValue, Json };

// One key=value of a line. Views only: it lives as long as the call that it is an argument of.
// Keys are literals of ours; values may be anything a peer sent, except secrets.
class Field {
 public:
  using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool>;

  Field(std::string_view key, std::string_view value) : key_(key), value_(value) {}
  Field(std::string_view key, const char* value) : key_(key), value_(std::string_view(value)) {}
  Field(std::string_view key, const std::string& value) : key_(key), value_(std::string_view(value)) {}
  Field(std::string_view key, bool value) : key_(key), value_(value) {}
  Field(std::string_view key, double value) : key_(key), value_(value) {}
  template <std::signed_integral T>
  Field(std::string_view key, T value) : key_(key), value_(static_cast<std::int64_t>(value)) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Field(std::string_view key, T value)
      : key_(key), value_(static_cast<std::uint64_t>(value)) {}
  // In seconds.
  template <class Rep, class Period>
  Field(std::string_view key, std::chrono::duration<Rep, Period> value)
      : key_(key), value_(std::chrono::duration<double>(value).count()) {}

  std::string_view key() const noexcept { return key_; }
  const Value& value() const noexcept { return value_; }

 private:
  std::string_view key_;
  Value value_;
};

inline constexpr std::size_t kValueBytesMax = 512;
inline constexpr std::size_t kLineBytesMax = 8192;

// The event and its fields on one line, without time and level: `event="session opened" session=7`, or for
// Json the inside of an object: `"event":"session opened","session":7`. Control characters (also C1, line
// separators and those that turn the direction of text), quotes and backslashes are escaped and bytes that
// are no UTF-8 are shown as \xNN (Json: U+FFFD). A longer value is cut at kValueBytesMax and ends in "...";
// fields that would take the line beyond kLineBytesMax are left out and counted in a last `fields_omitted`.
std::string format_fields(Format format, std::string_view event, std::span<const Field> fields);

}  // namespace sluice::log
