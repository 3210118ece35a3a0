#pragma once

#include <string>
#include <string_view>

namespace sluice::pgclient {

inline constexpr std::size_t kMessageBytesMax = 300;

// A message of libpq or a server as one line for log and console: line ends and runs of white space become
// one space, other control characters '?', and it is cut at kMessageBytesMax.
std::string one_line(std::string_view message);

}  // namespace sluice::pgclient
