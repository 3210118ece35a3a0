#include "net/prefix_peek.h"

#include <asio/experimental/as_tuple.hpp>
#include <asio/use_awaitable.hpp>

#include "base/error.h"
#include "net/net_error.h"

namespace sluice::net {

asio::awaitable<Result<std::byte>> peek_first_byte(Stream& stream) {
  while (true) {
    std::byte first{};
    const IoOutcome outcome = stream.try_peek({&first, 1});
    switch (outcome.status) {
      case IoStatus::Ok:
        co_return first;
      case IoStatus::Eof:
        co_return Error(BaseErrc::Closed, stream.side());
      case IoStatus::Failed:
        co_return Error(outcome.error, stream.side());
      case IoStatus::WouldBlock:
        break;
    }
    const auto [ec] = co_await stream.async_wait_readable(asio::experimental::as_tuple(asio::use_awaitable));
    if (ec) co_return from_io(ec, stream.side());
  }
}

}  // namespace sluice::net
