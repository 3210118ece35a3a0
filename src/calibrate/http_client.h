#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>

#include "http/chunk_decoder.h"
#include "http/head.h"
#include "net/stream.h"

namespace sluice::calibrate {

using Clock = std::chrono::steady_clock;

// Sends GET requests to one server, one after the other, and says how long each took, from its first byte to
// the response's last. Names are looked up once, beforehand. Throws Failure when the server does not answer
// in time, or not with a status of 2xx, or not in HTTP. On one executor; one operation at a time.
class HttpClient {
 public:
  enum class Connections { Kept, PerRequest };

  // `name`: the server's, for people and for the Host field.
  HttpClient(std::string name, std::string address, std::uint16_t port, std::chrono::milliseconds timeout);

  asio::awaitable<void> resolve();
  // One TCP connect, closed again.
  asio::awaitable<Clock::duration> connect_once();
  // With Kept, a connection that has to be opened is not part of the time; with PerRequest each request opens
  // one, which is.
  asio::awaitable<Clock::duration> get(std::string path, Connections connections = Connections::Kept);
  // The body of the last response, cut at kBodyKept.
  const std::string& body() const noexcept { return body_; }

  // The last response's X-Sluice-Host: where a placer sent the request. "" without one.
  const std::string& served_by() const noexcept { return served_by_; }

  static constexpr std::size_t kBodyKept = std::size_t{4} << 20;

 private:
  asio::awaitable<net::Stream> open();
  asio::awaitable<bool> exchange(const std::string& path);
  asio::awaitable<void> read_head();
  asio::awaitable<void> read_body();
  asio::awaitable<std::size_t> read_more();
  void keep(std::string_view bytes);
  [[noreturn]] void fail(std::string_view what, const std::string& path) const;

  std::string name_, address_;
  std::uint16_t port_;
  std::chrono::milliseconds timeout_;
  std::optional<asio::ip::tcp::endpoint> endpoint_;
  std::optional<net::Stream> stream_;
  std::string path_;   // of the request under way
  std::string input_;  // read and not used yet
  std::string body_;
  std::string served_by_;
  std::size_t head_bytes_ = 0;
  http::ResponseHead head_;
  http::ChunkDecoder chunks_;
  std::uint64_t next_trace_ = 1;
};

}  // namespace sluice::calibrate
