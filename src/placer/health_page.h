#pragma once

#include <string>

#include <asio/awaitable.hpp>

#include "base/result.h"
#include "net/stream.h"

namespace sluice::placer {

struct HealthAnswer {
  int status = 0;
  bool keep_alive = false;  // the connection may be asked again
};
inline constexpr std::size_t kHealthPageBytesMax = 1024 * 1024;

// Sends the request and reads the whole answer. No timeout of its own. Errors: those of the stream;
// BaseErrc::LimitReached for an answer larger than kHealthPageBytesMax; std::errc::bad_message for one that
// is no HTTP.
asio::awaitable<Result<HealthAnswer>> ask(net::Stream& stream, std::string request);

}  // namespace sluice::placer
