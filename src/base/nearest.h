#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

// The candidate that `word` is most likely a misspelling of: fewest letters inserted, removed, replaced or
// swapped with a neighbour (optimal string alignment distance, upper case like lower), at most a third of the
// word's length; the first of equals. Words over 64 bytes are nobody's misspelling.
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates);

// "did you mean x?", or "" where nothing is near.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace sluice
