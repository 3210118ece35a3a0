#pragma once

#include <cstddef>
#include <string_view>

namespace sluice {

// Length of the UTF-8 character at the front of a text that is not empty, 0 when the bytes there are none:
// overlong, a surrogate, beyond U+10FFFF, or cut off. Source: The Unicode Standard, table "Well-Formed UTF-8
// Byte Sequences".
std::size_t utf8_length(std::string_view text) noexcept;

bool is_utf8(std::string_view text) noexcept;

}  // namespace sluice
