#include "tests/net/net_test_support.h"

#include <chrono>
#include <random>

#include <asio/co_spawn.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <gtest/gtest.h>
#include <sys/socket.h>

namespace sluice::net::test {

void run_all(asio::io_context& io, std::vector<asio::awaitable<void>> tasks) {
  std::size_t left = tasks.size();
  for (asio::awaitable<void>& task : tasks) {
    asio::co_spawn(io, std::move(task), [&left](const std::exception_ptr& failure) {
      --left;
      if (failure) std::rethrow_exception(failure);
    });
  }
  io.restart();
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (left > 0 && io.run_one_until(end) > 0) {
  }
  ASSERT_EQ(left, 0u) << "tasks hang, or have nothing left to wait for";
}

void run_until(asio::io_context& io, const std::function<bool()>& done) {
  io.restart();
  const auto give_up_at = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!done() && std::chrono::steady_clock::now() < give_up_at)
    io.run_one_for(std::chrono::milliseconds(5));
}

std::pair<Stream, Stream> unix_pair(asio::any_io_executor executor) {
  int fds[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) std::abort();
  const asio::generic::stream_protocol protocol(AF_UNIX, 0);
  return {Stream(Socket(executor, protocol, fds[0]), Side::Server),
          Stream(Socket(executor, protocol, fds[1]), Side::Client)};
}

std::pair<Stream, Stream> tcp_pair(asio::any_io_executor executor) {
  asio::ip::tcp::acceptor acceptor(executor, {asio::ip::address_v4::loopback(), 0});
  asio::ip::tcp::socket client(executor);
  client.connect(acceptor.local_endpoint());
  asio::ip::tcp::socket server = acceptor.accept();
  return {Stream(Socket(std::move(client)), Side::Server), Stream(Socket(std::move(server)), Side::Client)};
}

namespace {

asio::awaitable<void> one_end(Stream& stream, std::shared_ptr<const TlsContext> context, TlsRole role,
                              std::string name, Result<void>& result) {
  result = co_await stream.handshake(std::move(context), role, std::move(name));
  if (!result) stream.close();
}

}  // namespace

Handshake shake_hands(asio::io_context& io, Stream& client, Stream& server,
                      std::shared_ptr<const TlsContext> client_context,
                      std::shared_ptr<const TlsContext> server_context, std::string server_name,
                      TlsRole server_role) {
  Handshake both;
  run(io, one_end(client, std::move(client_context), TlsRole::Client, std::move(server_name), both.client),
      one_end(server, std::move(server_context), server_role, "", both.server));
  return both;
}

Bytes pattern(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::byte& b : bytes)
    b = static_cast<std::byte>(random());
  return bytes;
}

void raw_send(Stream& stream, ByteView bytes) {
  ASSERT_EQ(::send(stream.socket().native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

}  // namespace sluice::net::test
