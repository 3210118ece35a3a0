#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sizes/sql_bytes.h"

namespace sluice::sizes {

// A number for what a statement does, whatever it does it to: the same for texts that differ in literals,
// parameters against literals, the length of lists of these and of VALUES, comments, white space, or the case
// of keywords and names without quotes. 0 for a text without any token. The same on every machine; not made
// to withstand people who look for collisions. About 1 ns per byte (tests/bench/micro).
std::uint64_t fingerprint(std::string_view sql) noexcept;

// The same for people: tokens with a space between, ? for literals; cut at about `bytes_max`. Texts with the
// same outline have the same fingerprint. Nothing of a literal is in it.
std::string outline(std::string_view sql, std::size_t bytes_max);

}  // namespace sluice::sizes
