#pragma once

#include <string>
#include <string_view>

namespace sluice {

// ASCII letters alone, whatever the locale.
std::string ascii_lower(std::string_view text);

// For messages: what came from outside, with '?' in place of each ASCII control character, so that it stays
// one line and a terminal obeys none of it.
std::string without_controls(std::string_view text);

}  // namespace sluice
