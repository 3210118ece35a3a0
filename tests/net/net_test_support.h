#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "net/stream.h"

namespace sluice::net::test {

inline constexpr auto kAwait = asio::experimental::as_tuple(asio::use_awaitable);

// Runs the coroutines side by side until all have ended; fails the test when that takes longer than a minute.
void run_all(asio::io_context& io, std::vector<asio::awaitable<void>> tasks);
template <class... Tasks>
void run(asio::io_context& io, Tasks... tasks) {
  std::vector<asio::awaitable<void>> all;
  (all.push_back(std::move(tasks)), ...);
  run_all(io, std::move(all));
}

// Runs the loop until it is so, or for a minute. What a ring brings is handled within the loop's wait, where
// it ends no run_one().
void run_until(asio::io_context& io, const std::function<bool()>& done);

// Looks each millisecond whether it is so.
template <class Condition>
asio::awaitable<void> until(Condition condition) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  while (!condition()) {
    timer.expires_after(std::chrono::milliseconds(1));
    co_await timer.async_wait(kAwait);
  }
}

// A connected pair: over a Unix socketpair, or over loopback TCP. The first is the client's end, side Server.
std::pair<Stream, Stream> unix_pair(asio::any_io_executor executor);
std::pair<Stream, Stream> tcp_pair(asio::any_io_executor executor);

// Both ends of a handshake at once; true when both succeeded.
struct Handshake {
  Result<void> client = Result<void>();
  Result<void> server = Result<void>();
  explicit operator bool() const { return client.has_value() && server.has_value(); }
};
Handshake shake_hands(asio::io_context& io, Stream& client, Stream& server,
                      std::shared_ptr<const TlsContext> client_context,
                      std::shared_ptr<const TlsContext> server_context,
                      std::string server_name = "db.example", TlsRole server_role = TlsRole::Server);

// `size` bytes that repeat nowhere near.
Bytes pattern(std::size_t size, unsigned seed = 1);

// A socket without its stream's knowledge: bytes as they are on the wire.
void raw_send(Stream& stream, ByteView bytes);

}  // namespace sluice::net::test
