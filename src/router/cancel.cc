#include "router/cancel.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "base/error.h"
#include "net/connect.h"
#include "net/deadline.h"
#include "protocol/frontend_messages.h"
#include "router/proxy_preamble.h"

namespace sluice::router {
namespace {

using protocol::SslMode;

bool needs_tls(SslMode mode) {
  return mode == SslMode::Require || mode == SslMode::VerifyCa || mode == SslMode::VerifyFull;
}

// Over a connection that is ready for it.
asio::awaitable<Result<void>> request_cancel(net::Stream& stream, net::Deadline& deadline,
                                             std::int32_t process_id, ByteView secret) {
  Bytes request;
  protocol::append_cancel_request(request, process_id, secret);
  if (auto sent = co_await stream.write_all(request); !sent) co_return sent.error();
  std::array<std::byte, 64> nothing;
  for (;;) {
    auto count = co_await stream.read_some(nothing);
    if (count) continue;  // a server has nothing to say here; what it says is not for us
    if (deadline.expired()) co_return Error(BaseErrc::Timeout, Side::Server, Retry::No);
    co_return Result<void>();
  }
}

asio::awaitable<Result<void>> pass_to(std::string path, const protocol::CancelRequest& request,
                                      std::chrono::milliseconds timeout) {
  net::ConnectTarget target;
  target.host = std::move(path);
  target.port = 0;
  const net::SocketOptions options{};
  Result<net::Stream> connected = co_await net::connect(std::move(target), timeout, options);
  if (!connected) co_return connected.error();
  net::Stream stream = *std::move(connected);
  net::Deadline deadline(stream.get_executor(), timeout, [&stream] { stream.close(); });
  co_return co_await request_cancel(stream, deadline, request.process_id, request.secret);
}

}  // namespace

asio::awaitable<void> CancelTurns::take() {
  if (running_ < kCancelsRunningMax) {
    ++running_;
    co_return;
  }
  const auto executor = co_await asio::this_coro::executor;
  const auto turn =
      std::make_shared<asio::steady_timer>(executor, std::chrono::steady_clock::time_point::max());
  waiting_.push_back(turn);
  co_await turn->async_wait(asio::experimental::as_tuple(asio::use_awaitable));
}

void CancelTurns::give_back() {
  if (waiting_.empty()) {
    --running_;
    return;
  }
  waiting_.front()->cancel();
  waiting_.pop_front();
}

bool CancelAllowance::take(double rate, Clock::time_point now) {
  if (running_ >= kCancelsRunningMax) return false;
  if (rate > 0) {
    const std::chrono::duration<double> passed = now - refilled_at_;
    tokens_ = std::min(rate, tokens_ + passed.count() * rate);
    refilled_at_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
  }
  ++running_;
  return true;
}

asio::awaitable<Result<void>> send_cancel(SnapshotPtr snapshot, CancelTarget target,
                                          std::chrono::milliseconds timeout) {
  const auto found = snapshot->servers.find(target.server);
  if (found == snapshot->servers.end()) co_return BaseErrc::NotFound;
  const net::ConnectTarget& address = found->second.target;
  Result<net::Stream> connected = co_await net::connect(address, timeout, snapshot->socket_options);
  if (!connected) co_return connected.error();
  net::Stream stream = *std::move(connected);
  net::Deadline deadline(stream.get_executor(), timeout, [&stream] { stream.close(); });
  const Bytes preamble = proxy_preamble(found->second.proxy_protocol, std::nullopt);
  if (!preamble.empty()) {
    if (auto sent = co_await stream.write_all(preamble); !sent) co_return sent.error();
  }

  if (needs_tls(snapshot->server_sslmode) && !address.is_unix() && snapshot->server_tls != nullptr) {
    Bytes request;
    protocol::append_ssl_request(request);
    if (auto sent = co_await stream.write_all(request); !sent) co_return sent.error();
    std::array<std::byte, 1> answer;
    if (auto got = co_await stream.read_exactly(answer); !got) co_return got.error();
    if (answer[0] != std::byte{'S'}) co_return Error(BaseErrc::Closed, Side::Server);
    auto done =
        co_await stream.handshake(snapshot->server_tls, net::TlsRole::Client, found->second.verified_name());
    if (!done) co_return done.error();
  }
  co_return co_await request_cancel(stream, deadline, target.process_id, target.secret);
}

asio::awaitable<bool> pass_cancel_on(std::vector<std::string> paths, protocol::CancelRequest request,
                                     std::chrono::milliseconds timeout) {
  bool taken = false;
  for (std::string& path : paths) {
    const auto sent = co_await pass_to(std::move(path), request, timeout);
    taken = taken || sent;
  }
  co_return taken;
}

}  // namespace sluice::router
