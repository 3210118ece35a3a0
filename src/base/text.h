#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace sluice {

// ASCII letters alone, whatever the locale.
std::string ascii_lower(std::string_view text);

// For messages: what came from outside, with '?' in place of each ASCII control character, so that it stays
// one line and a terminal obeys none of it.
std::string without_controls(std::string_view text);

// All of the text as one decimal number, as std::from_chars() takes it: without blanks or a plus in front,
// whatever the locale. Nothing where it is anything else, or does not fit.
template <class Number>
std::optional<Number> to_number(std::string_view text) noexcept {
  Number number{};
  const char* const all = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), all, number);
  if (error != std::errc() || end != all) return std::nullopt;
  return number;
}

}  // namespace sluice
