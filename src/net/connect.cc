#include "net/connect.h"

#include <algorithm>
#include <vector>

#include <asio/experimental/as_tuple.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/error.h"
#include "net/deadline.h"
#include "net/net_error.h"
#include "net/resolve.h"

namespace sluice::net {
namespace {

using Clock = std::chrono::steady_clock;
using EndPoint = asio::generic::stream_protocol::endpoint;

asio::awaitable<Result<Stream>> connect_one(EndPoint end_point, Clock::duration timeout,
                                            SocketOptions options) {
  const auto executor = co_await asio::this_coro::executor;
  Socket socket(executor);
  std::error_code ec;
  socket.open(end_point.protocol(), ec);
  if (ec) co_return unreachable(ec);
  apply_socket_options(socket.native_handle(), options);
  const Deadline deadline(executor, timeout, [&socket] {
    std::error_code ignored;
    socket.close(ignored);
  });
  const auto [connected] =
      co_await socket.async_connect(end_point, asio::experimental::as_tuple(asio::use_awaitable));
  if (deadline.expired()) co_return unreachable(BaseErrc::Timeout);
  if (connected) co_return unreachable(connected);
  co_return Stream(std::move(socket), Side::Server);
}

asio::awaitable<Result<std::vector<EndPoint>>> end_points_of(ConnectTarget target,
                                                             std::chrono::milliseconds timeout) {
  if (target.is_unix()) {
    const std::string path = target.unix_path();
    if (path.size() >= sizeof(sockaddr_un::sun_path)) co_return unreachable(NetErrc::BadAddress);
    co_return std::vector<EndPoint>{asio::local::stream_protocol::endpoint(unix_name(path))};
  }
  auto found = co_await resolve(target.host, target.port, timeout);
  if (!found) co_return found.error();
  co_return std::vector<EndPoint>(found->begin(), found->end());
}

}  // namespace

std::string ConnectTarget::unix_path() const {
  return port == 0 ? host : host + "/.s.PGSQL." + std::to_string(port);
}

asio::awaitable<Result<Stream>> connect(ConnectTarget target, std::chrono::milliseconds timeout,
                                        SocketOptions options) {
  const Clock::time_point end = Clock::now() + timeout;
  const auto found = co_await end_points_of(std::move(target), timeout);
  if (!found) co_return found.error();
  Error last = unreachable(BaseErrc::Timeout);
  std::size_t left = found->size();
  for (const EndPoint& end_point : *found) {
    const Clock::duration rest = end - Clock::now();
    if (rest <= Clock::duration::zero()) co_return unreachable(BaseErrc::Timeout);
    Result<Stream> made = co_await connect_one(end_point, rest / static_cast<Clock::rep>(left), options);
    if (made || made.error().code == BaseErrc::Cancelled) co_return made;
    last = made.error();
    --left;
  }
  co_return last;
}

}  // namespace sluice::net
