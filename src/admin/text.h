#pragma once

#include <string>
#include <string_view>

namespace sluice::admin {

// Names and keywords compare without regard to ASCII case.
bool same_word(std::string_view a, std::string_view b) noexcept;

// The text itself where every client can display it: bytes that are no UTF-8, and zero bytes, become '?'.
// Names of users, databases and applications come from clients and may hold anything.
std::string displayable(std::string_view text);

// At most `length` bytes of displayable(text), cut at a character, with "..." behind when something is
// missing.
std::string shortened(std::string_view text, std::size_t length);

}  // namespace sluice::admin
