#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sizes/sql_bytes.h"

namespace sluice::sizes {

// A number for what a statement does, whatever it does it to: the same for texts that differ in literals,
// parameters against literals, the length of lists of these and of VALUES, comments, white space, or the case
// of keywords and names without quotes. Never 0; 1 for a text without any token. The same on every machine;
// not made to withstand people who look for collisions, who find those of their own statements alone
// (owner_key()). About 1 ns per byte (tests/bench/micro). `escapes`: a backslash escapes in '...', as with
// standard_conforming_strings off.
std::uint64_t fingerprint(std::string_view sql, bool escapes = false) noexcept;

// The same for people: tokens with a space between, ? for literals; cut at about `bytes_max`. Texts with the
// same outline have the same fingerprint. Nothing of a literal is in it.
std::string outline(std::string_view sql, std::size_t bytes_max, bool escapes = false);

}  // namespace sluice::sizes
