#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice::demo {

struct HttpAnswer {
  int status = 0;
  std::string body;
};

// One GET of http://127.0.0.1:port/path, at most 8 MiB of body. Empty when nobody answers as HTTP wants it
// within the timeout, which holds for each step: connecting, sending, and each read.
std::optional<HttpAnswer> http_get(std::uint16_t port, const std::string& path,
                                   std::chrono::milliseconds timeout);

}  // namespace sluice::demo
